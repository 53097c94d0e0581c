#include <encore/encore.hpp>
#include <encore/engine/policy_parts.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <concepts>
#include <optional>
#include <stdexcept>

using namespace encore;
using namespace std::chrono_literals;

namespace {

struct Slow : std::runtime_error {
  using std::runtime_error::runtime_error;
};

TEST_CASE("an option that is not given has its default, and can be read [A1]", "[policy_parts]") {
  const RetryPolicy policy{RetryOn<Slow>{}};
  CHECK(policy.max_retries() == 2);
  CHECK(policy.max_attempts() == 3);
  CHECK(policy.max_requests() == 3);
  CHECK(policy.time_budget() == std::nullopt);
  CHECK(policy.attempt_timeout() == std::nullopt);
  CHECK(policy.min_attempt_time() == 0s);
  CHECK(policy.hint_cap() == 120s);
  CHECK(policy.seed() == std::nullopt);
  CHECK(policy.inner_attempts() == 1);
  CHECK(policy.nested() == Nested::allow);
  CHECK(std::same_as<std::remove_cvref_t<decltype(policy.clock())>, SteadyClock>);
  const auto& parts = policy_parts(policy);
  CHECK(std::remove_cvref_t<decltype(parts.observers())>::size == 0);
  CHECK(!parts.guarded);
  CHECK(!parts.reads_call);
}

TEST_CASE("an option is found in any order, and options that may be repeated keep their order [A1]",
          "[policy_parts]") {
  int first = 0, second = 0;
  const RetryPolicy policy{Seed{7},
                           Observe{[&](const Event&) { ++first; }},
                           MinAttemptTime{20ms},
                           HintCap{9s},
                           AttemptTimeout{3s},
                           RetryOn<Slow>{},
                           TimeBudget{5s},
                           Observe{[&](const Event&) { ++second; }},
                           AlreadyRetries{3},
                           MaxAttempts{4}};
  CHECK(policy.max_retries() == 3);
  CHECK(policy.max_requests() == 12);
  CHECK(policy.time_budget() == 5s);
  CHECK(policy.attempt_timeout() == 3s);
  CHECK(policy.min_attempt_time() == 20ms);
  CHECK(policy.hint_cap() == 9s);
  CHECK(policy.seed() == 7U);
  const auto& parts = policy_parts(policy);
  CHECK(parts.observed);
  CHECK(parts.reads_call);
  encore::detail::at<0>(parts.observers()).get()(Event{.now = Now{policy.clock()}});
  CHECK(first == 1);
  CHECK(second == 0);
}

TEST_CASE("replacing one option keeps the others, and removing one restores its default [A1]",
          "[policy_parts]") {
  const RetryPolicy policy{RetryOn<Slow>{}, MaxRetries{5}, TimeBudget{5s}, HintCap{9s}};
  const auto longer = policy.with(TimeBudget{8s});
  CHECK(longer.time_budget() == 8s);
  CHECK(longer.max_retries() == 5);
  CHECK(longer.hint_cap() == 9s);
  const auto unbounded = longer.without<role::TimeBudget, role::HintCap>();
  CHECK(unbounded.time_budget() == std::nullopt);
  CHECK(unbounded.hint_cap() == 120s);
  CHECK(unbounded.max_retries() == 5);
}

TEST_CASE("a time budget alone means no limit of the count [A1]", "[policy_parts]") {
  const RetryPolicy policy{RetryOn<Slow>{}, TimeBudget{5s}};
  CHECK(policy.max_attempts() == std::nullopt);
  CHECK(policy.max_requests() == std::nullopt);
}

}  // namespace
