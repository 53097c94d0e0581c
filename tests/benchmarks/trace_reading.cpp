// Reads a log of so many events (5,000,000 if not said) three ways in one run: as lines only, as records, and as calls with their
// diagnosis; prints the rates side by side, in events per second of
// the processor's time, and the most memory that was in use. The log is made as it is read, so that neither a
// disk nor its cache is measured: its making costs all three the same. Exits with 1 if an event is lost, or if the memory grew
// with the log.
//   g++ -std=c++20 -O2 -Iinclude tests/benchmarks/trace_reading.cpp -o trace_reading && ./trace_reading
#include <encore/analysis/diagnosis.hpp>
#include <encore/analysis/read_trace.hpp>
#include <encore/telemetry/log_text.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

using encore::EventKind;
using encore::EventRecord;
using encore::StopReason;

/// A log of calls to five tools, eight of them under way at a time: of twenty calls fourteen succeed at once, four after a retry, and
/// two are exhausted.
class Log {
 public:
  explicit Log(std::uint64_t events) : left_{events} {
    for (const auto* const tool : {"inventory_lookup", "search", "ship", "weather", "translate"}) {
      tool_ = tool;
      script({started(1), succeeded(1), finished(1, StopReason::succeeded)});
      script({started(1), failed(1, true), started(2), succeeded(2), finished(2, StopReason::succeeded)});
      script({started(1), failed(1, true), started(2), failed(2, true), started(3), failed(3, false),
              finished(3, StopReason::retries_exhausted)});
    }
  }

  std::size_t read(char* to, std::size_t most) {
    std::size_t count = 0;
    while (count < most) {
      if (line_.empty() && !next_line()) break;
      const auto part = std::min(line_.size(), most - count);
      std::memcpy(to + count, line_.data(), part);
      line_.remove_prefix(part);
      count += part;
    }
    return count;
  }

 private:
  static constexpr std::size_t together = 8;
  static constexpr std::string_view id{"call-000000000000"};
  struct Line {
    std::string text;
    std::size_t id_at;  // of its last digit
  };
  using Script = std::vector<Line>;

  EventRecord event(EventKind kind, int ordinal) const {
    return {.kind = kind,
            .wall = encore::WallTime{std::chrono::seconds{1'715'068'989}},
            .scope = "0123456789abcdeffedcba9876543210",
            .call_id = std::string{id},
            .call_name = tool_,
            .ordinal = ordinal,
            .max_attempts = 3,
            .elapsed = std::chrono::milliseconds{250 * ordinal}};
  }
  EventRecord started(int ordinal) const { return event(EventKind::attempt_started, ordinal); }
  EventRecord succeeded(int ordinal) const { return event(EventKind::attempt_succeeded, ordinal); }
  EventRecord failed(int ordinal, bool will_retry) const {
    auto record = event(EventKind::attempt_failed, ordinal);
    record.error_type = "inventory::TimeoutError";
    record.status = 503;
    record.will_retry = will_retry;
    if (will_retry)
      record.wait = std::chrono::milliseconds{250};
    else
      record.reason = StopReason::retries_exhausted;
    return record;
  }
  EventRecord finished(int attempts, StopReason reason) const {
    auto record = event(EventKind::call_finished, attempts);
    record.reason = reason;
    record.mode =
        reason == StopReason::succeeded ? encore::TerminalMode::result : encore::TerminalMode::exception;
    if (reason != StopReason::succeeded) record.error_type = "inventory::TimeoutError";
    record.slept = std::chrono::milliseconds{250 * (attempts - 1)};
    return record;
  }
  void script(const std::vector<EventRecord>& records) {
    scripts_.emplace_back();
    for (const auto& record : records) {
      auto text = log_text(record, encore::LineShape::json) + "\n";
      const auto at = text.find(id) + id.size() - 1;
      scripts_.back().push_back({std::move(text), at});
    }
  }
  Script& script_of(std::uint64_t call) {
    const auto kind = call % 20 < 14 ? 0U : call % 20 < 18 ? 1U : 2U;
    return scripts_[call % 5 * 3 + kind];
  }

  bool next_line() {
    if (left_ == 0) return false;
    for (;; ++step_, lane_ = 0) {
      if (step_ == 7) step_ = 0, first_ += together;  // the longest script has seven lines
      for (; lane_ < together; ++lane_) {
        auto& script = script_of(first_ + lane_);
        if (step_ >= script.size()) continue;
        auto& line = script[step_];
        auto number = first_ + lane_;
        for (auto at = line.id_at; number > 0; --at, number /= 10)
          line.text[at] = static_cast<char>('0' + number % 10);
        line_ = line.text;
        ++lane_;
        --left_;
        return true;
      }
    }
  }

  std::uint64_t left_;
  std::string tool_;
  std::vector<Script> scripts_;
  std::uint64_t first_ = 0;  // of the calls under way
  std::size_t step_ = 0;
  std::size_t lane_ = 0;
  std::string_view line_;  // what is left of it
};

rusage used() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}
double peak_megabytes() { return static_cast<double>(used().ru_maxrss) / 1024.0; }
/// Of the processor, so that what else the machine does is not measured.
double seconds() {
  const auto time = used().ru_utime;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

struct Run {
  std::uint64_t lines = 0;
  double per_second = 0;
};
template <class Read>
Run timed(std::uint64_t events, Read read) {
  Log log{events};
  const auto began = seconds();
  const auto lines = read(log);
  return {lines, static_cast<double>(lines) / (seconds() - began)};
}

Run as_lines(std::uint64_t events) {
  return timed(events, [](Log& log) {
    std::vector<char> bytes(std::size_t{1} << 16);
    std::uint64_t lines = 0;
    while (const auto count = log.read(bytes.data(), bytes.size())) {
      const auto* at = bytes.data();
      const auto* const end = at + count;
      while ((at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)))) !=
             nullptr) {
        ++lines;
        if (++at == end) break;
      }
    }
    return lines;
  });
}
Run as_records(std::uint64_t events) {
  return timed(events, [](Log& log) {
    encore::TraceReader reader;
    read_trace(
        reader, [&](char* to, std::size_t most) { return log.read(to, most); }, [](const EventRecord&) {});
    return reader.records();
  });
}
Run as_diagnosis(std::uint64_t events, encore::Diagnosis& diagnosis) {
  return timed(events, [&](Log& log) {
    encore::TraceReader reader;
    read_trace(
        reader, [&](char* to, std::size_t most) { return log.read(to, most); },
        [&](const EventRecord& record) { diagnosis.add(record); });
    diagnosis.finish();
    return reader.records();
  });
}

bool is_instrumented() {
#if defined(__SANITIZE_ADDRESS__)
  return true;  // freed memory is kept for a while
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  return true;
#endif
#endif
  return false;
}

}  // namespace

int main(int count, char** arguments) {
  const auto events = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 5'000'000ULL;
  // Enough to fill what is kept of calls.
  const auto first = std::max(events / 10, 60'000ULL);

  encore::Diagnosis of_the_first;
  as_diagnosis(first, of_the_first);
  const auto peak_of_the_first = peak_megabytes();
  const auto lines = as_lines(events);
  const auto records = as_records(events);
  encore::Diagnosis diagnosis;
  const auto calls = as_diagnosis(events, diagnosis);
  const auto peak = peak_megabytes();

  const auto row = [&](const char* what, const Run& run) {
    std::printf("%-26s %12.0f events/s   %6.1f times the time of lines only\n", what, run.per_second,
                lines.per_second / run.per_second);
  };
  std::printf("%llu events\n", static_cast<unsigned long long>(events));
  row("lines only", lines);
  row("records", records);
  row("calls and diagnosis", calls);
  std::printf("most memory: %.1f MB after %llu events, %.1f MB after all\n", peak_of_the_first,
              static_cast<unsigned long long>(first), peak);

  std::uint64_t exhausted = 0, all = 0;
  for (const auto& tool : diagnosis.tools()) exhausted += tool.exhausted, all += tool.calls;
  std::printf("%llu calls, %llu of them exhausted\n", static_cast<unsigned long long>(all),
              static_cast<unsigned long long>(exhausted));
  const auto nothing_lost = lines.lines == events && records.lines == events && calls.lines == events;
  const auto right = exhausted * 10 >= all - 40 && exhausted * 10 <= all + 40;
  const auto bounded = is_instrumented() || peak < peak_of_the_first + 8;
  if (!nothing_lost) std::puts("broken: an event was lost");
  if (!right) std::puts("broken: a tenth of the calls should be exhausted");
  if (!bounded) std::puts("broken: the memory grew with the log");
  return nothing_lost && right && bounded ? 0 : 1;
}
