// Why there is no further attempt: one name per reason, the same in events, outcomes, counters and logs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>

namespace encore {

/// Why a call ended. (G7)
enum class StopReason : std::uint8_t {
  none,  ///< the call has not ended: another attempt follows
  succeeded,
  excluded_tool,  ///< the tool layer's filter does not name this tool, so it ran once
  not_retryable,  ///< the predicate did not match the failure
  never_retry_type,
  predicate_threw,
  retries_exhausted,
  deadline,  ///< the next attempt would start at or after the time limit
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
  refused_by_guard,  ///< a user-defined guard that gives no reason of its own
  not_repeatable,
  unknown_outcome,  ///< dispatched, never answered, and not safe to repeat: to be reconciled
  nested_made_single,
  expired_on_entry,
  cancelled_on_entry,
  unknown_tool,  ///< the catalog has no tool with the name that the model used
  run_over,      ///< an agent's run ended because every call of its last turns was refused (H9)
};

/// Groups of stop reasons, for code that counts, reports or decides by group.
enum class StopCategory : std::uint8_t {
  unfinished,
  success,
  ran_once,     ///< the call was not to be repeated, whatever its failure
  not_matched,  ///< not to be retried: by the filter or a never-list, or a test threw
  single,       ///< forbidden by an outer attempt, or because the outcome is unknown
  exhausted,    ///< all allowed attempts were made
  out_of_time,  ///< the call's time, or a hint that does not fit into it
  cancelled,    ///< by a stop request
  refused,      ///< by a guard, or because the tool does not exist or the run is over
};

namespace shared {

/// The properties of one stop reason.
struct StopReasonFacts {
  StopReason reason;
  std::string_view name;  ///< in logs and metrics; one of a fixed set, never changes
  StopCategory category;
  bool consults_strategy;  ///< whether the failure strategy handles calls that ended so (G7)
  bool on_entry = false;   ///< before any attempt (G4)
};

/// Every stop reason, in the order of the enumeration.
inline constexpr StopReasonFacts stop_reasons[]{
    {StopReason::none, "none", StopCategory::unfinished, false},
    {StopReason::succeeded, "succeeded", StopCategory::success, false},
    {StopReason::excluded_tool, "excluded_tool", StopCategory::ran_once, false},
    {StopReason::not_retryable, "not_retryable", StopCategory::not_matched, false},
    {StopReason::never_retry_type, "never_retry_type", StopCategory::not_matched, false},
    {StopReason::predicate_threw, "predicate_threw", StopCategory::not_matched, false},
    {StopReason::retries_exhausted, "retries_exhausted", StopCategory::exhausted, true},
    {StopReason::deadline, "deadline", StopCategory::out_of_time, true},
    {StopReason::too_little_time_left, "too_little_time_left", StopCategory::out_of_time, true},
    {StopReason::hint_over_cap, "hint_over_cap", StopCategory::out_of_time, true},
    {StopReason::hint_past_deadline, "hint_past_deadline", StopCategory::out_of_time, true},
    {StopReason::cancelled, "cancelled", StopCategory::cancelled, true},
    {StopReason::circuit_open, "circuit_open", StopCategory::refused, true},
    {StopReason::retry_budget_spent, "retry_budget_spent", StopCategory::refused, true},
    {StopReason::call_limit_reached, "call_limit_reached", StopCategory::refused, true},
    {StopReason::step_limit_reached, "step_limit_reached", StopCategory::refused, true},
    {StopReason::loop_detected, "loop_detected", StopCategory::refused, true},
    {StopReason::spend_limit_reached, "spend_limit_reached", StopCategory::refused, true},
    {StopReason::refused_by_guard, "refused_by_guard", StopCategory::refused, true},
    {StopReason::not_repeatable, "not_repeatable", StopCategory::ran_once, true},
    {StopReason::unknown_outcome, "unknown_outcome", StopCategory::single, true},
    {StopReason::nested_made_single, "nested_made_single", StopCategory::single, false},
    {StopReason::expired_on_entry, "expired_on_entry", StopCategory::out_of_time, true, true},
    {StopReason::cancelled_on_entry, "cancelled_on_entry", StopCategory::cancelled, true, true},
    {StopReason::unknown_tool, "unknown_tool", StopCategory::refused, true},
    {StopReason::run_over, "run_over", StopCategory::refused, true},
};
constexpr const StopReasonFacts& facts(StopReason reason) noexcept {
  return stop_reasons[static_cast<std::size_t>(reason)];
}
static_assert([] {
  std::size_t place = 0;
  for (const auto& row : stop_reasons)
    if (row.reason != static_cast<StopReason>(place++)) return false;
  return place == static_cast<std::size_t>(StopReason::run_over) + 1;
}());

}  // namespace shared

inline constexpr std::size_t stop_reason_count =
    sizeof(shared::stop_reasons) / sizeof(shared::StopReasonFacts);

/// The reason's name in logs and metrics. It is one of a fixed set and never changes.
constexpr std::string_view to_string(StopReason reason) noexcept { return shared::facts(reason).name; }
constexpr StopCategory category(StopReason reason) noexcept { return shared::facts(reason).category; }

template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, StopReason reason) {
  return out << to_string(reason);
}

/// Whether the failure strategy handles a call that ended this way. If not, its result or exception propagates unchanged. (G7)
constexpr bool consults_strategy(StopReason reason) noexcept {
  return shared::facts(reason).consults_strategy;
}

/// Whether a guard stopped the call, or it was refused before its first attempt. (G4, H2)
constexpr bool is_refusal(StopReason reason) noexcept {
  return category(reason) == StopCategory::refused || shared::facts(reason).on_entry;
}

}  // namespace encore
