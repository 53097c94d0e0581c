// Parses decimal numbers exactly, clamped to a range.
#pragma once
#include <encore/detail/attributes.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace encore ENCORE_BUILD::detail {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Takes a number of exactly `digits` digits from the front of the text.
constexpr bool take_number(std::string_view& text, std::size_t digits, int& number) noexcept {
  if (text.size() < digits) return false;
  number = 0;
  for (; digits > 0; --digits, text.remove_prefix(1)) {
    if (!is_digit(text.front())) return false;
    number = number * 10 + (text.front() - '0');
  }
  return true;
}

/// Takes all leading digits of the text.
constexpr std::string_view take_digits(std::string_view& text) noexcept {
  std::size_t size = 0;
  while (size < text.size() && is_digit(text[size])) ++size;
  const auto taken = text.substr(0, size);
  text.remove_prefix(size);
  return taken;
}

/// The digits of an unsigned number before and after its decimal point.
struct Decimal {
  std::string_view whole{};
  std::string_view fraction{};
};

/// Takes a decimal number from the front of the text. A point needs digits on both sides.
constexpr bool take_decimal(std::string_view& text, Decimal& number) noexcept {
  number = {.whole = take_digits(text)};
  if (number.whole.empty() || !text.starts_with('.')) return !number.whole.empty();
  text.remove_prefix(1);
  number.fraction = take_digits(text);
  return !number.fraction.empty();
}

/// A decimal number as a whole number of a smaller unit.
struct Scaled {
  std::uint64_t amount = 0;
  bool over = false;  ///< it was clamped to the maximum
  bool cut = false;   ///< it was rounded down
};

/// `number * 10^exponent * unit`, rounded down, at most `max`. `unit` is a power of ten; `max` is at most 2^63.
constexpr Scaled scaled(const Decimal& number, std::uint64_t unit, std::uint64_t max,
                        int exponent = 0) noexcept {
  const auto size = static_cast<std::int64_t>(number.whole.size() + number.fraction.size());
  const auto point = static_cast<std::int64_t>(number.whole.size()) + exponent;
  const auto digit = [&](std::int64_t place) -> std::uint64_t {
    if (place < 0 || place >= size) return 0;
    const auto at = static_cast<std::size_t>(place);
    const auto before = number.whole.size();
    return static_cast<std::uint64_t>((at < before ? number.whole[at] : number.fraction[at - before]) - '0');
  };
  Scaled read;
  for (std::int64_t at = 0; at < point && !read.over; ++at) {
    const auto next = digit(at);
    read.over = read.amount > (max - next) / 10;
    read.amount = read.amount * 10 + next;
    if (read.amount == 0 && at >= size) break;
  }
  read.over = read.over || read.amount > max / unit;
  if (read.over) return {.amount = max, .over = true};
  read.amount *= unit;
  auto at = point;
  for (auto place = unit / 10; place > 0 && at < size; place /= 10, ++at) read.amount += digit(at) * place;
  for (; at < size && !read.cut; ++at) read.cut = digit(at) != 0;
  if (read.amount > max) return {.amount = max, .over = true};
  return read;
}

}  // namespace ENCORE_BUILD::detail
