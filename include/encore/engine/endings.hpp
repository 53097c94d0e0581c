// What a policy makes of a callable's result, and how a call ends.
#pragma once
#include <encore/call.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/engine/filter_check.hpp>
#include <encore/engine/retry_state.hpp>
#include <encore/engine/verdict.hpp>
#include <encore/refused.hpp>
#include <encore/setting.hpp>
#include <encore/stop_reason.hpp>

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD::detail {

/// Throws the refusal of a call that had no attempt; without exceptions the program ends with the reason. (G4, L3)
[[noreturn]] inline void refuse_call(StopReason reason, [[maybe_unused]] const CurrentCall& call) {
#if defined(__cpp_exceptions)
  throw Refused{reason, call.id(), call.name()};
#else
  refuse_setting("call", to_string(reason), "cannot be thrown without exceptions");
#endif
}

/// What a policy makes of a callable that returns `R`, and whether it can.
template <class Policy, class R>
struct Results {
  using Value = std::remove_cvref_t<R>;
  using Result = typename Policy::FailureStrategyType::template result<R>;

  /// True if a test looks at this result.
  static constexpr bool judged = [] {
    if constexpr (std::is_void_v<R>)
      return false;
    else
      return judges_value<Policy, Value>;
  }();
  static constexpr bool movable = std::is_void_v<R> || std::is_reference_v<R> || std::move_constructible<R>;
  static_assert(filter_fits<Policy, Value>());
  static constexpr bool known =
      !judged || requires { sizeof(Returned<std::conditional_t<judged, Value, int>>); };
  static_assert(known, "a test of returned values needs: #include <encore/returned.hpp>");
  static_assert(!judged || movable, "a test on returned values needs a result that can be moved");
  static_assert(std::same_as<Result, R> || movable, "this failure strategy needs a result that can be moved");
};

/// How a call of a callable that returns `R` ends: compiled once for each policy and result, not at each call site.
template <class Policy, class R, class State>
struct Endings {
  using Result = typename Results<Policy, R>::Result;

  // The callable's own result, untouched or inside an outcome.
  template <class V>
  ENCORE_FORCE_INLINE static Result deliver(const Policy& policy, const State& state, V&& value) {
    if constexpr (std::same_as<Result, R>)
      return static_cast<R&&>(value);
    else
      return Result{std::forward<V>(value), figures_of(state, policy)};
  }
  template <class V>
  ENCORE_NO_INLINE static Result settle(State& state, V&& value) {
    const Policy& policy = state.state().policy();
    if constexpr (!Policy::rethrows) {
      if (RetryState<Policy>::strategy_handles(state.state().reason()))
        return strategy(state).template failed<R>(state.state().failure(), std::forward<V>(value));
    }
    return deliver(policy, state, std::forward<V>(value));
  }
  static const auto& strategy(State& state) noexcept { return state.state().policy().failure_strategy(); }
  // There was no attempt. (G4)
  ENCORE_COLD static Result refused(State& state) {
    if constexpr (Policy::waits_when_refused) state.waited();
    if constexpr (Policy::rethrows)
      refuse_call(state.state().reason(), state.state().current());
    else
      return strategy(state).template failed<R>(state.state().failure());
  }
  // After an exception that did not propagate from its handler.
  ENCORE_COLD static Result give_up(State& state) {
    if constexpr (Policy::rethrows) {
      std::rethrow_exception(state.state().take_error());
    } else {
      auto error = state.state().take_error();  // before a clock is read that may break
      auto failure = state.state().failure();
      failure.error = std::move(error);
      return strategy(state).template failed<R>(std::move(failure));
    }
  }
};

}  // namespace ENCORE_BUILD::detail
