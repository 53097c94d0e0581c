// What `error.type` says of events and failed calls: one rule for logs, traces and metrics.
#pragma once
#include <encore/error_type.hpp>
#include <encore/event.hpp>
#include <encore/failure.hpp>
#include <encore/stop_reason.hpp>

#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

/// The `error.type` of a value that counts as a failure and has no status.
inline constexpr std::string_view returned_value_type{"returned_value"};

/// What `error.type` says of an event: the registered name of the exception's type, else its own; of a failed value the status
/// that was noted (as OpenTelemetry has it for HTTP), else `returned_value_type`; of a call that was refused before any attempt the
/// reason. Empty if nothing failed: a call that succeeded has no error, however many attempts it took. (G6)
inline std::string error_type(const Event& event) {
  const auto over = event.kind == EventKind::call_finished;
  if (event.kind != EventKind::attempt_failed && !over) return {};
  if (event.reason == StopReason::succeeded) return {};
  if (!event.error_name.empty()) return std::string{event.error_name};
  if (event.thrown != nullptr) return error_type(*event.thrown);
  if (event.ordinal == 0) return std::string{to_string(event.reason)};
  if (over && event.reason == StopReason::excluded_tool) return {};  // it returned, and nobody judged what
  if (event.notes != nullptr && event.notes->status()) return std::to_string(*event.notes->status());
  return std::string{returned_value_type};
}

/// The same of a failed call, whose value and status are not known any more.
inline std::string error_type(const Failure& failure) {
  if (failure.refused_on_entry()) return std::string{to_string(failure.reason)};
  return failure.error != nullptr ? error_type(failure.error) : std::string{returned_value_type};
}

}  // namespace encore ENCORE_BUILD
