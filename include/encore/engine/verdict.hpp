// The verdict on one failure: whether it matches, is never retried, or may be repeated; and whether another attempt follows, and
// after which wait.
#pragma once
#include <encore/attempt.hpp>
#include <encore/call.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/detail/pack.hpp>
#include <encore/engine/predicate_parts.hpp>
#include <encore/engine/server_hint.hpp>
#include <encore/predicate.hpp>
#include <encore/stop_reason.hpp>
#include <encore/thrown.hpp>
#include <encore/unretryable.hpp>

#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD::detail {

/// Evaluates a user's test. If it throws, the answer is no, and `threw` stays as it was; otherwise that becomes `none`. A thread's
/// forced unwind propagates. (B4, B7)
template <class Test>
ENCORE_FORCE_INLINE bool evaluate(Test&& test, StopReason& threw) {
#if defined(__cpp_exceptions)
  try {
#endif
    const bool answer = test();
    threw = StopReason::none;
    return answer;
#if defined(__cpp_exceptions)
  } catch (...) {
    if (std::current_exception() == nullptr) throw;
    return false;
  }
#endif
}

template <class Never, class Failed>
bool refuses(const Never& never, const Failed& failure, StopReason& verdict) {
  if constexpr (requires { never.matches(failure); }) {
    auto threw = StopReason::predicate_threw;
    verdict = evaluate([&] { return never.matches(failure); }, threw) ? StopReason::never_retry_type : threw;
  }
  return verdict != StopReason::none;
}

/// `never_retry_type` if the policy's never-list holds the failure.
template <class Policy, class Failed>
StopReason listed_as_never(const Policy& policy, const Failed& failure) {
  auto verdict = StopReason::none;
  [&]<std::size_t... I, class... N>(const Places<std::index_sequence<I...>, N...>& never) {
    static_cast<void>((... || refuses(at<I>(never).get(), failure, verdict)));
  }(policy.never());
  return verdict;
}

/// True if the filter treats an `operation_canceled` like any failure, by naming it or by matching what wraps it. (B4)
template <class Filter>
bool takes_cancelled(const Filter& filter, const Thrown& thrown) {
  auto takes = false;
  auto threw = StopReason::predicate_threw;
  evaluate(
      [&] {
        depth_of<Filter>::look_into(thrown, [&](const Thrown& link) {
          const auto cancelled = carries_cancelled_code(link);
          takes = takes || (cancelled ? names_failure(filter, link) : matches_by_itself(filter, link));
          return cancelled;
        });
        return takes;
      },
      threw);
  return takes;
}
/// Whatever the predicate says: `never_retry_type` if the failure is never retried, or one that is nested in it, where the
/// filter looks there; `predicate_threw` if the policy's list could not say; else `none`. (B4, B5)
template <class Policy>
StopReason never_verdict(const Policy& policy, const Thrown& thrown) {
  using Filter = typename Policy::PredicateType;
  auto verdict = StopReason::none;
  auto cancelled = false;
  depth_of<Filter>::look_into(thrown, [&](const Thrown& link) {
    verdict = is_unretryable(link) ? StopReason::never_retry_type : listed_as_never(policy, link);
    cancelled = cancelled || carries_cancelled_code(link);
    return verdict != StopReason::none;
  });
  if (verdict == StopReason::none && cancelled && was_cancelled(thrown.attempt()) &&
      (thrown.attempt().stop_requested() || !takes_cancelled(policy.predicate(), thrown)))
    return StopReason::never_retry_type;
  return verdict;
}

/// `none` if an exception that the predicate matches may be retried, else why not. (B4)
template <class Policy>
StopReason judge_matched(const Policy& policy, const Thrown& thrown) {
  using Filter = typename Policy::PredicateType;
  if constexpr (rules_out_never<Filter> && std::same_as<depth_of<Filter>, Outermost>) {
    if (thrown.error() != nullptr) return listed_as_never(policy, thrown);
  }
  return never_verdict(policy, thrown);
}

/// The same of any exception. (B2, B3, B4, B7)
template <class Policy>
StopReason judge(const Policy& policy, const Thrown& thrown) {
  if constexpr (JudgesExceptions<typename Policy::PredicateType>) {
    auto verdict = StopReason::predicate_threw;
    if (evaluate([&] { return policy.predicate().matches(thrown); }, verdict))
      return judge_matched(policy, thrown);
    if (verdict != StopReason::none) return verdict;
  }
  // Where unmatched failures are handled, those that are never retried still propagate.
  if constexpr (Policy::handles_unmatched) {
    if (const auto never = never_verdict(policy, thrown); never != StopReason::none) return never;
  }
  return StopReason::not_retryable;
}

/// May the operation run again after this failure? After its request left and before an answer came the outcome is unknown,
/// unless repeating is safe. What is safe with a key alone is not repeated before it has asked for its key. (I1, I3)
inline StopReason replay_verdict(ReplaySafety safety, const AttemptNotes& notes, bool key_was_used) noexcept {
  if (safety == ReplaySafety::repeatable) return StopReason::none;
  const auto keyed = safety == ReplaySafety::repeatable_with_key;
  if (notes.outcome_unknown() && !(keyed && notes.key_used())) return StopReason::unknown_outcome;
  if (safety == ReplaySafety::excluded) return StopReason::excluded_tool;
  return keyed && key_was_used ? StopReason::none : StopReason::not_repeatable;
}

/// Of an attempt that would begin after `wait`, where so much time is left now: `none`, or why it is not made. (D3, D4)
constexpr StopReason time_verdict(Duration left, Duration wait, Duration least) noexcept {
  if (wait >= left) return StopReason::deadline;
  return left - wait < least ? StopReason::too_little_time_left : StopReason::none;
}

/// The server's hint: of the policy's own source, else what the failure carries. A source that throws gives none. (E5)
template <class Policy>
std::optional<Duration> hint_from(const Policy& policy, const Thrown& failure, const Now& now) {
  auto hint = no_hint;
  auto ignored = StopReason::none;
  evaluate(
      [&] {
        if constexpr (requires { policy.hint_source().hint(failure, now); })
          hint = policy.hint_source().hint(failure, now);
        if (!hint) hint = hint_by(policy.predicate(), failure, now);
        return true;
      },
      ignored);
  return hint;
}

/// May there be another attempt after a failure that the policy would retry? Asked by drivers of a call, and by what only watches one.
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
  const auto verdict = time_verdict(*left, wait, policy.min_attempt_time());
  return hint && verdict == StopReason::deadline ? StopReason::hint_past_deadline : verdict;
}

}  // namespace ENCORE_BUILD::detail
