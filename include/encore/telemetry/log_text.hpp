// Events, failures and outcomes as one line each, for logs and for people.
#pragma once
#include <encore/error_type.hpp>
#include <encore/event.hpp>
#include <encore/failure.hpp>
#include <encore/outcome.hpp>
#include <encore/scope.hpp>
#include <encore/stop_reason.hpp>
#include <encore/telemetry/event_error_type.hpp>
#include <encore/telemetry/log_field.hpp>
#include <encore/telemetry/log_line.hpp>

#include <optional>
#include <string>
#include <utility>

namespace encore {

/// What a line says. Exception text is left out unless asked for: hosts and keys leak by it. (F6)
struct LogText {
  LineShape shape = LineShape::logfmt;
  bool exception_text = false;
  const Scope* scope = nullptr;  ///< for JSON; absent: that of the call's run, else the process's (I2)
};

namespace detail {

template <class Own>
void add_scope(LogLine& line, const LogText& how, Own&& own) {
  if (how.shape != LineShape::json) return;  // who reads one process's log asks for no scope, so none is made
  line.text(log_field::scope, (how.scope != nullptr ? *how.scope : own()).text());
}

inline void add_count(LogLine& line, const FieldNames& of_all, const FieldNames& number, int count,
                      std::optional<int> most) {
  auto text = std::to_string(count);
  if (most) text.append(1, '/').append(std::to_string(*most));
  line.text(of_all, text);
  line.number(number, count);
  if (most) line.number(log_field::max_attempts, *most);
}

// Only where somebody said that attempts multiply.
template <class Told>
void add_requests(LogLine& line, const Told& told) {
  if (told.inner_attempts == 1) return;
  if (const auto most = told.max_requests()) line.number(log_field::max_requests, *most);
}

inline void add_notes(LogLine& line, const AttemptNotes& notes) {
  if (const auto status = notes.status()) line.number(log_field::status, *status);
  if (!notes.request_id().empty()) line.text(log_field::request_id, notes.request_id());
  if (notes.dispatched()) line.flag(log_field::dispatched, true);
  if (notes.answered()) line.flag(log_field::answered, true);
  if (notes.error_result()) line.flag(log_field::error_result, true);
}

inline void add_end(LogLine& line, Duration slept, std::optional<Duration> elapsed, int observer_errors) {
  line.seconds(log_field::slept, slept);
  if (elapsed) line.seconds(log_field::elapsed, *elapsed);
  if (observer_errors > 0) line.number(log_field::observer_errors, observer_errors);
}

}  // namespace detail

/// An event as one line. Asks it for its time, so that the call's end can tell how long the call took. Inside the callback
/// only, like everything about an event.
///   event=attempt_failed call=call-17 tool=inventory_lookup attempt=1/3 error=TimeoutError retry_in=0.25s
inline std::string log_text(const Event& event, const LogText& how = {}) {
  namespace field = log_field;
  static_cast<void>(event.at());
  const auto over = event.kind == EventKind::call_finished;
  const auto failed = event.kind == EventKind::attempt_failed;
  LogLine line{how.shape};
  if (how.shape == LineShape::json) line.timestamp(field::timestamp, event.wall());
  detail::add_scope(line, how, [&] { return event.scope(); });
  line.text(field::event, to_string(event.kind));
  line.text(field::call, event.call_id());
  if (!event.call_name.empty()) line.text(field::tool, event.call_name);
  if (!event.resolved_name.empty()) line.text(field::resolved, event.resolved_name);
  if (over) {
    detail::add_count(line, field::attempts_of_all, field::attempts, event.ordinal, event.max_attempts());
  } else {
    detail::add_count(line, field::attempt_of_all, field::attempt, event.ordinal, event.max_attempts());
    if (event.ordinal > 1) line.number(field::resend_count, event.ordinal - 1);
  }
  detail::add_requests(line, event);
  if (const auto error = error_type(event); !error.empty()) line.text(field::error, error);
  if (how.exception_text && event.thrown != nullptr) {
    const char* const text = event.thrown->what();
    if (text != nullptr && *text != '\0') line.text(field::message, text);
  }
  if (event.notes != nullptr && !over) detail::add_notes(line, *event.notes);
  if (failed) line.flag(field::will_retry, event.will_retry);
  if (event.will_retry) line.seconds(field::retry_in, event.wait);
  if (event.hint) line.seconds(field::hint, *event.hint);
  if (over || (failed && !event.will_retry)) line.text(field::reason, to_string(event.reason));
  if (event.outcome_unknown) line.flag(field::outcome_unknown, true);
  if (over) {
    line.text(field::mode, to_string(event.mode));
    detail::add_end(line, event.slept, event.elapsed(), event.observer_errors);
  } else if (const auto elapsed = event.elapsed()) {
    line.seconds(field::elapsed_so_far, *elapsed);
  }
  if (event.outer != nullptr) {
    line.text(field::outer_call, event.outer->call_id());
    line.number(field::outer_attempt, event.outer->ordinal);
  }
  return std::move(line).finish();
}

/// A failed call as one line.
///   call=call-17 tool=inventory_lookup attempts=3/3 error=TimeoutError reason=retries_exhausted slept=0.75s elapsed=0.9s
inline std::string log_text(const Failure& failure, const LogText& how = {}) {
  namespace field = log_field;
  LogLine line{how.shape};
  detail::add_scope(line, how, [] { return Scope::process(); });
  line.text(field::call, failure.call_id);
  if (!failure.call_name.empty()) line.text(field::tool, failure.call_name);
  detail::add_count(line, field::attempts_of_all, field::attempts, failure.attempts, failure.max_attempts);
  detail::add_requests(line, failure);
  line.text(field::error, error_type(failure));
  if (how.exception_text) {
    if (const auto text = error_text(failure.error); !text.empty()) line.text(field::message, text);
  }
  line.text(field::reason, to_string(failure.reason));
  if (failure.outcome_unknown) line.flag(field::outcome_unknown, true);
  detail::add_end(line, failure.slept, failure.elapsed, failure.observer_errors);
  return std::move(line).finish();
}

/// An outcome as one line: its failure, or that it succeeded. Never the value. (F6)
///   attempts=2 reason=succeeded slept=0.25s elapsed=0.3s
template <class T>
std::string log_text(const Outcome<T>& outcome, const LogText& how = {}) {
  namespace field = log_field;
  if (!outcome.has_value()) return log_text(outcome.failure(), how);
  LogLine line{how.shape};
  detail::add_scope(line, how, [] { return Scope::process(); });
  detail::add_count(line, field::attempts_of_all, field::attempts, outcome.attempts(), std::nullopt);
  line.text(field::reason, to_string(outcome.reason()));
  detail::add_end(line, outcome.slept(), outcome.elapsed(), outcome.observer_errors());
  return std::move(line).finish();
}

}  // namespace encore
