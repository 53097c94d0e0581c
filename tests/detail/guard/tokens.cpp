#include <encore/detail/guard/tokens.hpp>

#include <catch2/catch_test_macros.hpp>

using encore::detail::Tokens;

namespace {

static_assert(Tokens{} == Tokens{0});
static_assert(Tokens{2} + Tokens{3} == Tokens{5});
static_assert(Tokens{2} - Tokens{3} < Tokens{0});
static_assert(Tokens{5}.half() == Tokens{2.5});
static_assert(Tokens{0.0} < Tokens::smallest());
static_assert(Tokens{1}.half() + Tokens::smallest() > Tokens{0.5});
static_assert(Tokens{2'147'483'647}.number() == 2'147'483'647.0);

TEST_CASE("tokens are exact to three decimals, and to a share of a hundredth of a percent [H4]", "[tokens]") {
  for (int thousandths = 0; thousandths <= 10'000; ++thousandths) {
    const Tokens tokens{thousandths / 1000.0};
    Tokens thousand;
    for (int i = 0; i < 1000; ++i) thousand = thousand + tokens;
    REQUIRE(thousand == Tokens{thousandths});
  }
  Tokens sum;
  for (int i = 0; i < 1'000'000; ++i) sum = sum + Tokens{0.1};
  CHECK(sum == Tokens{100'000});  // as a double, 100000.00000133288
  CHECK(Tokens{0.0001}.number() == 0.0001);
  CHECK(Tokens{1.6}.number() == 1.6);
}

TEST_CASE("a part of a token below a millionth is cut off, never rounded up [H4]", "[tokens]") {
  CHECK(Tokens{2.0 / 3.0}.number() == 0.666666);
  CHECK(Tokens{1.0 / 3.0}.number() == 0.333333);
  CHECK(Tokens{0.9999999}.number() == 0.999999);
  CHECK(Tokens{1e-9} == Tokens{});
}

}  // namespace
