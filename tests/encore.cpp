#include <encore/encore.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <concepts>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

using namespace encore;
using namespace std::chrono_literals;

namespace {
struct TimeoutError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct ConnectionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
}  // namespace

TEST_CASE("the umbrella header has everything that a policy is made of, and its type can be spelled [A1]",
          "[encore]") {
  const RetryPolicy policy{RetryOn<TimeoutError, ConnectionError>{}, MaxRetries{2},
                           ExponentialBackoff{.initial_delay = 250ms, .factor = 2.0, .max_delay = 2s}};
  STATIC_REQUIRE(
      std::same_as<decltype(policy), const RetryPolicy<SteadyClock, RetryOn<TimeoutError, ConnectionError>>>);
  STATIC_REQUIRE(sizeof(policy) <= 64);  // P12
  CHECK(policy.max_attempts() == 3);
  CHECK(policy.run([](int a, int b) { return a + b; }, 20, 22) == 42);
}

TEST_CASE("a policy is a constant expression, and its schedule can be asserted at compile time [C4]",
          "[encore]") {
  constexpr RetryPolicy policy{RetryOn<TimeoutError>{}, MaxRetries{3}, NoJitter{},
                               ExponentialBackoff{.initial_delay = 100ms, .factor = 2.0, .max_delay = 1s}};
  STATIC_REQUIRE(policy.schedule().total().max == 700ms);  // 100 + 200 + 400
}
