#include "../invalid_setting.hpp"
#include <encore/agent/money.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

namespace {

using encore::cost_of_tokens;
using encore::Money;
using encore::usd;
using encore_tests::is_a_constant;
using encore_tests::refusal_of;

constexpr auto infinity = std::numeric_limits<double>::infinity();
constexpr auto not_a_number = std::numeric_limits<double>::quiet_NaN();

static_assert(Money{} == usd(0));
static_assert(usd(2).picodollars() == 2'000'000'000'000);
static_assert(usd("0.0031").picodollars() == 3'100'000'000);
static_assert(usd(0.0031) == usd("0.0031"));
static_assert(usd(2.5F) == usd("2.5") && usd(2U) == usd("2") && usd(2.0L) == usd(2));
static_assert(usd("0.000000000001").picodollars() == 1);
static_assert(usd(9'223'372).picodollars() == 9'223'372'000'000'000'000);
static_assert(usd("007.50") == usd(7.5));
static_assert(usd(1) < usd("1.000000000001") && usd(3) >= usd("3.0"));

template <class Number>
concept CountsTokens = requires(Number number) { cost_of_tokens(number, Money{}); };
static_assert(CountsTokens<int> && CountsTokens<std::uint64_t> && !CountsTokens<double> &&
                  !CountsTokens<bool>,
              "a number of tokens is whole");

TEST_CASE("a negative number of tokens is invalid, and does not become an enormous cost [H7]", "[money]") {
  CHECK(refusal_of([] { return cost_of_tokens(-1, usd(60)); }) ==
        "encore: tokens = -1 is invalid: it must not be negative");
  CHECK(refusal_of([] { return cost_of_tokens(std::int64_t{-5'000'000'000}, Money{}); }) ==
        "encore: tokens = -5000000000 is invalid: it must not be negative");
}

TEST_CASE("ten dimes are a dollar: money does not drift as doubles do [H7]", "[money]") {
  Money total;
  double drifting = 0;
  for (int i = 0; i < 10; ++i) total = total + usd(0.1), drifting += 0.1;
  CHECK(total == usd(1));
  CHECK(drifting != 1.0);

  Money many;
  for (int i = 0; i < 1'000'000; ++i) many = many + usd("0.0031");
  CHECK(many == usd(3'100));
}

TEST_CASE("a double becomes money rounded to the nearest picodollar", "[money]") {
  CHECK(usd(0.0) == Money{});
  CHECK(usd(-0.0) == Money{});
  CHECK(usd(1e-12).picodollars() == 1);
  CHECK(usd(0.4e-12).picodollars() == 0);
  CHECK(usd(0.6e-12).picodollars() == 1);
  CHECK(usd(std::numeric_limits<double>::denorm_min()) == Money{});
  CHECK(usd(1234.567891234) == usd("1234.567891234"));
  CHECK(usd(9'223'372.0) == usd(9'223'372));
}

TEST_CASE(
    "a negative, NaN, infinite or too large amount is invalid, and the error has its name and value [H7, C3]",
    "[money]") {
  CHECK(refusal_of([] { return usd(-1); }) == "encore: usd = -1 is invalid: it must not be negative");
  CHECK(refusal_of([] { return usd(std::numeric_limits<long long>::min()); }) ==
        "encore: usd = -9223372036854775808 is invalid: it must not be negative");
  CHECK(refusal_of([] { return usd(-0.0031); }) ==
        "encore: usd = -0.0031 is invalid: it must be finite and not negative");
  CHECK(refusal_of([] { return usd(infinity); }) ==
        "encore: usd = inf is invalid: it must be finite and not negative");
  CHECK(refusal_of([] { return usd(not_a_number); }).starts_with("encore: usd = "));
  CHECK(refusal_of([] { return usd(9'223'373); }) ==
        "encore: usd = 9223373 is invalid: it must be at most 9223372 USD");
  CHECK(refusal_of([] { return usd(std::numeric_limits<std::uint64_t>::max()); }) ==
        "encore: usd = 18446744073709551615 is invalid: it must be at most 9223372 USD");
  CHECK(refusal_of([] { return usd(9'223'372.5); }) ==
        "encore: usd = 9223372.500000 is invalid: it must be at most 9223372 USD");
  CHECK(refusal_of([] { return usd(1e300); }).ends_with("is invalid: it must be at most 9223372 USD"));
  CHECK(refusal_of([] { return usd("9223372.036854775808"); }) ==
        "encore: usd = 9223372.036854775808 is invalid: it must be at most 9223372 USD");
  CHECK(refusal_of([] { return usd("9223372.999999999999"); }) ==
        "encore: usd = 9223372.999999999999 is invalid: it must be at most 9223372 USD");
  // 18,446,745 · 10¹² is a little over 2⁶⁴.
  CHECK(refusal_of([] { return usd("18446745"); }) ==
        "encore: usd = 18446745 is invalid: it must be at most 9223372 USD");
  CHECK(refusal_of([] { return usd("99999999999999999999999999"); }) ==
        "encore: usd = 99999999999999999999999999 is invalid: it must be at most 9223372 USD");
}

TEST_CASE("text that is not a plain decimal number is not an amount of money [H7]", "[money]") {
  for (const auto* text : {"", ".", "1.", ".5", "-1", "+1", "1e-3", "1,5", "$2", "2 ", " 2", "nan", "inf",
                           "1.2.3", "0.0000000000001", "0x10"}) {
    CAPTURE(text);
    const auto why = refusal_of([&] { return usd(text); });
    CHECK(why ==
          "encore: usd = \"" + std::string{text} +
              "\" is invalid: it must be an amount in dollars such as 0.0031, with at most 12 decimals");
  }
}

TEST_CASE("an invalid amount in a constant expression does not compile [C3]", "[money]") {
  STATIC_CHECK(is_a_constant([] { return usd("0.0031"); }));
  STATIC_CHECK_FALSE(is_a_constant([] { return usd(-1); }));
  STATIC_CHECK_FALSE(is_a_constant([] { return usd(not_a_number); }));
  STATIC_CHECK_FALSE(is_a_constant([] { return usd("two"); }));
  STATIC_CHECK_FALSE(is_a_constant([] { return usd(1e9); }));
}

TEST_CASE("sums and differences of money saturate at the ends of the range instead of wrapping [H7]",
          "[money]") {
  CHECK(Money::max().picodollars() == std::numeric_limits<std::int64_t>::max());
  CHECK(Money::max() + usd("0.000000000001") == Money::max());
  CHECK(Money::max() + Money::max() == Money::max());
  CHECK(usd(9'223'372) + usd(1) == Money::max());
  CHECK(usd(1) - usd("0.25") == usd("0.75"));
  CHECK(usd(1) - usd(2) == Money{});
  CHECK(Money::of_picodollars(std::numeric_limits<std::uint64_t>::max()) == Money::max());
}

TEST_CASE("tokens are charged at the price per million, rounded up", "[money]") {
  CHECK(cost_of_tokens(1'234, usd("2.50")) == usd("0.003085"));        // 1,234 × 2.5 / 10⁶
  CHECK(cost_of_tokens(1, usd("0.0375")).picodollars() == 37'500);     // 0.0375 × 10¹² / 10⁶
  CHECK(cost_of_tokens(1, usd("0.000000000001")).picodollars() == 1);  // a millionth of a picodollar
  CHECK(cost_of_tokens(1'000'001, usd("0.000001")).picodollars() == 1'000'001);
  CHECK(cost_of_tokens(0, usd(60)) == Money{});
  CHECK(cost_of_tokens(5, Money{}) == Money{});
  CHECK(cost_of_tokens(std::numeric_limits<std::uint64_t>::max(), usd(60)) == Money::max());
  CHECK(cost_of_tokens(std::numeric_limits<std::uint64_t>::max(), usd("0.000000999999")) == Money::max());
  // 6 · 10⁷ picodollars each: a little over 2⁶⁴ in all.
  CHECK(cost_of_tokens(307'445'734'562, usd(60)) == Money::max());
  // 10¹³ tokens at 0.000000999999 USD a million: 9.99999 USD.
  CHECK(cost_of_tokens(10'000'000'000'000, usd("0.000000999999")) == usd("9.99999"));
}

TEST_CASE("an amount of money is written in full, and read back exactly", "[money]") {
  CHECK(to_string(Money{}) == "0");
  CHECK(to_string(usd(2)) == "2");
  CHECK(to_string(usd(100)) == "100");
  CHECK(to_string(usd("0.0031")) == "0.0031");
  CHECK(to_string(usd("10.50")) == "10.5");
  CHECK(to_string(usd("0.000000000001")) == "0.000000000001");
  CHECK(to_string(Money::max()) == "9223372.036854775807");
  CHECK(usd("9223372.036854775807") == Money::max());
  std::mt19937_64 random{17};
  for (int i = 0; i < 2'000; ++i) {
    const auto money = Money::of_picodollars(random() >> (1 + random() % 63));
    CAPTURE(money.picodollars());
    CHECK(usd(to_string(money)) == money);
  }
}

}  // namespace
