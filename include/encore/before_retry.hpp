// A function that runs before each retry: to refresh a token, or to reconnect.
#pragma once
#include <encore/attempt.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/engine/deferred.hpp>
#include <encore/option.hpp>

#include <concepts>
#include <utility>

namespace encore ENCORE_BUILD {

namespace detail {
template <class F>
concept CanPrepare = std::invocable<const F&, const Attempt&> || std::invocable<const F&>;
}

/// Runs before each retry, after the wait: refreshes a token, reconnects. The function takes the attempt or nothing. If it
/// throws, that counts as a failure of the attempt.
template <class F>
struct BeforeRetry {
  using role = encore::role::BeforeRetry;
  static_assert(detail::CanPrepare<F>,
                "BeforeRetry calls its function, as const, with `const encore::Attempt&` or with nothing");
  F prepare;
  constexpr explicit BeforeRetry(F f) : prepare(std::move(f)) {}
};

namespace detail {

/// Calls the function of `BeforeRetry`, with the attempt if it takes one.
template <class Prepare>
decltype(auto) prepare(const Prepare& prepare, const Attempt& attempt) {
  if constexpr (std::invocable<const Prepare&, const Attempt&>)
    return prepare(attempt);
  else
    return prepare();
}

/// Calls it in a driver that runs on a thread, before a further attempt.
template <class Policy, class State>
ENCORE_FORCE_INLINE void prepare_retry(const Policy& policy, State& state) {
  const auto& prepare = policy.before_retry().prepare;
  static_assert(!Deferred<decltype(detail::prepare(prepare, std::declval<const Attempt&>()))>,
                "this BeforeRetry returns a coroutine or future, and has prepared nothing when run() makes "
                "the next attempt: wait for it in the function, or use co_run, which awaits a coroutine");
  if (state.retries()) static_cast<void>(detail::prepare(prepare, state.state().attempt()));
}

}  // namespace detail
}  // namespace encore ENCORE_BUILD
