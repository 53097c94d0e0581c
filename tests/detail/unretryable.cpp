#include <encore/unretryable.hpp>

#include <catch2/catch_test_macros.hpp>

#include <stdexcept>
#include <system_error>

using encore::detail::never_cannot_match;

namespace {

struct Plain : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct QuotaSpent : encore::Unretryable {
  using Unretryable::Unretryable;
};

}  // namespace

TEST_CASE(
    "a filter on unrelated types excludes unretryable ones at compile time, one on their bases does not [P7]",
    "[unretryable]") {
  STATIC_REQUIRE(never_cannot_match<Plain>);
  STATIC_REQUIRE(!never_cannot_match<std::exception>);
  STATIC_REQUIRE(!never_cannot_match<std::runtime_error>);  // a base of both
  STATIC_REQUIRE(!never_cannot_match<std::system_error>);
  STATIC_REQUIRE(!never_cannot_match<QuotaSpent>);
  STATIC_REQUIRE(!never_cannot_match<int>);  // not caught as `std::exception`
}
