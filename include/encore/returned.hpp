// A returned value that may be a failure: what tests of values are asked about, and how policies judge it.
#pragma once
#include <encore/call.hpp>
#include <encore/decision.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/detail/error_code.hpp>
#include <encore/detail/error_code_in.hpp>
#include <encore/engine/asked_kinds.hpp>
#include <encore/engine/call_frame.hpp>
#include <encore/engine/filter_check.hpp>
#include <encore/engine/server_hint.hpp>
#include <encore/engine/verdict.hpp>
#include <encore/predicate.hpp>
#include <encore/stop_reason.hpp>
#include <encore/thrown.hpp>

#include <optional>
#include <type_traits>

namespace encore ENCORE_BUILD {

/// A returned value and its attempt. Valid while it is being judged.
template <class Value>
struct Returned {
  const Value& value;
  const FailedAttempt& attempt;
};

namespace detail {

template <class Value>
bool carries_cancelled_code(const Returned<Value>& failure) noexcept {
  if constexpr (IsErrorCode<Value> || MayHoldErrorCode<Value>)
    return says_cancelled(error_code_in(failure.value));
  else
    return false;
}
/// Whether it is the outcome of an inner call that was cancelled or had no attempt. No policy retries those. (B4, G4)
template <class Value>
bool is_unretryable(const Returned<Value>& failure) {
  if constexpr (HoldsFailure<Value>)
    return !failure.value.has_value() && (failure.value.failure().refused_on_entry() ||
                                          failure.value.failure().reason == StopReason::cancelled);
  else
    return false;
}

template <class Policy, class Value>
StopReason never_verdict(const Policy& policy, const Returned<Value>& failure) {
  const auto verdict =
      is_unretryable(failure) ? StopReason::never_retry_type : listed_as_never(policy, failure);
  if (verdict == StopReason::none && carries_cancelled_code(failure) && was_cancelled(failure.attempt) &&
      (failure.attempt.stop_requested() || !names_failure(policy.predicate(), failure)))
    return StopReason::never_retry_type;
  return verdict;
}

template <class Policy, class Value>
std::optional<Duration> hint_from(const Policy& policy, const Returned<Value>& failure, const Now& now) {
  auto hint = no_hint;
  auto ignored = StopReason::none;
  evaluate(
      [&] {
        if constexpr (requires { policy.hint_source().hint(failure, now); })
          hint = policy.hint_source().hint(failure, now);
        if constexpr (CarriesHint<Value>) {
          if (!hint) hint = hint_of(failure.value, now);
        }
        return true;
      },
      ignored);
  return hint;
}

/// `none` if the predicate matches the value; else `succeeded`, or `not_retryable` if the value is a failure all the same, or
/// `predicate_threw`. (B7, B8)
template <bool reports_failures, class Policy, class Value>
ENCORE_FORCE_INLINE StopReason judge_value(const Policy& policy, const Returned<Value>& returned) {
  auto verdict = StopReason::none;
  if constexpr (JudgesValues<typename Policy::PredicateType, Value>) {
    verdict = StopReason::predicate_threw;
    if (evaluate([&] { return policy.predicate().matches(returned); }, verdict)) return StopReason::none;
    if (verdict != StopReason::none) return verdict;
  }
  if constexpr (reports_failures && JudgesValues<failure_test_of<Policy>, Value>) {
    verdict = StopReason::predicate_threw;
    if (evaluate([&] { return policy.failure_test().matches(returned); }, verdict))
      return StopReason::not_retryable;
  }
  return verdict == StopReason::none ? StopReason::succeeded : verdict;
}

/// The same for the value that the current attempt returned.
template <class Policy, class State, class Value>
ENCORE_FORCE_INLINE StopReason judge_returned(const Policy& policy, const State& state, const Value& value) {
  const auto known = state.what_is_known();
  return judge_value<Policy::reports_failures>(policy, Returned<Value>{value, known});
}

/// How a returned failure changes the state of its call.
struct ReturnedFailures {
  /// `verdict`: `none` if it may be retried, else why not.
  template <class State, class Value>
  [[nodiscard]] ENCORE_FORCE_INLINE static Decision decide(State& state, const Value& value,
                                                           StopReason verdict) {
    using Policy = typename State::PolicyType;
    const auto known = state.what_is_known();
    const Returned<Value> failure{value, known};
    return state.decide(failure, nullptr, [&] {
      if (verdict == StopReason::none ||
          (Policy::handles_unmatched && verdict == StopReason::not_retryable)) {
        if (const auto never = never_verdict(state.policy_, failure); never != StopReason::none) return never;
      }
      return verdict;
    });
  }
  /// Judges the value first. `again`: the attempt has already failed, so that only a success changes anything.
  template <class State, class Value>
  [[nodiscard]] static Decision judge(State& state, const Value& value, bool again) {
    const auto known = state.what_is_known();
    typename State::CutShort cut{state, nullptr, !again};
    const auto verdict = judge_value<true>(state.policy_, Returned<Value>{value, known});
    cut.returned = true;
    if (verdict != StopReason::succeeded)
      return again ? Decision{.wait = state.wait_} : decide(state, value, verdict);
    state.succeeded();
    return {.stop = StopReason::succeeded};
  }
};

/// The attempt returned a failure: decides what follows. `State` is the call's early state, before the full one is constructed.
template <class State, class Value>
ENCORE_FORCE_INLINE void decide_on_value(State& state, const Value& value, StopReason verdict,
                                         const Call& call = unseen_call) {
  state.goes_on_with(ReturnedFailures::decide(state.made_state(call), value, verdict));
}
template <class Passed, class State, class... C>
ENCORE_NO_INLINE bool waited_after_value(State& state, Passed value, StopReason verdict, const C&... call) {
  decide_on_value(state, value, verdict, call...);
  return state.waited();
}
/// The same, then waits and starts the next attempt. False if there is none.
template <class State, class Value>
ENCORE_FORCE_INLINE bool waited_after(State& state, const Value& value, StopReason verdict,
                                      [[maybe_unused]] const Call& call) {
  // Scalars are passed by value to stay in registers: taking their address would force them into memory in every attempt.
  using Passed = std::conditional_t<std::is_scalar_v<Value>, const Value, const Value&>;
  if constexpr (State::sees_call)
    return waited_after_value<Passed>(state, value, verdict, call);
  else
    return waited_after_value<Passed>(state, value, verdict);
}

}  // namespace detail
}  // namespace encore ENCORE_BUILD
