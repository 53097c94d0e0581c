// May there be another attempt after a failure that the policy would retry, and after how long? Asked in one place, by whoever
// drives a call or only watches one.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>
#include <encore/engine/verdict.hpp>
#include <encore/stop_reason.hpp>

#include <optional>

namespace encore ENCORE_BUILD::detail {

/// `none`, with `hint` and `wait` filled in, or why there is no further attempt. (A1, D3, D4, E2, K1) `Facts` knows the call:
///   attempts_used_up()  stop_requested()  hint()  wait_after(hint)  time_left(): empty without a time limit
template <class Policy, class Facts>
ENCORE_FORCE_INLINE StopReason next_attempt(const Policy& policy, Facts&& facts,
                                            std::optional<Duration>& hint, Duration& wait) {
  if (facts.attempts_used_up()) return StopReason::retries_exhausted;
  if (facts.stop_requested()) return StopReason::cancelled;
  hint = facts.hint();
  if (hint && *hint > policy.hint_cap()) return StopReason::hint_over_cap;
  wait = facts.wait_after(hint);
  const std::optional<Duration> left = facts.time_left();
  if (!left) return StopReason::none;
  const auto verdict = time_verdict(*left, wait, policy.least_attempt_time());
  return hint && verdict == StopReason::deadline ? StopReason::hint_past_deadline : verdict;
}

}  // namespace ENCORE_BUILD::detail
