// Why there is no further attempt: one name each, used in events, outcomes, counters and logs alike.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>

namespace encore {

/// Why a call ended. (G7)
enum class StopReason : std::uint8_t {
  none,  ///< it has not ended: another attempt follows
  succeeded,
  excluded_tool,  ///< the tool layer's filter does not name this tool, so it ran once
  not_retryable,  ///< the predicate did not match the failure
  never_retry_type,
  predicate_threw,
  retries_exhausted,
  deadline,  ///< the next attempt would begin at or after the time limit
  too_little_time_left,
  hint_over_cap,
  hint_past_deadline,
  cancelled,
  circuit_open,
  retry_budget_spent,
  call_limit_reached,
  step_limit_reached,
  loop_detected,
  spend_limit_reached,
  refused_by_guard,  ///< a guard of the user's own that gives no reason of its own
  not_repeatable,
  unknown_outcome,  ///< dispatched, never answered, and not safe to repeat: for reconciliation
  nested_made_single,
  expired_on_entry,
  cancelled_on_entry,
  unknown_tool,  ///< the catalog has no tool of the name that the model called
  run_over,      ///< an agent's run ended because no call of its last turns could be made (H9)
};

inline constexpr std::size_t stop_reason_count = static_cast<std::size_t>(StopReason::run_over) + 1;

/// The reason's name in logs and metrics. It is one of a fixed few and never changes.
constexpr std::string_view to_string(StopReason reason) noexcept {
  constexpr std::string_view names[stop_reason_count]{"none",
                                                      "succeeded",
                                                      "excluded_tool",
                                                      "not_retryable",
                                                      "never_retry_type",
                                                      "predicate_threw",
                                                      "retries_exhausted",
                                                      "deadline",
                                                      "too_little_time_left",
                                                      "hint_over_cap",
                                                      "hint_past_deadline",
                                                      "cancelled",
                                                      "circuit_open",
                                                      "retry_budget_spent",
                                                      "call_limit_reached",
                                                      "step_limit_reached",
                                                      "loop_detected",
                                                      "spend_limit_reached",
                                                      "refused_by_guard",
                                                      "not_repeatable",
                                                      "unknown_outcome",
                                                      "nested_made_single",
                                                      "expired_on_entry",
                                                      "cancelled_on_entry",
                                                      "unknown_tool",
                                                      "run_over"};
  return names[static_cast<std::size_t>(reason)];
}
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, StopReason reason) {
  return out << to_string(reason);
}

/// May the failure strategy answer for a call that ended so? Otherwise its result or exception leaves untouched. (G7)
constexpr bool consults_strategy(StopReason reason) noexcept {
  switch (reason) {
    case StopReason::none:
    case StopReason::succeeded:
    case StopReason::excluded_tool:
    case StopReason::not_retryable:
    case StopReason::never_retry_type:
    case StopReason::predicate_threw:
    case StopReason::nested_made_single: return false;
    default: return true;
  }
}

}  // namespace encore
