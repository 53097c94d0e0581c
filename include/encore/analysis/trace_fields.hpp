// Which field of a log says what: encore's own names, or those of a log that somebody else writes.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>
#include <encore/telemetry/log_field.hpp>

#include <chrono>
#include <string>

namespace encore ENCORE_BUILD {

/// The names under which a log has what a trace needs. The defaults are those that encore writes; of somebody else's log the
/// names that differ are given, and what it has not is left as it is. A field in an object within has the names of both:
/// "error.type". An empty name stands for no field.
///   TraceFields{.timestamp = "ts", .call = "tool_call_id", .tool = "tool", .attempt = "try", .error = "exception"}
struct TraceFields {
  std::string timestamp{log_field::timestamp.json};  ///< RFC 3339, or a number since 1970
  std::string scope{log_field::scope.json};
  std::string event{log_field::event.json};
  std::string call{log_field::call.json};
  std::string tool{log_field::tool.json};
  std::string resolved{log_field::resolved.json};
  std::string attempt{log_field::attempt.json};            ///< counts from 1
  std::string resend_count{log_field::resend_count.json};  ///< counts from 0, for logs without `attempt`
  std::string attempts{log_field::attempts.json};
  std::string max_attempts{log_field::max_attempts.json};
  std::string max_requests{log_field::max_requests.json};
  std::string error{log_field::error.json};
  std::string message{log_field::message.json};
  std::string status{log_field::status.json};
  std::string request_id{log_field::request_id.json};
  std::string dispatched{log_field::dispatched.json};
  std::string dispatched_again{log_field::dispatched_again.json};
  std::string answered{log_field::answered.json};
  std::string not_run{log_field::not_run.json};
  std::string key_used{log_field::key_used.json};
  std::string error_result{log_field::error_result.json};
  std::string will_retry{log_field::will_retry.json};
  std::string retry_in{log_field::retry_in.json};
  std::string hint{log_field::hint.json};
  std::string reason{log_field::reason.json};
  std::string outcome_unknown{log_field::outcome_unknown.json};
  std::string mode{log_field::mode.json};
  std::string slept{log_field::slept.json};
  std::string elapsed{log_field::elapsed.json};
  std::string took{log_field::took.json};  ///< how long one attempt took
  std::string remaining{log_field::remaining.json};
  std::string observer_errors{log_field::observer_errors.json};
  std::string outer_call{log_field::outer_call.json};
  std::string outer_attempt{log_field::outer_attempt.json};

  Duration timestamp_unit = std::chrono::seconds{1};  ///< of timestamps that are numbers
  Duration duration_unit = std::chrono::seconds{1};   ///< of all durations
  /// Is each line with a call's id, or a tool's name, an attempt? Otherwise it must say so by an event, an attempt's number, a
  /// status, a request's id or how long it took: logs hold lines about calls that are no attempts.
  bool each_line_is_an_attempt = false;
};

}  // namespace encore ENCORE_BUILD
