// Durations and points in time as text that loses nothing: seconds as a decimal number, the calendar as RFC 3339.
#pragma once
#include <encore/duration.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace encore {

namespace detail {

/// The number, with zeros in front of it until it has so many digits.
inline void append_digits(std::string& out, std::uint64_t number, std::size_t digits) {
  const auto text = std::to_string(number);
  if (text.size() < digits) out.append(digits - text.size(), '0');
  out += text;
}

inline constexpr std::uint64_t nanoseconds_per_second = 1'000'000'000;

}  // namespace detail

/// Appends a duration in seconds, exact to the nanosecond and no longer than that takes: a number in JSON too.
///   250ms: 0.25    2s: 2    1ns: 0.000000001    -1500ms: -1.5
inline void append_seconds(std::string& out, Duration duration) {
  const auto count = duration.count();
  if (count < 0) out += '-';
  const auto bits = static_cast<std::uint64_t>(count);
  const auto magnitude = count < 0 ? 0 - bits : bits;  // the least value has no positive counterpart
  out += std::to_string(magnitude / detail::nanoseconds_per_second);
  const auto fraction = magnitude % detail::nanoseconds_per_second;
  if (fraction == 0) return;
  out += '.';
  detail::append_digits(out, fraction, 9);
  out.erase(out.find_last_not_of('0') + 1);
}

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
