// Exact amounts of tokens.
#pragma once
#include <encore/detail/attributes.hpp>

#include <compare>
#include <cstdint>

namespace encore ENCORE_BUILD::detail {

/// A number of tokens in whole millionths, so that a million deposits of 0.1 are 100,000 and not 100,000.00000133. (H4) gRPC's
/// three decimals and a share of a hundredth of a percent are exact; finer fractions are rounded down.
class Tokens {
 public:
  constexpr Tokens() = default;
  constexpr Tokens(int whole) noexcept : millionths_{whole * std::int64_t{1'000'000}} {}
  /// From 0 to 2'147'483'647.
  constexpr explicit Tokens(double number) noexcept
      : millionths_{static_cast<std::int64_t>(number * 1e6 + 1e-3)} {}  // 0.29 * 1e6 is 289'999.99999999994
  static constexpr Tokens smallest() noexcept { return Tokens{}.plus(1); }

  constexpr std::int64_t millionths() const noexcept { return millionths_; }
  constexpr double number() const noexcept { return static_cast<double>(millionths_) / 1e6; }
  constexpr Tokens half() const noexcept { return Tokens{}.plus(millionths_ / 2); }

  friend constexpr Tokens operator+(Tokens a, Tokens b) noexcept { return a.plus(b.millionths_); }
  friend constexpr Tokens operator-(Tokens a, Tokens b) noexcept { return a.plus(-b.millionths_); }
  friend constexpr auto operator<=>(Tokens, Tokens) noexcept = default;

 private:
  constexpr Tokens plus(std::int64_t millionths) const noexcept {
    auto sum = *this;
    sum.millionths_ += millionths;
    return sum;
  }
  std::int64_t millionths_ = 0;
};
static_assert(Tokens{0.001} + Tokens{0.999} == Tokens{1});
static_assert(Tokens{0.29}.number() == 0.29);

}  // namespace ENCORE_BUILD::detail
