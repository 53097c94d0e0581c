// Events as values that last: what a log line says of one fact.
#pragma once
#include <encore/error_type.hpp>
#include <encore/event.hpp>
#include <encore/scope.hpp>
#include <encore/stop_reason.hpp>
#include <encore/telemetry/event_error_type.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace encore ENCORE_BUILD {

/// One fact of a call: an event that has been kept, or a line of a log that has been read. A regular value. What is not known is
/// empty, or at its default. (F2, F5)
struct TraceRecord {
  std::optional<EventKind> kind{};  ///< absent: an attempt in a log that no policy wrote
  std::optional<WallTime> at{};
  std::string scope{};  ///< of the run or the process; with the call's id it names one call (I2)
  std::string call_id{};
  std::string tool{};
  std::string resolved_name{};
  int ordinal = 0;                    ///< on `call_finished` the number of attempts made
  std::optional<int> max_attempts{};  ///< absent: unlimited, or not told
  std::optional<std::int64_t> max_requests{};
  std::string error_type{};
  std::string message{};  ///< the exception's text, where somebody asked for it
  std::optional<int> status{};
  std::string request_id{};
  bool dispatched = false;
  bool answered = false;
  bool not_run = false;           ///< nothing was done (I1)
  bool dispatched_again = false;  ///< a layer below repeated the request by itself (I3, J1)
  bool key_used = false;          ///< the callable asked for its idempotency key
  bool error_result = false;      ///< it returned, and said that the tool had failed (B8)
  bool will_retry = false;
  Duration wait{};  ///< before the next attempt, if one is to follow
  std::optional<Duration> hint{};
  StopReason reason =
      StopReason::none;  ///< why there is no further attempt, after one that failed and at the end
  bool outcome_unknown = false;
  TerminalMode mode = TerminalMode::none;
  Duration slept{};                     ///< call_finished: all waits
  std::optional<Duration> elapsed{};    ///< since the call began
  std::optional<Duration> took{};       ///< of an attempt that no policy told of: how long it took
  std::optional<Duration> remaining{};  ///< until the call's time limit
  int observer_errors = 0;
  std::string outer_id{};  ///< the call inside whose attempt this one runs (J1)
  int outer_ordinal = 0;

  friend bool operator==(const TraceRecord&, const TraceRecord&) = default;
};

/// What goes into a record beyond what every event has.
struct RecordText {
  bool exception_text = false;   ///< hosts and keys leak by it (F6)
  bool calendar = true;          ///< when, and in which scope: for lines that are read together with others'
  const Scope* scope = nullptr;  ///< absent: that of the call's run, else the process's
};

/// Copies an event. Asks it for its time, so that the call's end can tell how long the call took. Inside the callback only, like
/// everything about an event.
inline TraceRecord trace_record(const Event& event, const RecordText& text = {}) {
  const auto over = event.kind == EventKind::call_finished;
  static_cast<void>(event.at());
  TraceRecord record{.kind = event.kind,
                     .call_id = std::string{event.call_id()},
                     .tool = std::string{event.call_name},
                     .resolved_name = std::string{event.resolved_name},
                     .ordinal = event.ordinal,
                     .max_attempts = event.max_attempts(),
                     .error_type = error_type(event),
                     .will_retry = event.will_retry,
                     .wait = event.will_retry ? event.wait : Duration::zero(),
                     .hint = event.hint,
                     .reason = event.kind == EventKind::attempt_succeeded ? StopReason::none : event.reason,
                     .outcome_unknown = event.outcome_unknown,
                     .mode = event.mode,
                     .slept = event.slept,
                     .elapsed = event.elapsed(),
                     .observer_errors = event.observer_errors};
  if (text.calendar) {
    record.at = event.wall();
    record.scope = (text.scope != nullptr ? *text.scope : event.scope()).text();
  }
  if (event.inner_attempts != 1) record.max_requests = event.max_requests();
  if (text.exception_text && event.thrown != nullptr) {
    const char* const what = event.thrown->what();
    if (what != nullptr) record.message = what;
  }
  if (event.notes != nullptr && !over) {
    record.status = event.notes->status();
    record.request_id = event.notes->request_id();
    record.dispatched = event.notes->dispatched();
    record.answered = event.notes->answered();
    record.not_run = event.notes->not_run();
    record.dispatched_again = event.notes->dispatched_again();
    record.key_used = event.notes->key_used();
    record.error_result = event.notes->error_result();
  }
  // Past the end nothing is told: a running attempt may go on, and what was left then says no more than 0.
  if (!over && event.kind != EventKind::attempt_succeeded) record.remaining = event.remaining();
  if (event.outer != nullptr) {
    record.outer_id = event.outer->call_id();
    record.outer_ordinal = event.outer->ordinal;
  }
  return record;
}

}  // namespace encore ENCORE_BUILD
