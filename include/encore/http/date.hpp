// HTTP dates, in the three forms of RFC 9110, 5.6.7.
// Every function here is pure and thread-safe, allocates nothing, and accepts any text without throwing. (E6)
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/decimal.hpp>
#include <encore/duration.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

namespace encore ENCORE_BUILD::http {

namespace detail {

using encore::detail::take_number;

/// The text without the optional spaces and tabs around a header's value (RFC 9110, 5.6.3).
constexpr std::string_view trimmed(std::string_view text) noexcept {
  constexpr auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

constexpr bool same_letter(char left, char right) noexcept {
  constexpr auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return lower(left) == lower(right);
}

/// Consumes one of the names, in any letter case, and sets `place` to its position, counted from 1.
template <std::size_t Count>
constexpr bool take_name(std::string_view& text, const std::array<std::string_view, Count>& names,
                         int& place) noexcept {
  place = 0;
  for (const std::string_view name : names) {
    ++place;
    std::size_t same = 0;
    while (same < name.size() && same < text.size() && same_letter(text[same], name[same])) ++same;
    if (same < name.size()) continue;
    text.remove_prefix(same);
    return true;
  }
  return false;
}

struct DateFields {
  int weekday = 0, year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
};

/// Consumes one field of a date. The letters are those of `strftime`.
constexpr bool take_field(std::string_view& text, char letter, DateFields& date) noexcept {
  constexpr std::array<std::string_view, 7> weekdays{"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                     "Friday", "Saturday", "Sunday"};
  constexpr std::array<std::string_view, 7> short_weekdays{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
  constexpr std::array<std::string_view, 12> short_months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const bool padded = letter == 'e' && text.starts_with(' ');
  if (padded) text.remove_prefix(1);
  switch (letter) {
    case 'A': return take_name(text, weekdays, date.weekday);
    case 'a': return take_name(text, short_weekdays, date.weekday);
    case 'b': return take_name(text, short_months, date.month);
    case 'd': return take_number(text, 2, date.day);
    case 'e': return take_number(text, padded ? 1 : 2, date.day);
    case 'Y': return take_number(text, 4, date.year);
    case 'y': return take_number(text, 2, date.year);
    case 'H': return take_number(text, 2, date.hour);
    case 'M': return take_number(text, 2, date.minute);
    case 'S': return take_number(text, 2, date.second);
    default: return false;
  }
}

/// The fields of a text that matches `form` exactly; nothing for any other text.
constexpr std::optional<DateFields> fields_of(std::string_view text, std::string_view form) noexcept {
  DateFields date;
  for (; !form.empty(); form.remove_prefix(1)) {
    if (form.front() == '%') {
      form.remove_prefix(1);
      if (!take_field(text, form.front(), date)) return std::nullopt;
    } else {
      if (text.empty() || !same_letter(text.front(), form.front())) return std::nullopt;
      text.remove_prefix(1);
    }
  }
  return text.empty() ? std::optional{date} : std::nullopt;
}

/// The time that the fields name; nothing if the calendar or the clock has no such time. Second 60, a leap second, is the one
/// after 59.
constexpr std::optional<std::chrono::sys_seconds> second_of(const DateFields& date) noexcept {
  using namespace std::chrono;
  const year_month_day on{year{date.year}, month{static_cast<unsigned>(date.month)},
                          day{static_cast<unsigned>(date.day)}};
  if (!on.ok() || date.hour > 23 || date.minute > 59 || date.second > 60) return std::nullopt;
  return sys_days{on} + hours{date.hour} + minutes{date.minute} + seconds{date.second};
}

/// The latest year with these two digits that puts the date at most 50 years after `reference` (RFC 9110, 5.6.7).
constexpr int full_year(const DateFields& date, std::chrono::sys_seconds reference) noexcept {
  using namespace std::chrono;
  const sys_days midnight = floor<days>(reference);
  const year_month_day today{midnight};
  const seconds time = hours{date.hour} + minutes{date.minute} + seconds{date.second};
  const auto over_50_years_ahead = [&](int full) {
    const year_month_day day_50_years_before{year{full - 50}, month{static_cast<unsigned>(date.month)},
                                             day{static_cast<unsigned>(date.day)}};
    return day_50_years_before > today || (day_50_years_before == today && time > reference - midnight);
  };
  int full = (static_cast<int>(today.year()) / 100 + 1) * 100 + date.year;
  while (over_50_years_ahead(full)) full -= 100;
  return full;
}

constexpr std::optional<std::chrono::sys_seconds> http_date(std::string_view text,
                                                            std::chrono::sys_seconds reference) noexcept {
  text = trimmed(text);
  if (const auto imf_fixdate = fields_of(text, "%a, %d %b %Y %H:%M:%S GMT")) return second_of(*imf_fixdate);
  if (const auto asctime = fields_of(text, "%a %b %e %H:%M:%S %Y")) return second_of(*asctime);
  auto rfc_850 = fields_of(text, "%A, %d-%b-%y %H:%M:%S GMT");
  if (!rfc_850) return std::nullopt;
  rfc_850->year = full_year(*rfc_850, reference);
  return second_of(*rfc_850);
}

/// A point in time in two parts: whole seconds cover all of HTTP's years, nanoseconds only 1678 to 2261.
struct Moment {
  std::chrono::sys_seconds second;
  Duration rest{};  // more than -1 s, less than 1 s
};

constexpr Moment moment(WallTime time) noexcept {
  const auto second = std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch());
  return {std::chrono::sys_seconds{second}, time.time_since_epoch() - second};
}

}  // namespace detail

/// The time that an HTTP date names, in any of the three forms of RFC 9110, 5.6.7 and any letter case; nothing for any other
/// text. A two-digit year is the latest such year that is at most 50 years after `now`. The weekday must be the name of a
/// weekday, but need not match the date: servers get it wrong, and the date is clear without it. Times outside the range of
/// `WallTime` are clamped to it. Pure; thread-safe.
///   parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT", now)   // IMF-fixdate
///   parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT", now)  // RFC 850
///   parse_http_date("Sun Nov  6 08:49:37 1994", now)        // asctime
[[nodiscard]] constexpr std::optional<WallTime> parse_http_date(std::string_view text,
                                                                WallTime now) noexcept {
  const auto date = detail::http_date(text, detail::moment(now).second);
  if (!date) return std::nullopt;
  if (*date > detail::moment((WallTime::max)()).second) return (WallTime::max)();
  if (*date < detail::moment((WallTime::min)()).second) return (WallTime::min)();
  return WallTime{*date};
}

}  // namespace ENCORE_BUILD::http
