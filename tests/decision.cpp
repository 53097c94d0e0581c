#include <encore/decision.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>

using namespace encore;
using namespace std::chrono_literals;

TEST_CASE("a decision continues the call unless it has a stop reason", "[decision]") {
  STATIC_REQUIRE(Decision{.wait = 1s}.goes_on());
  STATIC_REQUIRE(!Decision{.stop = StopReason::deadline}.goes_on());
  STATIC_REQUIRE(Decision{.wait = 1s} == Decision{.wait = 1000ms});
  STATIC_REQUIRE(Decision{.wait = 1s} != Decision{.stop = StopReason::deadline, .wait = 1s});
}
