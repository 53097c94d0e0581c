// The synchronous driver: a thin loop around the decision, on a thread that sleeps.
#pragma once
#include <encore/attributes.hpp>
#include <encore/call_frame.hpp>
#include <encore/failure.hpp>
#include <encore/nesting.hpp>
#include <encore/on_failure.hpp>
#include <encore/operation.hpp>
#include <encore/refused.hpp>
#include <encore/retry_state.hpp>

#include <concepts>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace encore::detail {

/// Throws the refusal of a call that had no attempt; without exceptions the program ends with the reason. (G4, L3)
[[noreturn]] inline void refuse_call(StopReason reason, [[maybe_unused]] const CurrentCall& call) {
#if defined(__cpp_exceptions)
  throw Refused{reason, call.id(), call.name()};
#else
  refuse_setting("call", to_string(reason), "cannot be thrown without exceptions");
#endif
}

/// Runs `done` when it is destroyed, unless by an exception: for results that cannot be moved out of the way first.
template <class Done>
struct OnReturn {
  Done done;
  int unwinding = std::uncaught_exceptions();
  ~OnReturn() noexcept(false) {
    if (std::uncaught_exceptions() == unwinding) done();
  }
};
template <class Done>
OnReturn(Done) -> OnReturn<Done>;

/// What a policy makes of a callable that returns `R`, and whether it can.
template <class Policy, class R>
struct Results {
  using Value = std::remove_cvref_t<R>;
  using Result = typename Policy::FailureStrategyType::template result<R>;

  /// Does the predicate look at this result?
  static constexpr bool judged = [] {
    if constexpr (std::is_void_v<R>)
      return false;
    else
      return JudgesValues<typename Policy::PredicateType, Value>;
  }();
  static constexpr bool movable = std::is_void_v<R> || std::is_reference_v<R> || std::move_constructible<R>;
  static_assert(std::is_void_v<R> || judged || !looks_at_values<typename Policy::PredicateType>,
                "this policy's predicate looks at returned values, but not at what this callable returns");
  static_assert(!judged || movable, "a predicate on returned values needs a result that can be moved");
  static_assert(std::same_as<Result, R> || movable, "this failure strategy needs a result that can be moved");
};

/// Runs what `BeforeRetry` holds, with the attempt if it takes it.
template <class Prepare>
auto prepare(const Prepare& prepare, const Attempt& attempt) {
  if constexpr (std::invocable<const Prepare&, const Attempt&>)
    return prepare(attempt);
  else
    return prepare();
}

/// Does an exception after which the decision was `next` leave from its handler?
template <class Policy, class State>
bool leaves(const Decision& next) noexcept {
  return !next.goes_on() && (Policy::rethrows || !State::answered_for(next.stop));
}

/// What an outcome with a value tells of its call.
template <class State>
CallFigures figures_of(const State& state) {
  return {state.reason(), state.attempts(), state.elapsed(), state.slept(), state.observer_errors()};
}

/// Drives one call of a callable that returns `R`, from its start: for any policy and any strategy.
template <class Policy, class R>
class Driver : Results<Policy, R> {
  using State = RetryState<Policy>;
  using Results<Policy, R>::judged;

 public:
  using Result = typename Results<Policy, R>::Result;

  static Result run(const Policy& policy, const Call& call, Operation<R> operation) {
    const auto started = start_of(policy, call);
    CallFrame frame{call, limits_of(policy, call, started), Now{policy.clock()}};
    State state{policy, frame, started};
    if (const auto first = state.begin(); !first.goes_on()) {
      if constexpr (Policy::rethrows)
        refuse_call(first.stop, frame.current);
      else
        return policy.failure_strategy().template failed<R>(state.failure());
    }
    for (;;) {
      Decision next;
      [[maybe_unused]] auto returned = false;
#if defined(__cpp_exceptions)
      try {
#endif
        if constexpr (judged) {
          R result = attempt(policy, state, operation);
          returned = true;
          next = state.returned(std::as_const(result));
          if (next.goes_on()) next = wait(policy, state, next);  // the value is kept for as long as the wait
          if (next.goes_on()) continue;
          return settle(policy, state, next.stop, std::forward<R>(result));
        } else if constexpr (std::is_void_v<R>) {
          attempt(policy, state, operation);
          returned = true;
          state.succeeded();
          if constexpr (std::is_void_v<Result>)
            return;
          else
            return Result{figures_of(state)};
        } else if constexpr (Results<Policy, R>::movable) {
          R result = attempt(policy, state, operation);
          returned = true;
          state.succeeded();
          return deliver(state, std::forward<R>(result));
        } else {
          const OnReturn told{[&] {
            returned = true;
            state.succeeded();
          }};
          return attempt(policy, state, operation);
        }
#if defined(__cpp_exceptions)
      } catch (const std::exception& error) {
        if (returned) throw;
        next = state.threw(&error);
        if (leaves<Policy, State>(next)) throw;
      } catch (...) {
        if (returned) throw;
        if (std::current_exception() == nullptr) {
          state.unwound();
          throw;
        }
        next = state.threw(nullptr);
        if (leaves<Policy, State>(next)) throw;
      }
      if (next.goes_on()) next = wait(policy, state, next);
      if (!next.goes_on()) return give_up(policy, state);
#endif
    }
  }

 private:
  static R attempt(const Policy& policy, State& state, Operation<R> operation) {
    [[maybe_unused]] const std::conditional_t<Policy::notices_nesting, AttemptMark, NoMark> mark{
        state.attempt()};
    if constexpr (Policy::prepares_retries) {
      if (state.attempts() > 1) detail::prepare(policy.before_retry().prepare, state.attempt());
    }
    return operation(state.attempt());
  }

  static Decision wait(const Policy& policy, State& state, const Decision& next) {
    sleep_through(policy, state, next.wait);
    return state.resume();
  }

  // The callable's own result, untouched or inside an outcome.
  template <class V>
  static Result deliver(const State& state, V&& value) {
    if constexpr (std::same_as<Result, R>)
      return static_cast<R&&>(value);
    else
      return Result{std::forward<V>(value), figures_of(state)};
  }
  template <class V>
  static Result settle(const Policy& policy, const State& state, StopReason stop, V&& value) {
    if constexpr (!Policy::rethrows) {
      if (State::answered_for(stop))
        return policy.failure_strategy().template failed<R>(state.failure(), std::forward<V>(value));
    }
    return deliver(state, std::forward<V>(value));
  }
  // After an exception that did not leave from its handler.
  static Result give_up(const Policy& policy, const State& state) {
    if constexpr (Policy::rethrows)
      std::rethrow_exception(state.error());
    else
      return policy.failure_strategy().template failed<R>(state.failure());
  }
};

}  // namespace encore::detail
