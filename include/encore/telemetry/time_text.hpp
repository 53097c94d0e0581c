// Calendar times as exact RFC 3339 text.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/decimal.hpp>
#include <encore/detail/seconds_text.hpp>
#include <encore/duration.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

/// Appends a calendar time in UTC with nanoseconds (RFC 3339): 2024-05-17T08:30:00.000000001Z. All texts have the same length and
/// sort by time.
inline void append_timestamp(std::string& out, WallTime time) {
  const auto count = time.time_since_epoch().count();
  constexpr auto per_second = static_cast<std::int64_t>(detail::nanoseconds_per_second);
  // Not std::chrono::floor: the first second would begin before the range of WallTime.
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

/// Reads an RFC 3339 time with any offset, truncated to nanoseconds; a space may replace the T. Empty for any other text, and for times
/// before 1678 or after 2261. Pure.
///   read_timestamp("2024-05-17T10:30:00.5+02:00")  // 08:30:00.500 in UTC
inline std::optional<WallTime> read_timestamp(std::string_view text) noexcept {
  auto valid = true;
  char mark = '\0';  // the character after the last number
  const auto take_mark = [&](std::string_view marks) {
    valid = valid && !text.empty() && marks.find(text.front()) != marks.npos;
    if (!valid) return;
    mark = text.front();
    text.remove_prefix(1);
  };
  const auto number = [&](std::size_t digits, int max) {
    int value = 0;
    valid = valid && detail::take_number(text, digits, value) && value <= max;
    return value;
  };
  const auto number_before = [&](std::string_view marks, std::size_t digits, int max) {
    const auto value = number(digits, max);
    take_mark(marks);
    return value;
  };
  const std::chrono::year year{number_before("-", 4, 2261)};
  const std::chrono::month month{static_cast<unsigned>(number_before("-", 2, 12))};
  const std::chrono::day day{static_cast<unsigned>(number_before("Tt ", 2, 31))};
  const std::chrono::hours hour{number_before(":", 2, 23)};
  const std::chrono::minutes minute{number_before(":", 2, 59)};
  const std::chrono::seconds second{number_before(".Zz+-", 2, 60)};  // 60: a leap second
  Duration fraction{};
  if (valid && mark == '.') {
    const detail::Decimal part{.fraction = detail::take_digits(text)};
    valid = !part.fraction.empty();
    constexpr auto second_ns = detail::nanoseconds_per_second;
    fraction = Duration{static_cast<Duration::rep>(detail::scaled(part, second_ns, second_ns).amount)};
    take_mark("Zz+-");
  }
  std::chrono::minutes offset{};
  if (valid && mark != 'Z' && mark != 'z') {
    const auto east = mark == '+';
    offset = std::chrono::hours{number_before(":", 2, 23)};
    offset += std::chrono::minutes{number(2, 59)};
    if (!east) offset = -offset;
  }
  const auto date = year / month / day;
  if (!valid || !text.empty() || !date.ok() || int{year} < 1678) return std::nullopt;
  return WallTime{std::chrono::sys_days{date}} + hour + minute + second + fraction - offset;
}

}  // namespace encore ENCORE_BUILD
