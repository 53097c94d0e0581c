#include <encore/retry_policy.hpp>
#include <encore/telemetry.hpp>

#include <catch2/catch_test_macros.hpp>

using namespace encore;

TEST_CASE("counters and traces are available from one include", "[telemetry]") {
  Counters counters;
  const RetryPolicy policy{RetryOnEveryException{}, counters};
  CHECK(policy.run({.id = "call-17", .name = "look_up"}, [] { return 17; }) == 17);
  CHECK(counters.snapshot().of("look_up").calls == 1);
}
