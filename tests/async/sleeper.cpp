#include <encore/async/sleeper.hpp>
#include <encore/testing/task.hpp>

#include <catch2/catch_test_macros.hpp>

using namespace encore;

namespace {

using Plain = testing::Task<void> (*)(Duration);
using Woken = testing::Task<void> (*)(Duration, const StopView&);
using OfNumbers = testing::Task<void> (*)(int*);

}  // namespace

TEST_CASE("a sleeper takes a duration, and may take a stop view", "[sleeper]") {
  STATIC_REQUIRE(Sleeper<Plain>);
  STATIC_REQUIRE(Sleeper<Woken>);
  STATIC_REQUIRE(!Sleeper<OfNumbers>);
}
