// The `error.type` of events and failed calls: one rule for logs, traces and metrics.
#pragma once
#include <encore/error_type.hpp>
#include <encore/event.hpp>
#include <encore/failure.hpp>
#include <encore/stop_reason.hpp>

#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

namespace detail {
inline constexpr std::string_view returned_value{"returned_value"};
}

/// The `error.type` of an event: for an exception, the registered name of its type or else the type's own name; for a failed value,
/// the noted status (as OpenTelemetry does for HTTP) or else "returned_value"; for a call refused before its first attempt, the stop
/// reason. Empty if nothing failed: a call that succeeded has no error, however many attempts it took. (G6)
inline std::string error_type(const Event& event) {
  const auto over = event.kind == EventKind::call_finished;
  if (event.kind != EventKind::attempt_failed && !over) return {};
  if (event.reason == StopReason::succeeded) return {};
  if (!event.error_name.empty()) return std::string{event.error_name};
  if (event.thrown != nullptr) return error_type(*event.thrown);
  if (event.ordinal == 0) return std::string{to_string(event.reason)};
  if (over && event.reason == StopReason::excluded_tool)
    return {};  // it returned, and no filter judged the value
  if (event.notes != nullptr && event.notes->status()) return std::to_string(*event.notes->status());
  return std::string{detail::returned_value};
}

/// The same for a failed call, whose value and status are no longer known.
inline std::string error_type(const Failure& failure) {
  if (failure.refused_on_entry()) return std::string{to_string(failure.reason)};
  return failure.error != nullptr ? error_type(failure.error) : std::string{detail::returned_value};
}

}  // namespace encore ENCORE_BUILD
