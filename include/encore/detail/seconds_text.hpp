// Durations as exact text: seconds as a decimal number, or with a unit.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/decimal.hpp>
#include <encore/duration.hpp>

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace encore ENCORE_BUILD {

namespace detail {

/// The number, padded with zeros to at least `digits` digits.
inline void append_digits(std::string& out, std::uint64_t number, std::size_t digits) {
  const auto text = std::to_string(number);
  if (text.size() < digits) out.append(digits - text.size(), '0');
  out += text;
}

/// `parts / per_whole` as an exact decimal number without trailing zeros. `per_whole` is a power of ten.
inline void append_decimal(std::string& out, std::uint64_t parts, std::uint64_t per_whole) {
  out += std::to_string(parts / per_whole);
  if (parts % per_whole == 0) return;
  const auto point = out.size();
  out +=
      std::to_string(per_whole + parts % per_whole);  // a leading one keeps the zeros; it becomes the point
  out[point] = '.';
  out.erase(out.find_last_not_of('0') + 1);
}

inline constexpr std::uint64_t nanoseconds_per_second = 1'000'000'000;

/// A duration for people: exact, in the largest unit that fits. `250ms`, `1.5s`, `-20us`, `0s`.
inline std::string duration_text(Duration duration) {
  struct Unit {
    std::uint64_t nanoseconds;
    std::string_view name;
  };
  constexpr Unit units[]{{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}, {1, "ns"}};
  if (duration == Duration::zero()) return "0s";
  const auto count = static_cast<std::uint64_t>(duration.count());
  const auto magnitude = duration < Duration::zero() ? std::uint64_t{0} - count : count;
  const Unit* unit = units;
  while (magnitude < unit->nanoseconds) ++unit;
  std::string text{duration < Duration::zero() ? "-" : ""};
  append_decimal(text, magnitude, unit->nanoseconds);
  return text.append(unit->name);
}

}  // namespace detail

/// Appends a duration in seconds, exact to the nanosecond, without trailing zeros. The text is a valid JSON number.
///   250ms: 0.25    2s: 2    1ns: 0.000000001    -1500ms: -1.5
inline void append_seconds(std::string& out, Duration duration) {
  const auto count = duration.count();
  if (count < 0) out += '-';
  const auto bits = static_cast<std::uint64_t>(count);
  const auto magnitude = count < 0 ? 0 - bits : bits;  // the minimum has no positive counterpart
  detail::append_decimal(out, magnitude, detail::nanoseconds_per_second);
}

/// Reads a decimal number of `unit`s, as JSON writes numbers: truncated to nanoseconds and clamped to the range of Duration. Empty for
/// any other text. Pure.
///   read_duration("0.25") == 250ms;  read_duration("1.5e3", 1us) == 1500us
inline std::optional<Duration> read_duration(std::string_view text,
                                             Duration unit = std::chrono::seconds{1}) noexcept {
  const auto negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  detail::Decimal number;
  if (!detail::take_decimal(text, number)) return std::nullopt;
  int exponent = 0;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+')) {
      text.remove_prefix(1);
      if (text.starts_with('-')) return std::nullopt;
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (error == std::errc::result_out_of_range) exponent = text.starts_with('-') ? -100 : 100;
    if (error == std::errc::invalid_argument) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  if (!text.empty()) return std::nullopt;

  const auto amount = detail::scaled(number, static_cast<std::uint64_t>(unit.count()),
                                     static_cast<std::uint64_t>((Duration::max)().count()), exponent)
                          .amount;
  const auto nanoseconds = static_cast<std::int64_t>(amount);
  return Duration{negative ? -nanoseconds : nanoseconds};
}

}  // namespace encore ENCORE_BUILD
