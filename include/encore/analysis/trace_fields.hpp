// The field names of a log: encore's own, or those of another log.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>
#include <encore/telemetry/event_record.hpp>

#include <chrono>
#include <cstddef>
#include <string>

namespace encore ENCORE_BUILD {

/// The names of the fields that a trace is read from. The defaults are those that encore writes; for another log, set the names
/// that differ. A field of a nested object is named by both, joined by a dot: "error.type". An empty name disables a field.
///   TraceFields{.timestamp = "ts", .call = "tool_call_id", .tool = "tool", .attempt = "try", .error = "exception"}
struct TraceFields {
  std::string timestamp{
      detail::field_names<&EventRecord::wall>.first.json};  ///< RFC 3339, or a number of units since 1970
  std::string scope{detail::field_names<&EventRecord::scope>.first.json};
  std::string event{detail::field_names<&EventRecord::kind>.first.json};
  std::string call{detail::field_names<&EventRecord::call_id>.first.json};
  std::string tool{detail::field_names<&EventRecord::call_name>.first.json};
  std::string resolved{detail::field_names<&EventRecord::resolved_name>.first.json};
  std::string attempt{detail::field_names<&EventRecord::ordinal>.first.json};  ///< counts from 1
  std::string resend_count{detail::resend_count_names.json};  ///< counts from 0, for logs without `attempt`
  std::string attempts{detail::field_names<&EventRecord::ordinal>.second.json};
  std::string max_attempts{detail::field_names<&EventRecord::max_attempts>.first.json};
  std::string max_requests{detail::field_names<&EventRecord::max_requests>.first.json};
  std::string error{detail::field_names<&EventRecord::error_type>.first.json};
  std::string error_code{detail::field_names<&EventRecord::error_code>.first.json};
  std::string message{detail::field_names<&EventRecord::message>.first.json};
  std::string status{detail::field_names<&EventRecord::status>.first.json};
  std::string request_id{detail::field_names<&EventRecord::request_id>.first.json};
  std::string dispatched{detail::field_names<&EventRecord::dispatched>.first.json};
  std::string dispatched_again{detail::field_names<&EventRecord::dispatched_again>.first.json};
  std::string answered{detail::field_names<&EventRecord::answered>.first.json};
  std::string not_run{detail::field_names<&EventRecord::not_run>.first.json};
  std::string key_used{detail::field_names<&EventRecord::key_used>.first.json};
  std::string error_result{detail::field_names<&EventRecord::error_result>.first.json};
  std::string will_retry{detail::field_names<&EventRecord::will_retry>.first.json};
  std::string retry_in{detail::field_names<&EventRecord::wait>.first.json};
  std::string hint{detail::field_names<&EventRecord::hint>.first.json};
  std::string reason{detail::field_names<&EventRecord::reason>.first.json};
  std::string outcome_unknown{detail::field_names<&EventRecord::outcome_unknown>.first.json};
  std::string mode{detail::field_names<&EventRecord::mode>.first.json};
  std::string slept{detail::field_names<&EventRecord::slept>.first.json};
  std::string elapsed{detail::field_names<&EventRecord::elapsed>.first.json};
  std::string took{detail::field_names<&EventRecord::took>.first.json};  ///< how long one attempt took
  std::string remaining{detail::field_names<&EventRecord::remaining>.first.json};
  std::string observer_errors{detail::field_names<&EventRecord::observer_errors>.first.json};
  std::string outer_call{detail::field_names<&EventRecord::outer_id>.first.json};
  std::string outer_attempt{detail::field_names<&EventRecord::outer_ordinal>.first.json};

  Duration timestamp_unit = std::chrono::seconds{1};  ///< of numeric timestamps
  Duration duration_unit = std::chrono::seconds{1};   ///< of all durations
  /// Is every line with a call id or a tool name an attempt? Otherwise a line is an attempt if it has an attempt number, a resend
  /// count, a status, a request id or a duration.
  bool each_line_is_an_attempt = false;
};

namespace detail {

/// A field of a log and the field of a record that it sets.
template <auto Name, auto Member>
struct LogName {};

/// Calls `use` with each; the first `names_of_an_attempt` show that a line without an event is an attempt.
template <class Use>
constexpr void for_each_name(Use&& use) {
  use(LogName<&TraceFields::attempt, &EventRecord::ordinal>{});
  use(LogName<&TraceFields::status, &EventRecord::status>{});
  use(LogName<&TraceFields::request_id, &EventRecord::request_id>{});
  use(LogName<&TraceFields::took, &EventRecord::took>{});
  use(LogName<&TraceFields::resend_count, &EventRecord::ordinal>{});
  use(LogName<&TraceFields::timestamp, &EventRecord::wall>{});
  use(LogName<&TraceFields::scope, &EventRecord::scope>{});
  use(LogName<&TraceFields::event, &EventRecord::kind>{});
  use(LogName<&TraceFields::call, &EventRecord::call_id>{});
  use(LogName<&TraceFields::tool, &EventRecord::call_name>{});
  use(LogName<&TraceFields::resolved, &EventRecord::resolved_name>{});
  use(LogName<&TraceFields::attempts, &EventRecord::ordinal>{});
  use(LogName<&TraceFields::max_attempts, &EventRecord::max_attempts>{});
  use(LogName<&TraceFields::max_requests, &EventRecord::max_requests>{});
  use(LogName<&TraceFields::error, &EventRecord::error_type>{});
  use(LogName<&TraceFields::error_code, &EventRecord::error_code>{});
  use(LogName<&TraceFields::message, &EventRecord::message>{});
  use(LogName<&TraceFields::dispatched, &EventRecord::dispatched>{});
  use(LogName<&TraceFields::dispatched_again, &EventRecord::dispatched_again>{});
  use(LogName<&TraceFields::answered, &EventRecord::answered>{});
  use(LogName<&TraceFields::not_run, &EventRecord::not_run>{});
  use(LogName<&TraceFields::key_used, &EventRecord::key_used>{});
  use(LogName<&TraceFields::error_result, &EventRecord::error_result>{});
  use(LogName<&TraceFields::will_retry, &EventRecord::will_retry>{});
  use(LogName<&TraceFields::retry_in, &EventRecord::wait>{});
  use(LogName<&TraceFields::hint, &EventRecord::hint>{});
  use(LogName<&TraceFields::reason, &EventRecord::reason>{});
  use(LogName<&TraceFields::outcome_unknown, &EventRecord::outcome_unknown>{});
  use(LogName<&TraceFields::mode, &EventRecord::mode>{});
  use(LogName<&TraceFields::slept, &EventRecord::slept>{});
  use(LogName<&TraceFields::elapsed, &EventRecord::elapsed>{});
  use(LogName<&TraceFields::remaining, &EventRecord::remaining>{});
  use(LogName<&TraceFields::observer_errors, &EventRecord::observer_errors>{});
  use(LogName<&TraceFields::outer_call, &EventRecord::outer_id>{});
  use(LogName<&TraceFields::outer_attempt, &EventRecord::outer_ordinal>{});
}
inline constexpr std::size_t names_of_an_attempt = 5;

}  // namespace detail

}  // namespace encore ENCORE_BUILD
