// The coroutine driver: it makes the same decisions as `run`, but awaits instead of blocking a thread.
#pragma once
#include <encore/async/awaitable_traits.hpp>
#include <encore/async/sleeper.hpp>
#include <encore/before_retry.hpp>
#include <encore/detail/address_of.hpp>
#include <encore/engine/call_state.hpp>
#include <encore/engine/deferred.hpp>
#include <encore/engine/deferred_cancellation.hpp>
#include <encore/engine/operation.hpp>
#include <encore/engine/owned_call.hpp>
#include <encore/engine/policy_parts.hpp>
#include <encore/engine/repeated_callable.hpp>
#include <encore/engine/retry_loop.hpp>
#include <encore/nesting.hpp>
#include <encore/retry_policy.hpp>

#include <concepts>
#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

namespace detail {

/// In a coroutine the thread's mark means nothing: it may be resumed on another thread than it was called on. (J2)
struct ThreadUnmarked {
  AttemptMark none{nullptr};
};
template <class Policy>
struct Unmarked {
  template <class Step>
  auto operator()(Step&& step) const {
    [[maybe_unused]] const std::conditional_t<Policy::notices_nesting, ThreadUnmarked, std::nullptr_t>
        unmarked{};
    return step();
  }
};

/// Does it say that what was under way did not fail, but was cancelled?
inline bool says_cancelled(const Thrown& failure) noexcept {
  return failure.is<Cancelled>() || carries_cancelled_code(failure);
}

struct UnseenCall {
  static constexpr const Call& view() noexcept { return unseen_call; }
};
/// True if nothing looks at the call of this operation, and nothing has to be asked before its first attempt.
template <class Policy, class Operation>
inline constexpr bool can_be_unseen =
    !Policy::reads_call && !Policy::notices_nesting && !takes_attempt<Operation>;

/// The value of a failed attempt, stored during the wait.
template <class R>
struct LastValue {
  std::optional<R> value;
  void store(R&& result) { value.emplace(std::move(result)); }
  R&& take() noexcept { return *std::move(value); }
};
template <class R>
struct LastValue<R&> {
  R* value = nullptr;
  void store(R& result) noexcept { value = detail::address_of(result); }
  R& take() noexcept { return *value; }
};
template <>
struct LastValue<void> {};

template <class Operation, class State>
decltype(auto) invoke_with(Operation& operation, State& state) {
  if constexpr (takes_attempt<Operation>)
    return detail::invoke(operation, state.attempt());
  else
    return detail::invoke(operation);
}
/// The same while a failed attempt is examined. A coroutine type need not pass on a thread's forced unwind, and many swallow it,
/// which ends the process: so a cancellation is deferred until the coroutine has given its thread back. (B4)
template <class Policy>
struct Undisturbed : Unmarked<Policy> {
  template <class Step>
  auto operator()(Step&& step) const {
    [[maybe_unused]] const DeferredCancellation deferred;
    return Unmarked<Policy>::operator()(step);
  }
};

/// Judges the value that an attempt returned. True if the caller gets it; otherwise the call goes on, or the strategy handles the
/// value. `judged` becomes true once no exception can come from the attempt itself any more.
template <class Policy, class State, class Value>
bool caller_gets(const Policy& policy, State& state, const Call& call, const Value& value, bool& judged) {
  if constexpr (judges_value<Policy, Value>) {
    const auto verdict = judge_returned(policy, state, value);
    judged = true;
    if (verdict != StopReason::succeeded) {
      decide_on_value(state, value, verdict, call);
      return !RetryState<Policy>::waits_after(state.next()) &&
             (Policy::rethrows || !RetryState<Policy>::strategy_handles(state.next().stop));
    }
  }
  judged = true;
  state.succeeded(policy, call);
  return true;
}

/// True if it is the return type of a coroutine with these parameters.
template <class Awaitable, class... Parameter>
concept CoroutineType = requires { typename std::coroutine_traits<Awaitable, Parameter...>::promise_type; };

/// True if a coroutine with this promise can await it.
template <class Promise, class R>
concept AwaitedBy =
    std::is_class_v<std::remove_cvref_t<R>> && (CanBeAwaited<R> || requires(Promise& promise, R&& awaited) {
      requires CanBeAwaited<decltype(promise.await_transform(static_cast<R&&>(awaited)))>;
    });

/// The result type of an operation that returns a coroutine, or an error message that says why there is none.
template <class Policy, class Operation, class S>
struct CoCall : RepeatedCallable<Operation> {
  using Awaitable = raw_t<Operation>;
  static_assert(
      CoroutineType<Awaitable, Policy, OwnedCall, Operation, S> &&
          requires { typename awaitable_traits<Awaitable>::value_type; },
      "co_run is for callables that return a coroutine, such as a Task<T>; use run() for others. A coroutine "
      "type that is not a template of its value needs a specialisation of encore::awaitable_traits");
  static_assert(Sleeper<S>,
                "the last argument of co_run is a sleeper: it is called with an encore::Duration, and also "
                "with a `const encore::StopView&` if a stop request can end its wait");
  static_assert(!blocks<S>,
                "this sleeper returns nothing that can be awaited: a coroutine must not block its thread");

  using R = typename awaitable_traits<Awaitable>::value_type;
  using Result = typename Policy::FailureStrategyType::template result<R>;
  using type = typename awaitable_traits<Awaitable>::template rebind<Result>;
  static_assert(Results<Policy, R>::movable, "co_run needs a result that can be moved");
};
template <class Policy, class Operation, class S>
using co_result_t = typename CoCall<PartsOf<Policy>, std::decay_t<Operation>, std::decay_t<S>>::type;

// Everything it uses is a parameter by value, and so lives in its frame. (GCC 12 destroys an owning aggregate twice if it is
// written in place in a `co_await`: hence the plain function around it, and `OwnedCall` with its constructor.)
template <class Policy, class Owned, class Operation, class S>
auto co_drive(Policy policy, Owned owned, Operation operation, S sleeper)
    -> co_result_t<Policy, Operation, S> {
  using R = typename CoCall<Policy, Operation, S>::R;
  using Result = typename CoCall<Policy, Operation, S>::Result;
  constexpr auto judged = Results<Policy, R>::judged;
  constexpr auto seen = !std::same_as<Owned, UnseenCall>;
  constexpr Unmarked<Policy> unmarked;
  constexpr Undisturbed<Policy> undisturbed;

  const Call& call = owned.view();
  CallState<Policy, seen, true> state{policy, call};
  if (!unmarked([&] { return state.begin(policy, call, state.asks_first(policy, call)); })) {
    if constexpr (Policy::waits_when_refused) {
      if (RetryState<Policy>::waits_after(state.next())) {
        auto cancelled = false;
        try {
          co_await sleep_with(sleeper, state.next().wait, state.state().call().stop);
        } catch (const std::exception& error) {
          if (!says_cancelled(Thrown{&error})) throw;
          cancelled = true;
        }
        undisturbed([&] { return state.resume(cancelled); });
      }
    }
    if constexpr (Policy::rethrows)
      refuse_call(state.state().reason(), state.state().current());
    else
      co_return policy.failure_strategy().template failed<R>(state.state().failure());
  }
  for (;;) {
    [[maybe_unused]] LastValue<std::conditional_t<judged, R, void>> last;
    [[maybe_unused]] auto returned = false;
    try {
      if constexpr (Policy::prepares_retries) {
        if (state.retries()) {
          using Prepared = decltype(prepare(policy.before_retry().prepare, state.attempt()));
          using Promise = typename std::coroutine_traits<co_result_t<Policy, Operation, S>, Policy, Owned,
                                                         Operation, S>::promise_type;
          static_assert(!Deferred<Prepared> || AwaitedBy<Promise, Prepared>,
                        "this BeforeRetry returns a future, which co_run cannot await: return a coroutine");
          if constexpr (AwaitedBy<Promise, Prepared>)
            co_await prepare(policy.before_retry().prepare, state.attempt());
          else
            static_cast<void>(prepare(policy.before_retry().prepare, state.attempt()));
        }
      }
      if constexpr (std::is_void_v<R>) {
        co_await invoke_with(operation, state);
        returned = true;
        unmarked([&] { state.succeeded(policy, call); });
        if constexpr (std::is_void_v<Result>)
          co_return;
        else
          co_return Result{figures_of(state, policy)};
      } else {
        R result = co_await invoke_with(operation, state);
        using Look = std::conditional_t<judged, Undisturbed<Policy>, Unmarked<Policy>>;
        const auto is_result =
            Look{}([&] { return caller_gets(policy, state, call, std::as_const(result), returned); });
        if (is_result) {
          if constexpr (std::same_as<Result, R>)
            co_return static_cast<R&&>(result);
          else
            co_return Result{std::forward<R>(result), figures_of(state, policy)};
        }
        if constexpr (judged) last.store(std::forward<R>(result));
      }
    } catch (const std::exception& error) {
      if (returned || !undisturbed([&] { return state.threw(&error, call); })) throw;
    } catch (...) {
      if (returned) throw;
      if (!undisturbed([&] { return state.threw(static_cast<const std::exception*>(nullptr), call); })) throw;
    }
    if (RetryState<Policy>::waits_after(state.next())) {
      auto cancelled = false;
      if (state.next().wait > Duration::zero()) {
        try {
          co_await sleep_with(sleeper, state.next().wait, state.state().call().stop);
        } catch (const std::exception& error) {
          if (!says_cancelled(Thrown{&error})) throw;
          cancelled = true;  // Asio's cancellation slots do this
        }
      }
      if (undisturbed([&] { return state.resume(cancelled); })) continue;
    }
    if constexpr (judged) {
      if (last.value) {
        if constexpr (Policy::rethrows)
          co_return last.take();
        else
          co_return policy.failure_strategy().template failed<R>(state.state().failure(), last.take());
      }
    }
    if constexpr (Policy::rethrows)
      std::rethrow_exception(state.state().take_error());
    else
      co_return policy.failure_strategy().template failed<R>(state.state().failure());
  }
}

}  // namespace detail

/// Retries a coroutine: `co_await co_run(policy, {.id = "call-17"}, operation, sleeper)`. Returns the operation's own awaitable
/// type, rebound to the failure strategy's result. The operation is invoked anew for each attempt, with the attempt if it takes
/// one.
///
/// | given                                     | how it is stored                                                           |
/// |-------------------------------------------|----------------------------------------------------------------------------|
/// | the policy, the operation, the sleeper    | copied, or moved, into the coroutine's frame: temporaries are fine         |
/// | the call: its texts, stop token and scope | copied into the frame; a temporary token does not compile                  |
/// | what the policy itself refers to          | by reference: a clock, observer or guard that is not copied, or `std::ref` |
/// | the call's `outer`                        | by reference: the attempt around this call, which awaits it                |
/// | what the operation or the sleeper capture | in the frame, if they capture it by value                                  |
/// | the attempt                               | in the frame: valid in the operation's coroutine until that has ended      |
///
/// A wait that ends with `Cancelled` or `std::errc::operation_canceled`, as a stop request or Asio's cancellation slots make it,
/// ends the call as cancelled, with its last failure. A coroutine that is destroyed before its end returns the call's permits and
/// reports to its observers that the call was cancelled. It allocates one frame, and nothing else unless the call's texts take
/// more than `OwnedCall::room` bytes. (J2, K1)
template <class Policy, class Operation, class S>
  requires detail::is_policy<std::remove_cvref_t<Policy>>
[[nodiscard]] auto co_run(Policy&& policy, const Call& call, Operation&& operation, S&& sleeper)
    -> detail::co_result_t<Policy, Operation, S> {
  static_assert(std::constructible_from<std::decay_t<Operation>, Operation>,
                "co_run copies its callable into the coroutine's frame: move one that cannot be copied, "
                "std::move(callable)");
  using P = detail::PartsOf<Policy>;
  using Op = std::decay_t<Operation>;
  if constexpr (detail::can_be_unseen<P, Op>) {
    if (!call.limits_itself() && policy.time_budget() != Duration::zero())
      return detail::co_drive<P, detail::UnseenCall, Op, std::decay_t<S>>(
          policy_parts(std::forward<Policy>(policy)), {}, std::forward<Operation>(operation),
          std::forward<S>(sleeper));
  }
  return detail::co_drive<P, OwnedCall, Op, std::decay_t<S>>(
      policy_parts(std::forward<Policy>(policy)), OwnedCall{call}, std::forward<Operation>(operation),
      std::forward<S>(sleeper));
}

/// The same for a call without an id of its own.
template <class Policy, class Operation, class S>
  requires(detail::is_policy<std::remove_cvref_t<Policy>> &&
           !std::same_as<std::remove_cvref_t<Operation>, Call>)
[[nodiscard]] auto co_run(Policy&& policy, Operation&& operation, S&& sleeper)
    -> detail::co_result_t<Policy, Operation, S> {
  return co_run(std::forward<Policy>(policy), Call{}, std::forward<Operation>(operation),
                std::forward<S>(sleeper));
}

}  // namespace encore ENCORE_BUILD
