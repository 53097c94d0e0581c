#include "gate.hpp"
#include <encore/guard/guard.hpp>
#include <encore/limits.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <concepts>
#include <functional>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using namespace told;
using encore::AdmissionRequest, encore::Now, encore::RetryOn, encore::RetryPolicy, encore::StopReason;

namespace {

struct TimeoutError : std::runtime_error {
  TimeoutError() : std::runtime_error{"slow"} {}
};
static_assert(encore::Guard<Gate<>> && encore::Guard<Gate<>&>);
static_assert(!encore::Guard<int>);

const RetryPolicy plain{RetryOn<TimeoutError>{}, encore::NoJitter{}};

TEST_CASE("a guard is asked before each attempt and notified of its end [H1]", "[guard]") {
  FakeClock clock;
  Log log;
  Gate<> gate{log};
  const auto policy = plain.with(clock, gate);
  Scripted<int> works{returns(17)};
  CHECK(policy.run(works) == 17);
  CHECK(log == Log{"a ? 1", "a began", "a succeeded"});

  log.clear();
  Scripted<int> later{throws<TimeoutError>(), returns(18)};
  CHECK(policy.run(later) == 18);
  CHECK(log == Log{"a ? 1", "a began", "a failed", "a ? 2 in 1s", "a woke", "a began", "a succeeded"});

  log.clear();
  Scripted<int> bug{throws<std::logic_error>("bug")};
  CHECK_THROWS_AS(policy.run(bug), std::logic_error);
  CHECK(log == Log{"a ? 1", "a began", "a failed for good"});

  log.clear();
  Scripted<int> exhausted{always(throws<TimeoutError>())};
  CHECK_THROWS_AS(policy.with(encore::MaxRetries{0}).run(exhausted), TimeoutError);
  CHECK(log == Log{"a ? 1", "a began", "a failed"});
  CHECK(gate.admitted == gate.returned);
}

TEST_CASE("a guard gets the call that asks, and the time when its attempt will begin [H2]", "[guard]") {
  FakeClock clock;
  clock.advance(100s);
  Log log;
  Gate<> gate{log};
  std::vector<encore::TimePoint> begins;
  gate.admits = [&](const AdmissionRequest& request) {
    CHECK(request.call_id == "call-17");
    CHECK(request.call_name == "lookup");
    CHECK(request.is_retry() == (request.ordinal > 1));
    begins.push_back(request.begins_at());
    return true;
  };
  Scripted<int> tool{clock, times(2, throws<TimeoutError>().takes(10s)), returns(17)};
  CHECK(plain.with(clock, gate).run({.id = "call-17", .name = "lookup"}, tool) == 17);
  CHECK(begins == std::vector{encore::TimePoint{100s}, encore::TimePoint{111s}, encore::TimePoint{123s}});
}

TEST_CASE(
    "a guard that refuses a call before its first attempt has its own reason, and there is nothing to "
    "rethrow [H2, G4]",
    "[guard]") {
  FakeClock clock;
  Log log;
  Gate<StopReason::call_limit_reached> gate{log};
  gate.admits = [](const AdmissionRequest&) { return false; };
  Scripted<int> never;
  const auto policy = plain.with(clock, gate);
  try {
    policy.run({.id = "call-17"}, never);
    FAIL("it must be refused");
  } catch (const encore::Refused& refused) {
    CHECK(refused.reason() == StopReason::call_limit_reached);
  }
  const auto outcome = policy.with(encore::ReturnOutcome{}).run(never);
  REQUIRE_FALSE(outcome);
  CHECK(outcome.reason() == StopReason::call_limit_reached);
  CHECK(outcome.failure().error == nullptr);
  CHECK(outcome.failure().refused_on_entry());
  CHECK(outcome.attempts() == 0);
  CHECK(log == Log{"a ? 1", "a ? 1"});
}

TEST_CASE("no call waits only to be refused, and the last error is kept (fault 36: failsafe-go) [H2, C6, G7]",
          "[guard]") {
  FakeClock clock;
  Log log;
  Gate<> gate{log};
  gate.admits = [](const AdmissionRequest& request) { return request.ordinal < 3; };
  Scripted<int> tool{always(throws<TimeoutError>())};
  const auto policy = plain.with(clock, gate, encore::MaxRetries{9});
  CHECK_THROWS_AS(policy.run(tool), TimeoutError);
  CHECK(clock.sleeps() == Durations{1s});
  const auto outcome = policy.with(encore::ReturnOutcome{}).run(tool);
  CHECK(outcome.reason() == StopReason::circuit_open);
  CHECK(outcome.attempts() == 2);
  CHECK_THROWS_AS(std::rethrow_exception(outcome.failure().error), TimeoutError);
  CHECK(policy.with(encore::FormatFailure{[](const encore::Failure&) { return 5; }}).run(tool) == 5);
}

TEST_CASE("a guard is notified of a failed value as of an exception [H1]", "[guard]") {
  FakeClock clock;
  Log log;
  Gate<> gate{log};
  Scripted<int> tool{returns(-1), returns(1)};
  CHECK(plain.with(clock, gate, encore::RetryIfResult{[](int units) { return units < 0; }}).run(tool) == 1);
  CHECK(log == Log{"a ? 1", "a began", "a failed", "a ? 2 in 1s", "a woke", "a began", "a succeeded"});
}

TEST_CASE("a healthy guard that does not ask the time costs no clock reading [P5]", "[guard]") {
  FakeClock clock;
  Log log;
  Gate<> gate{log};
  Scripted<int> tool{returns(17)};
  CHECK(plain.with(clock, gate).run(tool) == 17);
  CHECK(clock.readings() == 0);
}

TEST_CASE("one guard shared by several policies is one guard [H8]", "[guard]") {
  FakeClock clock;
  Log log;
  Gate<> gate{log};
  Scripted<int> tool{returns(1), returns(2)};
  const auto one = plain.with(clock, gate);
  const auto other = plain.with(gate, clock, encore::MaxRetries{7});
  CHECK(one.run(tool) == 1);
  CHECK(other.run(tool) == 2);
  CHECK(gate.admitted == 2);
}

}  // namespace
