// What happens during a call: one event per fact, in order, the same in every mode.
#pragma once
#include <encore/already_retries.hpp>
#include <encore/attempt.hpp>
#include <encore/call.hpp>
#include <encore/clock.hpp>
#include <encore/engine/failure_strategy.hpp>
#include <encore/limits.hpp>
#include <encore/stop_reason.hpp>
#include <encore/thrown.hpp>

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string_view>

namespace encore ENCORE_BUILD {

/// The facts reported to observers. A call without an attempt has only `call_finished`. (F1)
enum class EventKind : std::uint8_t {
  attempt_started,
  attempt_failed,  ///< reported before the wait, with whether a retry follows
  attempt_succeeded,
  call_finished,
};
constexpr std::string_view to_string(EventKind kind) noexcept {
  switch (kind) {
    case EventKind::attempt_started: return "attempt_started";
    case EventKind::attempt_failed: return "attempt_failed";
    case EventKind::attempt_succeeded: return "attempt_succeeded";
    case EventKind::call_finished: return "call_finished";
  }
  return "unknown";
}
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, EventKind kind) {
  return out << to_string(kind);
}

constexpr std::string_view to_string(TerminalMode mode) noexcept {
  switch (mode) {
    case TerminalMode::none: return "none";
    case TerminalMode::result: return "result";
    case TerminalMode::exception: return "exception";
    case TerminalMode::error_result: return "error_result";
    case TerminalMode::formatted: return "formatted";
  }
  return "none";
}
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, TerminalMode mode) {
  return out << to_string(mode);
}

/// One fact about a call. Allocates nothing; text and pointers in it are valid only during the callback. It never contains
/// arguments or results. (F1, F2, F5, F6)
struct Event {
  EventKind kind = EventKind::attempt_started;
  int ordinal = 0;  ///< of the attempt; on `call_finished` the number of attempts made
  std::string_view call_name{};
  std::string_view resolved_name{};

  bool will_retry = false;               ///< attempt_failed: another attempt follows after `wait`
  StopReason reason = StopReason::none;  ///< why no attempt follows
  TerminalMode mode = TerminalMode::none;
  Duration wait{};                 ///< the chosen wait
  std::optional<Duration> hint{};  ///< what the server asked for (E4)
  Duration slept{};                ///< call_finished: all waits of the call
  int observer_errors = 0;         ///< call_finished: exceptions that observers threw during this call (F3)
  bool outcome_unknown = false;    ///< call_finished: the call failed, and may have taken effect (I3)
  std::string_view lost_request_id{};   ///< if so: the latest unanswered request's id, if noted
  const Thrown* thrown = nullptr;       ///< the exception, if the failure is one
  std::string_view error_name{};        ///< the registered name of its type, if any
  const AttemptNotes* notes = nullptr;  ///< what the callable noted, if it takes its attempt
  const Attempt* outer =
      nullptr;  ///< the attempt of another policy inside which this call runs, if detected (J1)

  /// The scope of the call's run, or of the process: tells their log entries apart. (I2)
  Scope scope() const noexcept {
    if (run_scope != nullptr) return *run_scope;
    return current != nullptr ? current->scope() : Scope::process();
  }

  /// Never empty. (A4)
  std::string_view call_id() const noexcept {
    return id.empty() && current != nullptr ? current->id() : id;  // GCC warns without the check
  }

  /// The maximum number of attempts; empty means unlimited. (F2)
  constexpr std::optional<int> max_attempts() const noexcept {
    if (CountLimit::is_unlimited(max_retries)) return std::nullopt;
    return max_retries + 1;
  }

  /// The maximum number of requests that reach the dependency, if the policy knows of an inner layer that retries. (J1)
  template <class Requests = std::int64_t>
  constexpr std::optional<Requests> max_requests() const noexcept {
    return max_requests_of<Requests>(max_attempts(), inner_attempts);
  }

  /// When it happened, on the policy's clock; the clock is read on first use. (F2)
  TimePoint at() const {
    if (!read_at) {
      read_at = now();
      if (begins_call() && started != nullptr && !*started) *started = read_at;
    }
    return *read_at;
  }
  /// The calendar time of the event; the clock is read on each call.
  WallTime wall() const { return now.wall(); }

  /// The time since the call began. Empty if the clock was not read then: an observer that needs it on `call_finished` calls
  /// `at()` on the first event; time limits and strategies that report the time read the clock too. (P5)
  std::optional<Duration> elapsed() const {
    if (started == nullptr || !*started) return std::nullopt;
    return time_between(**started, at());
  }

  /// The time that was left for the call: until its earliest limit, 0 after that. Empty if it has no limit. Reads the clock if
  /// there is one. (D2)
  std::optional<Duration> remaining() const {
    if (limits == nullptr || !limits->bounded()) return std::nullopt;
    return limits->remaining(at());
  }

  /// Whether it is the call's first event. Only then does its time say when the call began.
  constexpr bool begins_call() const noexcept {
    return ordinal == 0 || (ordinal == 1 && kind == EventKind::attempt_started);
  }

  // Set by the decision; read through the functions above.
  const Scope* run_scope = nullptr;
  std::string_view id{};
  const CurrentCall* current = nullptr;
  int max_retries = 0;
  int inner_attempts = 1;
  const TimeLimits* limits = nullptr;
  Now now;
  std::optional<TimePoint>* started = nullptr;
  mutable std::optional<TimePoint> read_at{};
};

}  // namespace encore ENCORE_BUILD
