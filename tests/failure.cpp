#include <encore/failure.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_policy.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <exception>
#include <stdexcept>
#include <stop_token>

using encore::RetryOn, encore::RetryPolicy, encore::testing::FakeClock;

namespace {

struct TimeoutError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct GatewayTimeout final : TimeoutError {
  explicit GatewayTimeout(int g) : TimeoutError{"gateway"}, gateway{g} {}
  int gateway;
};

TEST_CASE("a failure gives access to its exception by type, and to nothing where there is none [G8]",
          "[failure]") {
  FakeClock clock;
  const RetryPolicy policy{clock, RetryOn<TimeoutError>{}, encore::ReturnOutcome{}};
  const auto outcome = policy.run([]() -> int { throw GatewayTimeout{504}; });
  auto gateway = 0;
  CHECK(
      outcome.failure().with<GatewayTimeout>([&](const GatewayTimeout& error) { gateway = error.gateway; }));
  CHECK(gateway == 504);
  CHECK(outcome.failure().with<std::exception>([](const std::exception&) {}));
  CHECK_FALSE(outcome.failure().with<std::logic_error>([](const std::logic_error&) { FAIL(); }));
  CHECK_THROWS_AS(outcome.failure().with<TimeoutError>([](const TimeoutError&) { throw 17; }), int);
  CHECK(outcome.failure().last_value<int>() == nullptr);

  std::stop_source stopped;
  stopped.request_stop();
  const auto token = stopped.get_token();
  const auto refused = policy.run({.stop = token}, [] { return 17; });
  CHECK(refused.failure().refused_on_entry());
  CHECK_FALSE(refused.failure().with<std::exception>([](const std::exception&) { FAIL(); }));
  CHECK(refused.failure().last_value<int>() == nullptr);
}

TEST_CASE("a failure without an attempt was refused on entry", "[failure]") {
  CHECK(encore::Failure{}.refused_on_entry());
  CHECK_FALSE(encore::Failure{.attempts = 1}.refused_on_entry());
}

}  // namespace
