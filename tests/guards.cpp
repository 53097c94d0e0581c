#include <encore/guards.hpp>
#include <encore/retry_policy.hpp>

#include <catch2/catch_test_macros.hpp>

using namespace encore;

TEST_CASE("a policy's breaker, budget and quota are available from one include", "[guards]") {
  CircuitBreaker breaker{{.failures_to_open = 1}};
  RetryBudget budget;
  const RetryPolicy policy{RetryOnEveryException{}, ConstantBackoff{std::chrono::seconds{0}}, breaker,
                           budget};
  auto attempts = 0;
  CHECK_THROWS_AS(policy.run([&] { ++attempts, throw 17; }), int);
  CHECK(attempts == 1);
}
