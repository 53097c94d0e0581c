#include "../../empty_permit.hpp"
#include <encore/detail/durable/restorer.hpp>
#include <encore/guard/guard.hpp>
#include <encore/jitter.hpp>
#include <encore/jitter_shapes.hpp>
#include <encore/limits.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/retrying.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>

using namespace std::chrono_literals;
using namespace encore;
using detail::Restorer;

namespace {

const std::exception_ptr busy = std::make_exception_ptr(std::runtime_error{"busy"});

/// Admits first attempts only.
struct NoRetries {
  using role = encore::role::Guard;
  static constexpr auto refusal = StopReason::retry_budget_spent;
  using Permit = encore_tests::EmptyPermit;
  std::optional<Permit> admit(const AdmissionRequest& request) const {
    if (request.is_retry()) return std::nullopt;
    return Permit{};
  }
};

TEST_CASE("restoring the state extracted from one call into another makes them equal", "[restorer]") {
  testing::FakeClock clock;
  const RetryPolicy policy{RetryOn<std::runtime_error>{}, MaxRetries{5}, TimeBudget{1h}, Seed{7},
                           DecorrelatedJitter{},          clock};
  Retrying one{policy, {.id = "a"}};
  auto next = one.begin();
  for (auto attempt = 1; attempt < 3; ++attempt) {
    next = one.threw(busy);
    clock.sleep_for(next.wait);
    REQUIRE(one.resume().goes_on());
  }
  REQUIRE(one.threw(busy).goes_on());
  SavedCall saved;
  Restorer::save(one, policy, saved);
  CHECK(saved.attempts == 3);
  CHECK(saved.slept == clock.total_slept());
  CHECK(saved.elapsed == clock.total_slept());
  clock.advance(1s);
  Retrying other{policy, {.id = "a", .operation_key = saved.operation_key}};
  Restorer::restore(other, policy, saved, saved.elapsed + 1s);
  SavedCall again;
  Restorer::save(other, policy, again);
  saved.elapsed += 1s;
  CHECK(again.text() == saved.text());
  REQUIRE(one.resume().goes_on());
  REQUIRE(other.resume().goes_on());
  CHECK(other.attempts() == 4);
  CHECK(other.threw(busy) == one.threw(busy));
}

TEST_CASE("a call whose jitter remembers no wait is saved as if it had waited the first delay",
          "[restorer]") {
  testing::FakeClock clock;
  const RetryPolicy policy{RetryOn<std::runtime_error>{}, ExponentialBackoff{.initial_delay = 3s},
                           FullJitter{}, clock};
  Retrying call{policy, {.id = "a"}};
  REQUIRE(call.begin().goes_on());
  REQUIRE(call.threw(busy).goes_on());
  SavedCall saved;
  Restorer::save(call, policy, saved);
  CHECK(saved.previous == 3s);
}

TEST_CASE("guards are asked about a retry that another process had decided on [H2]", "[restorer]") {
  testing::FakeClock clock;
  const RetryPolicy policy{RetryOn<std::runtime_error>{}, NoRetries{}, clock};
  Retrying call{policy, {.id = "a"}};
  Restorer::restore(call, policy, {.attempts = 1, .wait = 5s}, 0s);
  CHECK(Restorer::continue_wait(call, policy, 2s) == Decision{.stop = StopReason::retry_budget_spent});
  CHECK(call.reason() == StopReason::retry_budget_spent);
  CHECK(call.attempts() == 1);
}

TEST_CASE("an attempt that was cut off is a failure without an exception [I3]", "[restorer]") {
  testing::FakeClock clock;
  const RetryPolicy policy{RetryOn<std::runtime_error>{}, ConstantBackoff{5s}, NoJitter{}, clock};
  Retrying call{policy, {.id = "a"}};
  Restorer::restore(call, policy, {.under_way = true, .attempts = 2}, 0s);
  CHECK(Restorer::interrupted(call) == Decision{.wait = 5s});
  CHECK(call.attempts() == 2);
  CHECK(call.failure().error == nullptr);
}

}  // namespace
