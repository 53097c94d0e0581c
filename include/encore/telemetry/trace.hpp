// An observer that stores events, in bounded memory, to inspect or save them.
#pragma once
#include <encore/event.hpp>
#include <encore/observer.hpp>
#include <encore/option.hpp>
#include <encore/setting.hpp>
#include <encore/telemetry/event_record.hpp>
#include <encore/telemetry/log_line.hpp>
#include <encore/telemetry/log_text.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD {

struct TraceOptions {
  Count<"max_records", 1> max_records =
      100'000;                  ///< the oldest are dropped for new ones; about 500 bytes each
  bool exception_text = false;  ///< it may contain host names and keys (F6)
};

/// Stores the events of all policies that it observes, in order, as records. Each event reads the policy's clock and the calendar, and
/// allocates. Thread-safe.
///   Trace trace;
///   const auto traced = policy.with(trace);
///   ...
///   trace.save([&](std::string_view line) { file << line << '\n'; });  // JSON Lines, as TraceReader reads them
class Trace {
 public:
  using role = encore::role::Observer;
  explicit Trace(const TraceOptions& options = {}) : options_{options} {}
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  void operator()(const Event& event) {
    add(event_record(event, {.exception_text = options_.exception_text}));
  }

  /// Stores a record from another source.
  void add(EventRecord record) {
    const std::lock_guard lock{mutex_};
    if (records_.size() >= static_cast<std::size_t>(options_.max_records)) {
      records_.pop_front();
      ++dropped_;
    }
    records_.push_back(std::move(record));
  }

  /// A copy of the stored records.
  std::vector<EventRecord> records() const {
    const std::lock_guard lock{mutex_};
    return {records_.begin(), records_.end()};
  }
  /// How many records were dropped because the trace was full.
  std::uint64_t dropped() const {
    const std::lock_guard lock{mutex_};
    return dropped_;
  }
  void clear() {
    const std::lock_guard lock{mutex_};
    records_.clear();
    dropped_ = 0;
  }

  /// Calls `write` with each record as one line of JSON, without a newline. No lock is held during the calls.
  template <std::invocable<std::string_view> Write>
  void save(Write&& write) const {
    for (const auto& record : records()) write(std::string_view{log_text(record, LineShape::json)});
  }
  /// The records as one text.
  std::string json_lines() const {
    std::string text;
    save([&](std::string_view line) { text.append(line).append(1, '\n'); });
    return text;
  }

 private:
  TraceOptions options_;
  mutable std::mutex mutex_;
  std::deque<EventRecord> records_;
  std::uint64_t dropped_ = 0;
};
static_assert(Observer<Trace>);

}  // namespace encore ENCORE_BUILD
