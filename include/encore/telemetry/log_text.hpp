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
#include <encore/telemetry/trace_record.hpp>

#include <optional>
#include <string>
#include <utility>

namespace encore ENCORE_BUILD {

/// What a line says. Exception text is left out unless asked for: hosts and keys leak by it. (F6)
struct LogText {
  LineShape shape = LineShape::logfmt;
  bool exception_text = false;
  const Scope* scope = nullptr;  ///< for JSON; absent: that of the call's run, else the process's (I2)
};

namespace detail {

inline void add_scope(LogLine& line, const LogText& how) {
  if (how.shape != LineShape::json) return;  // who reads one process's log asks for no scope, so none is made
  line.text(log_field::scope, (how.scope != nullptr ? *how.scope : Scope::process()).text());
}

inline void add_count(LogLine& line, const FieldNames& of_all, const FieldNames& number, int count,
                      std::optional<int> most) {
  auto text = std::to_string(count);
  if (most) text.append(1, '/').append(std::to_string(*most));
  line.text(of_all, text);
  line.number(number, count);
  if (most) line.number(log_field::max_attempts, *most);
}

inline void add_notes(LogLine& line, const TraceRecord& record) {
  if (record.status) line.number(log_field::status, *record.status);
  if (!record.request_id.empty()) line.text(log_field::request_id, record.request_id);
  if (record.dispatched) line.flag(log_field::dispatched, true);
  if (record.dispatched_again) line.flag(log_field::dispatched_again, true);
  if (record.answered) line.flag(log_field::answered, true);
  if (record.not_run) line.flag(log_field::not_run, true);
  if (record.key_used) line.flag(log_field::key_used, true);
  if (record.error_result) line.flag(log_field::error_result, true);
}

inline void add_end(LogLine& line, Duration slept, std::optional<Duration> elapsed, int observer_errors) {
  line.seconds(log_field::slept, slept);
  if (elapsed) line.seconds(log_field::elapsed, *elapsed);
  if (observer_errors > 0) line.number(log_field::observer_errors, observer_errors);
}

}  // namespace detail

/// A record as one line, of which it is read back.
inline std::string log_text(const TraceRecord& record, LineShape shape) {
  namespace field = log_field;
  const auto over = record.kind == EventKind::call_finished;
  const auto failed = record.kind == EventKind::attempt_failed;
  LogLine line{shape};
  if (record.at) line.timestamp(field::timestamp, *record.at);
  if (!record.scope.empty()) line.text(field::scope, record.scope);
  if (record.kind) line.text(field::event, to_string(*record.kind));
  line.text(field::call, record.call_id);
  if (!record.tool.empty()) line.text(field::tool, record.tool);
  if (!record.resolved_name.empty()) line.text(field::resolved, record.resolved_name);
  if (over) {
    detail::add_count(line, field::attempts_of_all, field::attempts, record.ordinal, record.max_attempts);
  } else {
    detail::add_count(line, field::attempt_of_all, field::attempt, record.ordinal, record.max_attempts);
    if (record.ordinal > 1) line.number(field::resend_count, record.ordinal - 1);
  }
  if (record.max_requests) line.number(field::max_requests, *record.max_requests);
  if (!record.error_type.empty()) line.text(field::error, record.error_type);
  if (!record.message.empty()) line.text(field::message, record.message);
  detail::add_notes(line, record);
  if (failed || record.will_retry) line.flag(field::will_retry, record.will_retry);
  if (record.will_retry) line.seconds(field::retry_in, record.wait);
  if (record.hint) line.seconds(field::hint, *record.hint);
  if (over || (failed && !record.will_retry)) line.text(field::reason, to_string(record.reason));
  if (record.outcome_unknown) line.flag(field::outcome_unknown, true);
  if (over) {
    line.text(field::mode, to_string(record.mode));
    detail::add_end(line, record.slept, record.elapsed, record.observer_errors);
  } else {
    if (record.elapsed) line.seconds(field::elapsed_so_far, *record.elapsed);
    if (record.took) line.seconds(field::took, *record.took);
    if (record.remaining) line.seconds(field::remaining, *record.remaining);
  }
  if (!record.outer_id.empty()) {
    line.text(field::outer_call, record.outer_id);
    line.number(field::outer_attempt, record.outer_ordinal);
  }
  return std::move(line).finish();
}

/// An event as one line. Inside the callback only, like everything about an event.
///   event=attempt_failed call=call-17 tool=inventory_lookup attempt=1/3 error=TimeoutError retry_in=0.25s
inline std::string log_text(const Event& event, const LogText& how = {}) {
  return log_text(trace_record(event, {.exception_text = how.exception_text,
                                       .calendar = how.shape == LineShape::json,
                                       .scope = how.scope}),
                  how.shape);
}

/// A failed call as one line.
///   call=call-17 tool=inventory_lookup attempts=3/3 error=TimeoutError reason=retries_exhausted slept=0.75s elapsed=0.9s
inline std::string log_text(const Failure& failure, const LogText& how = {}) {
  namespace field = log_field;
  LogLine line{how.shape};
  detail::add_scope(line, how);
  line.text(field::call, failure.call_id);
  if (!failure.call_name.empty()) line.text(field::tool, failure.call_name);
  detail::add_count(line, field::attempts_of_all, field::attempts, failure.attempts, failure.max_attempts);
  if (failure.inner_attempts != 1) {
    if (const auto most = failure.max_requests()) line.number(field::max_requests, *most);
  }
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
  detail::add_scope(line, how);
  detail::add_count(line, field::attempts_of_all, field::attempts, outcome.attempts(), std::nullopt);
  line.text(field::reason, to_string(outcome.reason()));
  detail::add_end(line, outcome.slept(), outcome.elapsed(), outcome.observer_errors());
  return std::move(line).finish();
}

}  // namespace encore ENCORE_BUILD
