// Points in time as text that loses nothing: the calendar as RFC 3339.
#pragma once
#include <encore/duration.hpp>
#include <encore/seconds_text.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace encore {

/// Appends a calendar time in UTC with nanoseconds (RFC 3339): 2024-05-17T08:30:00.000000001Z. All have the same length, so
/// that they sort as text.
inline void append_timestamp(std::string& out, WallTime time) {
  const auto count = time.time_since_epoch().count();
  constexpr auto per_second = static_cast<std::int64_t>(detail::nanoseconds_per_second);
  // Not by floor: the first second of the range begins before the range does.
  const auto before = count % per_second < 0;
  const auto fraction = count % per_second + (before ? per_second : 0);
  const std::chrono::sys_seconds second{std::chrono::seconds{count / per_second - (before ? 1 : 0)}};
  const auto day = std::chrono::floor<std::chrono::days>(second);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{second - day};

  const auto put = [&](auto number, std::size_t digits, char after) {
    detail::append_digits(out, static_cast<std::uint64_t>(number), digits);
    out += after;
  };
  put(int{date.year()}, 4, '-');  // 1677 to 2262
  put(unsigned{date.month()}, 2, '-');
  put(unsigned{date.day()}, 2, 'T');
  put(clock.hours().count(), 2, ':');
  put(clock.minutes().count(), 2, ':');
  put(clock.seconds().count(), 2, '.');
  put(fraction, 9, 'Z');
}

}  // namespace encore
