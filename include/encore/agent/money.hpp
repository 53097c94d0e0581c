// Exact amounts of money.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/decimal.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/detail/seconds_text.hpp>
#include <encore/duration.hpp>
#include <encore/setting.hpp>

#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

/// An amount of US dollars, exact to a picodollar: a token at 0.0375 USD a million costs 37,500 of them. From 0 to about 9.2
/// million dollars; sums and differences are clamped to that range, so no total wraps or drifts. A regular value. (H7)
class Money {
 public:
  constexpr Money() noexcept = default;
  /// Clamped to the range.
  static constexpr Money of_picodollars(std::uint64_t amount) noexcept {
    return Money{amount < max_picodollars ? static_cast<std::int64_t>(amount) : (max)().picodollars_};
  }
  static constexpr Money(max)() noexcept { return Money{static_cast<std::int64_t>(max_picodollars)}; }

  constexpr std::int64_t picodollars() const noexcept { return picodollars_; }

  friend constexpr auto operator<=>(Money, Money) noexcept = default;
  friend constexpr Money operator+(Money a, Money b) noexcept {
    return a > (max)() - b ? (max)() : Money{a.picodollars_ + b.picodollars_};
  }
  /// The rest of `a` after `b` is taken from it; zero if `b` is more.
  friend constexpr Money operator-(Money a, Money b) noexcept {
    return a < b ? Money{} : Money{a.picodollars_ - b.picodollars_};
  }

 private:
  static constexpr auto max_picodollars =
      static_cast<std::uint64_t>((std::numeric_limits<std::int64_t>::max)());
  constexpr explicit Money(std::int64_t picodollars) noexcept : picodollars_{picodollars} {}
  std::int64_t picodollars_ = 0;
};

namespace detail {

// Not constexpr on purpose, as in setting.hpp.
[[noreturn]] inline void the_amount_is_too_large(std::string_view field, std::string_view value) {
  refuse_setting(field, value, "is invalid: it must be at most 9223372 USD");
}
[[noreturn]] inline void the_text_is_not_an_amount(std::string_view field, std::string_view text) {
  refuse_setting(field, in_quotes(text),
                 "is invalid: it must be an amount in dollars such as 0.0031, with at most 12 decimals");
}

inline constexpr std::uint64_t picodollars_per_dollar = 1'000'000'000'000;
inline constexpr std::uint64_t max_dollars = 9'223'372;

template <std::integral Whole>
constexpr Money read_usd(std::string_view field, Whole dollars) {
  if constexpr (std::signed_integral<Whole>) {
    if (dollars < 0) the_setting_is_negative(field, static_cast<long long>(dollars));
  }
  if (static_cast<std::uintmax_t>(dollars) > max_dollars)
    the_amount_is_too_large(field, std::to_string(dollars));
  return Money::of_picodollars(static_cast<std::uint64_t>(dollars) * picodollars_per_dollar);
}

constexpr Money read_usd(std::string_view field, double dollars) {
  if (!(dollars >= 0.0 && dollars <= (std::numeric_limits<double>::max)()))
    the_setting_is_negative_or_not_finite(field, dollars);
  if (dollars > static_cast<double>(max_dollars)) the_amount_is_too_large(field, std::to_string(dollars));
  // The largest number below one half rounds to nearest; one half itself would round up an amount that is one bit below a half.
  return Money::of_picodollars(static_cast<std::uint64_t>(
      dollars * static_cast<double>(picodollars_per_dollar) + 0x1.fffffffffffffp-2));
}

constexpr Money read_usd(std::string_view field, std::string_view text) {
  auto rest = text;
  Decimal number;
  if (!take_decimal(rest, number) || !rest.empty() || number.fraction.size() > 12)
    the_text_is_not_an_amount(field, text);
  const auto read =
      scaled(number, picodollars_per_dollar, static_cast<std::uint64_t>((Money::max)().picodollars()));
  if (read.over) the_amount_is_too_large(field, text);
  return Money::of_picodollars(read.amount);
}

}  // namespace detail

/// An amount in US dollars: `usd(2)` and `usd("0.0031")` exactly, `usd(0.0031)` to the nearest picodollar, for costs that arrive
/// as a double. Throws `std::invalid_argument` for a negative, NaN or infinite amount, one above 9,223,372, and a text that is
/// not a decimal number; in a constant that is a compile error. (C3, H7)
template <class Number>
  requires(detail::is_whole_count<Number> || std::floating_point<Number>) && (!std::same_as<Number, bool>)
[[nodiscard]] constexpr Money usd(Number dollars) {
  if constexpr (std::floating_point<Number>)
    return detail::read_usd("usd", static_cast<double>(dollars));
  else
    return detail::read_usd("usd", dollars);
}
[[nodiscard]] constexpr Money usd(std::string_view dollars) { return detail::read_usd("usd", dollars); }

/// The cost of this many tokens at a price for a million of them, rounded up to a picodollar. Throws `std::invalid_argument` for
/// a negative number; a number with a fraction does not compile.
///   cost_of_tokens(1'234, usd("2.50")) == usd("0.003085")
template <class Number>
  requires(detail::is_whole_count<Number> && !std::same_as<Number, bool>)
[[nodiscard]] constexpr Money cost_of_tokens(Number number, Money per_million) {
  if constexpr (std::signed_integral<Number>) {
    if (number < 0) the_setting_is_negative("tokens", static_cast<long long>(number));
  }
  const auto tokens = static_cast<std::uint64_t>(number);
  constexpr std::uint64_t million = 1'000'000;
  const auto price = static_cast<std::uint64_t>(per_million.picodollars());
  const auto whole = price / million;
  const auto part = price % million;
  if (whole != 0 && tokens > static_cast<std::uint64_t>((Money::max)().picodollars()) / whole)
    return (Money::max)();
  return Money::of_picodollars(whole * tokens) +
         Money::of_picodollars(part * (tokens / million) +
                               (part * (tokens % million) + million - 1) / million);
}

/// The amount in dollars, exact and readable by `usd`: "2", "0.0031". Without the unit.
inline std::string to_string(Money money) {
  std::string text;
  detail::append_decimal(text, static_cast<std::uint64_t>(money.picodollars()),
                         detail::picodollars_per_dollar);
  return text;
}

static_assert(usd("0.1") + usd("0.2") == usd("0.3"));

}  // namespace encore ENCORE_BUILD
