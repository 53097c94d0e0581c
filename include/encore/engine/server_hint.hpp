// What the server said about when to come back: read from an exception or a result that carries it.
#pragma once
#include <encore/clock.hpp>
#include <encore/duration.hpp>
#include <encore/option.hpp>

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

namespace detail {

inline constexpr auto no_hint = std::optional<Duration>{};

// A hint as a wait: a duration as it is (rounded up), a point in time from the policy's calendar. Whatever is not a number,
// negative or past is no hint. (E3)
template <class Rep, class Period>
std::optional<Duration> as_wait(std::chrono::duration<Rep, Period> hint, const Now&) noexcept {
  if (!is_number(hint) || hint < hint.zero()) return no_hint;
  return to_duration(hint);
}
template <class D>
std::optional<Duration> as_wait(std::chrono::sys_time<D> when, const Now& now) {
  const Duration from = now.wall().time_since_epoch(), to = to_duration(when.time_since_epoch());
  if (!is_number(when.time_since_epoch()) || to < from) return no_hint;
  return time_between(TimePoint{from}, TimePoint{to});
}
template <class T>
std::optional<Duration> as_wait(const std::optional<T>& hint, const Now& now) {
  return hint ? as_wait(*hint, now) : no_hint;
}

template <class T>
concept AsWait = requires(const T& hint, const Now& now) { as_wait(hint, now); };

}  // namespace detail

/// The customisation point of server hints: an exception or a result carries one if it has a member `retry_after()`, or if a
/// function `retry_after(const T&)` is found beside its type. It returns a duration of any unit, a `sys_time`, or an optional
/// of either; empty, negative, past and NaN mean "no hint", zero means "now". (E3, E5)
template <class T>
concept CarriesHint = requires(const T& carrier) {
  { carrier.retry_after() } -> detail::AsWait;
} || requires(const T& carrier) {
  { retry_after(carrier) } -> detail::AsWait;
};

/// The hint that `carrier` carries, as a wait from now on.
template <CarriesHint T>
std::optional<Duration> hint_of(const T& carrier, const Now& now) {
  if constexpr (requires {
                  { carrier.retry_after() } -> detail::AsWait;
                })
    return detail::as_wait(carrier.retry_after(), now);
  else
    return detail::as_wait(retry_after(carrier), now);
}

/// No source beside the customisation point.
struct HintFromCarrier {
  using role = encore::role::HintSource;
};

}  // namespace encore ENCORE_BUILD
