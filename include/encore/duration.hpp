// Durations and points in time, and conversions between them that never overflow.
#pragma once
#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>
#include <type_traits>
#include <utility>

namespace encore {

/// The one unit of time inside the library: signed nanoseconds, about ±292 years.
using Duration = std::chrono::nanoseconds;

/// A point in time on the policy's clock. Only differences are meaningful. (D1)
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

/// A calendar time: for HTTP dates, log timestamps and saved state, never for waits. (D1)
using WallTime = std::chrono::sys_time<Duration>;

/// A number of seconds as a `Duration`: `whole_seconds(60)`.
constexpr Duration whole_seconds(int seconds) noexcept {
  return Duration{Duration::rep{seconds} * 1'000'000'000};
}

/// The maximum wait, whatever the configuration: 8,760 hours. (C7)
inline constexpr Duration max_wait = whole_seconds(8'760 * 3'600);

namespace shared {
// The number types supported for durations. How others, such as 128-bit integers and classes, round is unknown.
template <class Rep>
inline constexpr bool is_whole_count = std::is_integral_v<Rep> && sizeof(Rep) <= sizeof(std::int64_t);
template <class Rep>
inline constexpr bool is_real_count =
    std::is_floating_point_v<Rep> && std::numeric_limits<Rep>::is_specialized &&
    std::numeric_limits<Rep>::digits <= std::numeric_limits<long double>::digits;

template <class Rep>
constexpr void check_count() noexcept {
  static_assert(is_whole_count<Rep> || is_real_count<Rep>,
                "encore takes a duration that is counted in a built-in number of at most 64 bits, or in a "
                "float, double or long double: convert this one before");
}

template <class>
inline constexpr bool is_whole_unit = false;
template <class Rep, class Period>
inline constexpr bool is_whole_unit<std::chrono::duration<Rep, Period>> =
    is_whole_count<Rep> && std::ratio_divide<Period, std::nano>::den == 1;
}  // namespace shared

/// False for NaN, which only a floating-point duration can be.
template <class Rep, class Period>
constexpr bool is_number(std::chrono::duration<Rep, Period> duration) noexcept {
  shared::check_count<Rep>();
  return duration.count() == duration.count();
}

/// Any duration in nanoseconds: rounded up, and clamped to the range instead of overflowing. NaN becomes zero. A floating-point
/// value that differs from a whole number of nanoseconds only by its type's precision becomes that number.
///   to_duration(0.4s) == 400ms;  to_duration(1.5ns) == 2ns;  to_duration(hours::max()) == Duration::max()
template <class Rep, class Period>
constexpr Duration to_duration(std::chrono::duration<Rep, Period> duration) noexcept {
  shared::check_count<Rep>();
  using Limits = std::numeric_limits<Duration::rep>;
  using Tick = std::ratio_divide<Period, std::nano>;
  if constexpr (std::is_floating_point_v<Rep>) {
    const long double exact = static_cast<long double>(duration.count()) *
                              static_cast<long double>(Tick::num) / static_cast<long double>(Tick::den);
    if (!(exact > static_cast<long double>((Limits::min)())))
      return exact == exact ? (Duration::min)() : Duration::zero();
    if (exact >= static_cast<long double>((Limits::max)())) return (Duration::max)();
    const auto whole = static_cast<Duration::rep>(exact);
    const long double part = exact - static_cast<long double>(whole);
    // The rounding error of type and arithmetic, at most one half: in a double, 16.1 s are 16,100,000,000.000001 ns.
    const long double share =
        (exact < 0 ? -exact : exact) * 2 * static_cast<long double>(std::numeric_limits<Rep>::epsilon());
    const long double off = share < 0.5L ? share : 0.5L;
    if (part > off) return Duration{whole + 1};
    return Duration{part < off - 1.0L ? whole - 1 : whole};
  } else {
    constexpr auto times = static_cast<std::uintmax_t>(Tick::num),
                   per = static_cast<std::uintmax_t>(Tick::den);
    constexpr auto most = static_cast<std::uintmax_t>((Limits::max)());
    static_assert(per <= (std::numeric_limits<std::uintmax_t>::max)() / times,
                  "this period is too odd a fraction");
    const bool negative = duration.count() < Rep{};
    const auto count = static_cast<std::uintmax_t>(duration.count());
    const auto ticks = negative ? 0 - count : count;
    if (ticks / per > most / times) return negative ? (Duration::min)() : (Duration::max)();
    const auto part = ticks % per * times;
    const auto nanoseconds = ticks / per * times + part / per + (!negative && part % per != 0 ? 1 : 0);
    if (nanoseconds > most) return negative ? (Duration::min)() : (Duration::max)();
    return Duration{negative ? -static_cast<Duration::rep>(nanoseconds)
                             : static_cast<Duration::rep>(nanoseconds)};
  }
}
constexpr Duration to_duration(Duration duration) noexcept { return duration; }

/// The time in whole units, for an interface that takes 0 as "no limit": rounded up, at least one unit, and at most the unit's
/// maximum. (D6)
///   at_least_one<std::chrono::milliseconds>(1'000'001ns) == 2ms;  at_least_one<std::chrono::seconds>(0ns) == 1s
template <class Unit>
constexpr Unit at_least_one(Duration time) noexcept {
  static_assert(shared::is_whole_unit<Unit>,
                "a timeout is asked for in whole units, of a nanosecond or more, that are counted in a "
                "built-in integer type: std::chrono::milliseconds, for example");
  const auto units =
      std::chrono::ceil<std::chrono::duration<std::int64_t, typename Unit::period>>(time).count();
  if (units < 1) return Unit{1};
  if (std::cmp_greater(units, (Unit::max)().count())) return (Unit::max)();
  return Unit{static_cast<typename Unit::rep>(units)};
}

/// Rounds a computed number of nanoseconds, in [0, 2^63), to the nearest duration.
constexpr Duration nearest_duration(double nanoseconds) noexcept {
  // Adds the largest double below 0.5: adding 0.5 itself would round up values just below it, and odd numbers over 2^52.
  return Duration{static_cast<Duration::rep>(nanoseconds + 0x1.fffffffffffffp-2)};
}

/// Clamps `wait` to at least `floor` and at most `cap`; a cap below the floor wins. (C2)
constexpr Duration clamp(Duration wait, Duration floor, Duration cap) noexcept {
  const Duration raised = wait.count() < floor.count() ? floor : wait;
  return raised.count() < cap.count() ? raised : cap;
}

/// The time from `begin` to `end`: clamped to the range, and never negative, even if the clock was set back. (C7, D7)
constexpr Duration time_between(TimePoint begin, TimePoint end) noexcept {
  const auto from = begin.time_since_epoch().count();
  const auto to = end.time_since_epoch().count();
  if (to <= from) return Duration::zero();
  if (from < 0 && to > (std::numeric_limits<Duration::rep>::max)() + from) return (Duration::max)();
  return Duration{to - from};
}

/// The sum of two non-negative durations, at most `Duration::max()`. (C7)
constexpr Duration sum_of(Duration some, Duration more) noexcept {
  return more.count() > (Duration::max)().count() - some.count() ? (Duration::max)()
                                                                 : Duration{some.count() + more.count()};
}

// These compare counts, because the comparison operators of std::chrono are slow to compile. (P11)

/// The shorter of two durations.
constexpr Duration shorter_of(Duration first, Duration second) noexcept {
  return second.count() < first.count() ? second : first;
}
/// `whole - part`, at least 0; neither may be negative.
constexpr Duration left_of(Duration whole, Duration part) noexcept {
  return part.count() < whole.count() ? Duration{whole.count() - part.count()} : Duration::zero();
}

/// The earlier of two points in time.
constexpr TimePoint earlier_of(TimePoint first, TimePoint second) noexcept {
  return second.time_since_epoch().count() < first.time_since_epoch().count() ? second : first;
}

/// `start + span` without overflow. (C7)
constexpr TimePoint later(TimePoint start, Duration span) noexcept {
  using Limits = std::numeric_limits<Duration::rep>;
  const auto from = start.time_since_epoch().count();
  const auto more = span.count();
  if (more > 0 && from > (Limits::max)() - more) return (TimePoint::max)();
  if (more < 0 && from < (Limits::min)() - more) return (TimePoint::min)();
  return TimePoint{Duration{from + more}};
}

/// The same for calendar times; the calendar may have been set back in between.
constexpr Duration time_between(WallTime begin, WallTime end) noexcept {
  return time_between(TimePoint{begin.time_since_epoch()}, TimePoint{end.time_since_epoch()});
}
constexpr WallTime later(WallTime start, Duration span) noexcept {
  return WallTime{later(TimePoint{start.time_since_epoch()}, span).time_since_epoch()};
}

}  // namespace encore
