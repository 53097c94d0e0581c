// Durations and points in time, and the conversions between them that never overflow.
#pragma once
#include <chrono>
#include <limits>
#include <ratio>
#include <type_traits>

namespace encore {

/// The one unit of time inside the library: signed nanoseconds, about ±292 years.
using Duration = std::chrono::nanoseconds;

/// A point on the policy's clock. Only differences mean anything. (D1)
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

/// A point on the calendar: for HTTP dates, log stamps and saved state, never for waits. (D1)
using WallTime = std::chrono::sys_time<Duration>;

/// No wait is longer than this, whatever was configured. (C7)
inline constexpr Duration longest_wait = std::chrono::hours{8'760};

/// True for a duration that is a number: only a floating-point one can fail to be.
template <class Rep, class Period>
constexpr bool is_number(std::chrono::duration<Rep, Period> duration) noexcept {
  return duration.count() == duration.count();
}

/// Any duration as nanoseconds: rounded up, and held at the ends of the range instead of overflowing. NaN becomes zero.
///   to_duration(0.4s) == 400ms;  to_duration(hours::max()) == Duration::max()
template <class Rep, class Period>
constexpr Duration to_duration(std::chrono::duration<Rep, Period> duration) noexcept {
  using Limits = std::numeric_limits<Duration::rep>;
  if constexpr (std::is_floating_point_v<Rep>) {
    const long double exact = static_cast<long double>(duration.count()) *
                              static_cast<long double>(Period::num) * 1e9L /
                              static_cast<long double>(Period::den);
    if (!(exact > static_cast<long double>(Limits::min())))
      return exact == exact ? Duration::min() : Duration::zero();
    if (exact >= static_cast<long double>(Limits::max())) return Duration::max();
    const auto whole = static_cast<Duration::rep>(exact);
    const bool round_up =
        static_cast<long double>(whole) < exact && exact - static_cast<long double>(whole) > 1e-6L;
    return Duration{round_up ? whole + 1 : whole};
  } else if constexpr (std::ratio_less_v<Period, std::nano>) {
    return std::chrono::ceil<Duration>(duration);
  } else {
    using Wide = std::chrono::duration<std::intmax_t, Period>;
    constexpr auto most = std::chrono::duration_cast<Wide>(Duration::max());
    if constexpr (std::is_signed_v<Rep>) {
      if (Wide{static_cast<std::intmax_t>(duration.count())} < -most) return Duration::min();
    }
    if (static_cast<std::uintmax_t>(duration.count() < Rep{} ? Rep{} : duration.count()) >
        static_cast<std::uintmax_t>(most.count()))
      return Duration::max();
    return std::chrono::ceil<Duration>(Wide{static_cast<std::intmax_t>(duration.count())});
  }
}

/// The time from `begin` to `end`: held at the ends of the range, and never negative, whatever the clock did. (C7, D7)
constexpr Duration time_between(TimePoint begin, TimePoint end) noexcept {
  if (end <= begin) return Duration::zero();
  const auto from = begin.time_since_epoch().count();
  const auto to = end.time_since_epoch().count();
  if (from < 0 && to > std::numeric_limits<Duration::rep>::max() + from) return Duration::max();
  return Duration{to - from};
}

/// `start + span` without overflow. (C7)
constexpr TimePoint later(TimePoint start, Duration span) noexcept {
  if (span > Duration::zero() && start > TimePoint::max() - span) return TimePoint::max();
  return start + span;
}

static_assert(to_duration(std::chrono::duration<double>{0.4}) == std::chrono::milliseconds{400});
static_assert(to_duration(std::chrono::hours::max()) == Duration::max());
static_assert(to_duration(std::chrono::duration<double>{1e30}) == Duration::max());
static_assert(to_duration(std::chrono::duration<long long, std::pico>{1}) == Duration{1});

}  // namespace encore
