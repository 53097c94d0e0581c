// The retry loop: an attempt; if it failed, the decision, a wait, and the next one. It serves every policy, callable and result.
#pragma once
#include <encore/detail/address_of.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/engine/call_state.hpp>
#include <encore/engine/endings.hpp>
#include <encore/engine/operation.hpp>
#include <encore/engine/verdict.hpp>
#include <encore/predicate.hpp>
#include <encore/thrown.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD::detail {

/// Reports a success when it is destroyed, unless the attempt failed: for results that cannot be moved into a variable first. It
/// stands around the `try`, whose handlers disarm it: `uncaught_exceptions` does not count a thread's forced unwind.
template <class State, class Policy>
struct SuccessOnReturn {
  State& state;
  const Policy& policy;
  const Call& call;
  bool armed = false;
  ~SuccessOnReturn() noexcept(false) {
    if (armed) state.succeeded(policy, call);
  }
};
struct NothingOnReturn {};

/// Is the predicate nothing but a list of exception types, short enough for a handler of each at every place of a call?
template <class P>
inline constexpr bool is_short_list = false;
template <class... E>
inline constexpr bool is_short_list<RetryOn<E...>> = sizeof...(E) >= 1 && sizeof...(E) <= 4;

/// Drives one call of `F` with arguments `A` on a thread that sleeps. Only the path of a success at the first attempt is inlined
/// at the call site.
template <class Policy, class R, class F, class... A>
class RetryLoop : Results<Policy, R> {
  using Results<Policy, R>::judged;
  static constexpr bool with_attempt = takes_attempt<F, A...>;
  // True if an attempt can be seen before it has failed.
  static constexpr bool framed = with_attempt || Policy::notices_nesting || (judged && Policy::reads_call);
  using State = CallState<Policy, framed>;
  using Ends = Endings<Policy, R, State>;

 public:
  using Result = typename Results<Policy, R>::Result;

 private:
  // True if a success is reported to others than the caller.
  static constexpr bool reported = Policy::observed || Policy::guarded || !std::same_as<Result, R>;
  static constexpr bool pinned = reported && !Results<Policy, R>::movable;
  // Where no other failure is reported, only what may be retried is caught, as in a hand-written loop: nothing, or the listed types.
  static constexpr bool ignores_exceptions =
      judged && !framed && !Policy::reads_call && !JudgesExceptions<typename Policy::PredicateType>;
  static constexpr bool catches_listed =
      !judged && !Policy::reads_call && is_short_list<typename Policy::PredicateType>;

 public:
  ENCORE_FORCE_INLINE static Result run(const Policy& policy, const Call& call, F& callable, A&... args) {
    const bool asks_first = State::asks_first(policy, call);
    State state{policy, call};
    if (!state.begin(policy, call, asks_first)) [[unlikely]]
      return Ends::refused(found_here(state));
#if defined(__cpp_exceptions)
    if constexpr (catches_listed)
      return catching(static_cast<const typename Policy::PredicateType*>(nullptr), policy, state, call,
                      callable, args...);
#endif
    // Outside the loop: Clang would clean them up in each round.
    [[maybe_unused]] auto returned = false;
    [[maybe_unused]] auto success = success_of(policy, state, call);
    for (;;) {
      if constexpr (pinned) success.armed = true;
      if constexpr (ignores_exceptions) {
        R result = attempt(policy, state, callable, args...);
        const auto verdict = judge_returned(policy, state, result);
        if (verdict == StopReason::succeeded || !waited_after(found_here(state), result, verdict, call))
          return static_cast<R&&>(result);
        continue;
      }
#if defined(__cpp_exceptions)
      try {
#endif
        if constexpr (!reported && !judged) {
          return attempt(policy, state, callable, args...);
        } else if constexpr (std::is_void_v<R>) {
          attempt(policy, state, callable, args...);
          returned = true;
          state.succeeded(policy, call);
          if constexpr (std::is_void_v<Result>)
            return;
          else
            return Result{figures_of(state, policy)};
        } else if constexpr (Results<Policy, R>::movable) {
          R result = attempt(policy, state, callable, args...);
          if constexpr (judged) {
            const auto verdict = judge_returned(policy, state, result);
            returned = true;
            if (verdict != StopReason::succeeded) [[unlikely]] {
              // The value is kept for as long as the wait.
              if (!waited_after(found_here(state), result, verdict, call))
                return Ends::settle(state, static_cast<R&&>(result));
              returned = false;
              continue;
            }
          }
          returned = true;
          state.succeeded(policy, call);
          return Ends::deliver(policy, state, static_cast<R&&>(result));
        } else {
          return attempt(policy, state, callable, args...);
        }
#if defined(__cpp_exceptions)
      } catch (const std::exception& error) {
        if constexpr (pinned) success.armed = false;
        if (returned || !found_here(state).threw(&error, call)) throw;
      } catch (...) {
        if constexpr (pinned) success.armed = false;
        if (returned || !found_here(state).threw(not_an_exception, call)) throw;
      }
      if (!found_here(state).waited()) return Ends::give_up(found_here(state));
#endif
    }
  }

 private:
  static constexpr const std::exception* not_an_exception =
      nullptr;  // no `catch (const std::exception&)` caught it

#if defined(__cpp_exceptions)
  // A loop for each listed type, one inside the other; the compiler makes one table of handlers of them.
  template <class E, class... Others>
  ENCORE_FORCE_INLINE static Result catching(const RetryOn<E, Others...>*, const Policy& policy, State& state,
                                             const Call& call, F& callable, A&... args) {
    for (;;) {
      try {
        if constexpr (sizeof...(Others) == 0)
          return attempt(policy, state, callable, args...);
        else
          return catching(static_cast<const RetryOn<Others...>*>(nullptr), policy, state, call, callable,
                          args...);
      } catch (const E& error) {
        if (!found_here(state).threw(detail::address_of(error), call)) throw;
      }
      if (!found_here(state).waited()) return Ends::give_up(found_here(state));
    }
  }
#endif

  ENCORE_FORCE_INLINE static auto success_of([[maybe_unused]] const Policy& policy,
                                             [[maybe_unused]] State& state,
                                             [[maybe_unused]] const Call& call) noexcept {
    if constexpr (pinned)
      return SuccessOnReturn<State, Policy>{state, policy, call};
    else
      return NothingOnReturn{};
  }
  ENCORE_FORCE_INLINE static auto marked([[maybe_unused]] const Policy& policy,
                                         [[maybe_unused]] State& state) noexcept {
    if constexpr (Policy::notices_nesting && Policy::says_fibers)
      return typename Policy::FibersType::Mark{policy.on_fibers(), &state.attempt()};
    else if constexpr (Policy::notices_nesting)
      return typename Policy::NestingType::Mark{&state.attempt()};
    else
      return std::nullptr_t{};
  }
  ENCORE_FORCE_INLINE static R attempt([[maybe_unused]] const Policy& policy, [[maybe_unused]] State& state,
                                       F& callable, A&... args) {
    [[maybe_unused]] const auto mark = marked(policy, state);
    if constexpr (Policy::prepares_retries) prepare_retry(policy, state);
    if constexpr (with_attempt)
      return detail::invoke(callable, args..., state.attempt());
    else
      return detail::invoke(callable, args...);
  }
};

}  // namespace ENCORE_BUILD::detail
