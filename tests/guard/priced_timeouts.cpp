#include "asking.hpp"
#include <encore/failure.hpp>
#include <encore/guard/priced_timeouts.hpp>
#include <encore/guard/retry_budget.hpp>
#include <encore/limits.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/predicate.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>

#include <stdexcept>
#include <string>

using namespace encore::testing;
using encore::AwsRetryQuota, encore::PricedTimeouts, encore::RetryBudget, encore::RetryOn;

namespace {

struct ServiceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct TimeoutError : ServiceError {
  using ServiceError::ServiceError;
};

static_assert(encore::Guard<PricedTimeouts<RetryOn<TimeoutError>>>);
static_assert(PricedTimeouts<RetryOn<TimeoutError>>::refusal == encore::StopReason::retry_budget_spent);

struct Setting {
  FakeClock clock{};
  RetryBudget quota;
  explicit Setting(AwsRetryQuota options = {}) : quota{options} {}
  auto policy(int retries) {
    return encore::RetryPolicy{clock, PricedTimeouts{quota, RetryOn<TimeoutError>{}}, RetryOn<ServiceError>{},
                               encore::MaxRetries{retries}, encore::NoJitter{}};
  }
};

TEST_CASE("a retry after a timeout takes 10, after another failure 5, as the AWS SDKs count [H4]",
          "[priced_timeouts]") {
  Setting setting;
  Scripted<int> slow{throws<TimeoutError>("slow"), throws<TimeoutError>("slow"), returns(1)};
  CHECK(setting.policy(2).run(slow) == 1);
  CHECK(setting.quota.tokens() ==
        490);  // the published case: the first one's 10 are spent, the last one's come back

  Scripted<int> mixed{throws<ServiceError>("500"), throws<TimeoutError>("slow"), throws<ServiceError>("500")};
  CHECK_THROWS_AS(setting.policy(2).run(mixed), ServiceError);
  CHECK(setting.quota.tokens() == 490 - 5 - 10);
}

TEST_CASE("from full, exactly 50 retries when all time out [H4]", "[priced_timeouts]") {
  Setting setting;
  int attempts = 0;
  CHECK_THROWS_AS(setting.policy(1000).run([&]() -> int {
    ++attempts;
    throw TimeoutError{"slow"};
  }),
                  TimeoutError);
  CHECK(attempts == 1 + 50);
  CHECK(setting.quota.tokens() == 0);
}

TEST_CASE("the dearer retry is refused where there is only enough for the cheaper one [H4]",
          "[priced_timeouts]") {
  Setting setting{{.capacity = 9}};
  Scripted<int> slow{throws<TimeoutError>("slow")};
  CHECK_THROWS_AS(setting.policy(1).run(slow), TimeoutError);
  CHECK(setting.quota.tokens() == 9);
  Scripted<int> failing{throws<ServiceError>("500"), returns(1)};
  CHECK(setting.policy(1).run(failing) == 1);
}

TEST_CASE("a timeout's retry that is not made gives all of it back [H1]", "[priced_timeouts]") {
  const guard_test::Asking asking;
  RetryBudget quota{AwsRetryQuota{}};
  const PricedTimeouts guard{quota, RetryOn<TimeoutError>{}};
  const TimeoutError error{"slow"};
  const encore::Thrown thrown{&error};
  auto request = asking.retry();
  request.after = &thrown;
  {
    const auto permit = guard.admit(request);
    REQUIRE(permit);
    CHECK(quota.tokens() == 490);
  }
  CHECK(quota.tokens() == 500);
}

TEST_CASE("a returned failure has the ordinary price, and a first attempt none [H4]", "[priced_timeouts]") {
  Setting setting;
  const encore::RetryPolicy policy{setting.clock, PricedTimeouts{setting.quota, RetryOn<TimeoutError>{}},
                                   encore::RetryIfResult{[](int value) { return value < 0; }},
                                   encore::MaxRetries{1}, encore::NoJitter{}};
  CHECK(policy.run([] { return -1; }) == -1);
  CHECK(setting.quota.tokens() == 495);
}

}  // namespace
