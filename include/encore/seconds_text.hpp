// Durations as text that loses nothing: seconds as a decimal number.
#pragma once
#include <encore/duration.hpp>

#include <cstddef>
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

}  // namespace encore
