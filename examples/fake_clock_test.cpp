// LIBRARIES: Catch2::Catch2WithMain
// How the policy of a program is tested: on a fake clock, with a scripted tool, in no time.
#include <encore/encore.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/matchers.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>

#include <stdexcept>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::StopReason;

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};

// As the program has it, with the real clock and with jitter.
const encore::RetryPolicy lookup_policy{
    encore::RetryOn<TimeoutError>{},
    encore::MaxRetries{2},
    encore::ExponentialBackoff{.initial_delay = 250ms, .factor = 2.0, .max_delay = 2s},
    encore::TimeBudget{5s},
};

TEST_CASE("a lookup that is slow twice succeeds at the third attempt") {
  FakeClock clock;
  Recorder trace;
  const auto policy = lookup_policy.with(clock, trace, encore::NoJitter{});
  Scripted<int> inventory{times(2, throws<TimeoutError>("slow")), returns(17)};

  CHECK(policy.run({.id = "call-17"}, inventory) == 17);
  CHECK(clock.sleeps() == Durations{250ms, 500ms});
  CHECK(inventory.ordinals() == std::vector{1, 2, 3});
  CHECK_THAT(trace, Attempted("call-17", 3) && EndedBecause(StopReason::succeeded));
}

TEST_CASE("a fourth attempt, which would succeed, is never made") {
  FakeClock clock;
  Recorder trace;
  const auto policy = lookup_policy.with(clock, trace);
  Scripted<int> inventory{times(3, throws<TimeoutError>("slow")), returns(17)};

  CHECK_THROWS_AS(policy.run({.id = "call-17"}, inventory), TimeoutError);
  CHECK(inventory.calls() == 3);
  CHECK_THAT(trace, Attempted("call-17", 3) && EndedBecause(StopReason::retries_exhausted));
}

TEST_CASE("a retry that would begin after the time budget is not made, nor its wait begun") {
  FakeClock clock;
  Recorder trace;
  const auto policy = lookup_policy.with(clock, trace);
  Scripted<int> inventory{clock, throws<TimeoutError>("slow").takes(4900ms), returns(17)};

  CHECK_THROWS_AS(policy.run({.id = "call-17"}, inventory), TimeoutError);
  CHECK(clock.sleeps() == Durations{});
  CHECK_THAT(trace, Attempted("call-17", 1) && EndedBecause(StopReason::deadline));
}

TEST_CASE("a bad argument is not retried") {
  FakeClock clock;
  Recorder trace;
  const auto policy = lookup_policy.with(clock, trace);
  Scripted<int> inventory{throws<std::invalid_argument>("blank sku")};

  CHECK_THROWS_AS(policy.run({.id = "call-17"}, inventory), std::invalid_argument);
  CHECK_THAT(trace, Attempted("call-17", 1) && EndedBecause(StopReason::not_retryable));
}
