// An observer that records its events.
#pragma once
#include <encore/detail/extremes.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/event.hpp>
#include <encore/observer.hpp>
#include <encore/option.hpp>
#include <encore/telemetry/event_record.hpp>
#include <encore/testing/durations.hpp>
#include <encore/testing/recording.hpp>

#include <cstddef>
#include <iosfwd>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace encore ENCORE_BUILD::testing {

/// A summary of some calls, two lines each: the tool, the call id, the attempts made and allowed, the waits, the last exception's
/// type and how the call ended. Only of the first six calls.
///   call-17 (inventory_lookup): 3 of at most 3 attempts, waited { 250ms, 500ms }
///     last failure TimeoutError; ended because retries_exhausted, in exception
inline std::string summary(const Recording& recording) {
  constexpr std::size_t max_calls = 6;
  using encore::detail::shown;
  const auto calls = recording.by_call();
  std::string text;
  for (std::size_t i = 0; i < shared::smaller_of(calls.size(), max_calls); ++i) {
    const auto& events = calls[i];
    const auto& last = events.back();
    std::size_t attempts = 0;
    std::string failure;
    Durations waits;
    for (const auto& event : events) {
      if (event.kind == EventKind::attempt_started) ++attempts;
      if (event.kind == EventKind::attempt_failed)
        failure = event.error_type.empty() ? "a returned value" : failure_name(event);
      if (event.will_retry) waits.push_back(event.wait);
    }
    text.append(i == 0 ? "" : "\n").append(shown(last.call_id));
    if (!last.call_name.empty()) text.append(" (").append(shown(last.call_name)).append(")");
    text.append(": ").append(std::to_string(attempts)).append(" of ");
    text.append(last.max_attempts ? "at most " + std::to_string(*last.max_attempts) : "unlimited")
        .append(" attempts");
    if (!waits.empty()) text.append(", waited ").append(to_string(waits));
    text.append("\n  ");
    if (!failure.empty()) text.append("last failure ").append(failure).append("; ");
    if (last.kind == EventKind::call_finished)
      text.append("ended because ")
          .append(to_string(last.reason))
          .append(", in ")
          .append(to_string(last.mode));
    else
      text.append("not finished");
  }
  if (calls.size() > max_calls)
    text.append("\nand ").append(std::to_string(calls.size() - max_calls)).append(" more calls");
  return calls.empty() ? "no call was made" : text;
}

/// Records every event of the policies that it is given to, by name. Thread-safe. Reads the policy's clock at each event.
///   Recorder trace;
///   policy.with(trace).run({.id = "call-17"}, lookup);
///   CHECK(trace.of("call-17").size() == 4);
class Recorder {
 public:
  using role = encore::role::Observer;
  Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void operator()(const Event& event) {
    auto recorded = record(event);
    const std::lock_guard lock{mutex_};
    events_.push_back(std::move(recorded));
  }

  /// A copy of all events so far.
  Recording events() const {
    const std::lock_guard lock{mutex_};
    return events_;
  }
  operator Recording() const { return events(); }
  /// The events of one call.
  Recording of(std::string_view call_id) const { return events().of(call_id); }
  void clear() {
    const std::lock_guard lock{mutex_};
    events_.clear();
  }

  /// The summary and a line end, so that a matcher's expectation is on a line of its own.
  template <class Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                                      const Recorder& recorder) {
    return out << summary(recorder.events()).append(1, '\n');
  }

 private:
  mutable std::mutex mutex_;
  Recording events_;
};
static_assert(Observer<Recorder>);

}  // namespace ENCORE_BUILD::testing
