// How a coroutine waits: all that encore needs to know about an event loop.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>
#include <encore/stop.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

/// Turns a duration into something that can be awaited: `sleeper(duration)`, or `sleeper(duration, stop)` to end the wait when a
/// stop is requested. A sleeper that does not take the stop view is not woken: the stop takes effect after the wait. Both
/// arguments are valid until the wait is over. (K1)
template <class S>
concept Sleeper = std::invocable<S&, Duration, const StopView&> || std::invocable<S&, Duration>;

namespace detail {

template <class S>
auto sleep_with(S& sleeper, Duration duration, const StopView& stop) {
  if constexpr (std::invocable<S&, Duration, const StopView&>)
    return sleeper(duration, stop);
  else
    return sleeper(duration);
}

/// True for a sleeper that returns nothing: it blocks its thread.
template <class S>
inline constexpr bool blocks =
    std::is_void_v<decltype(sleep_with(std::declval<S&>(), Duration{}, std::declval<const StopView&>()))>;

}  // namespace detail

}  // namespace encore ENCORE_BUILD
