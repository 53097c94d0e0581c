#include "by_hand.hpp"
#include <encore/jitter.hpp>
#include <encore/limits.hpp>
#include <encore/predicate.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fault_injector.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <concepts>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using by_hand::AttemptOf;
using encore::Duration;
using encore::Seed;
using Kind = encore::testing::Fault::Kind;

namespace {

struct TimeoutError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::vector<Fault> first_faults(const FaultInjector& faults, std::string_view id, int count = 64) {
  std::vector<Fault> found;
  for (int ordinal = 1; ordinal <= count; ++ordinal) found.push_back(faults.fault(id, ordinal));
  return found;
}

TEST_CASE("an injected fault is a function of seed, call id and ordinal alone [C8]", "[fault_injector]") {
  FakeClock clock;
  const FaultOptions options{
      .failure_share = 0.3, .lost_result_share = 0.2, .delay_share = 0.5, .max_delay = 1s};
  const FaultInjector faults{clock, Seed{7}, options};
  const FaultInjector same{clock, Seed{7}, options};
  const FaultInjector other_seed{clock, Seed{8}, options};
  CHECK(first_faults(faults, "call-17") == first_faults(same, "call-17"));
  CHECK(first_faults(faults, "call-17") == first_faults(faults, "call-17"));
  CHECK(first_faults(faults, "call-17") != first_faults(other_seed, "call-17"));
  CHECK(first_faults(faults, "call-17") != first_faults(faults, "call-18"));
  const auto ordinals = first_faults(faults, "call-17");
  CHECK(std::count(ordinals.begin(), ordinals.end(), ordinals.front()) < 64);
}

TEST_CASE("injected faults are as frequent as their shares, and independent from one attempt to the next",
          "[fault_injector]") {
  FakeClock clock;
  const FaultInjector faults{
      clock, Seed{7}, {.failure_share = 0.3, .lost_result_share = 0.2, .delay_share = 0.1, .max_delay = 1s}};
  constexpr int calls = 20'000;
  int failures = 0, lost = 0, delays = 0, twice = 0, only_delayed = 0;
  Duration total{}, longest{};
  for (int call = 0; call < calls; ++call) {
    const auto id = "call-" + std::to_string(call);
    const auto fault = faults.fault(id, 1);
    failures += fault.kind == Kind::failure ? 1 : 0;
    lost += fault.kind == Kind::lost_result ? 1 : 0;
    delays += fault.delay > 0s ? 1 : 0;
    only_delayed += fault.delay > 0s && fault.kind == Kind::none ? 1 : 0;
    total += fault.delay;
    longest = std::max(longest, fault.delay);
    twice += fault.kind == Kind::failure && faults.fault(id, 2).kind == Kind::failure ? 1 : 0;
  }
  // Five standard deviations of a binomial count, sqrt(n p (1 - p)): 324, 283, 212, 202 and 154.
  CHECK(std::abs(failures - 6000) < 324);
  CHECK(std::abs(lost - 4000) < 283);
  CHECK(std::abs(delays - 2000) < 212);
  CHECK(std::abs(twice - 1800) < 202);         // 0.3 * 0.3
  CHECK(std::abs(only_delayed - 1000) < 154);  // 0.1 * 0.5
  CHECK(longest < 1s);
  CHECK(longest > 990ms);
  CHECK(total > delays * 450ms);  // the mean of U(0, 1 s) is 500 ms
  CHECK(total < delays * 550ms);
}

TEST_CASE("fault shares of zero and one are exact", "[fault_injector]") {
  const FaultInjector none{Seed{7}, {}};
  const FaultInjector all{Seed{7}, {.failure_share = 1.0}};
  const FaultInjector all_lost{Seed{7}, {.lost_result_share = 1.0}};
  for (int ordinal = 1; ordinal <= 1000; ++ordinal) {
    REQUIRE(none.fault("call-17", ordinal) == Fault{});
    REQUIRE(all.fault("call-17", ordinal) == Fault{.kind = Kind::failure});
    REQUIRE(all_lost.fault("call-17", ordinal) == Fault{.kind = Kind::lost_result});
  }
}

TEST_CASE("an injected failure does not run the callable", "[fault_injector]") {
  FaultInjector faults{Seed{7}, {.failure_share = 1.0}};
  Scripted<int> ship{};
  auto flaky = faults.wrap<TimeoutError>(ship, "injected");
  const AttemptOf attempt{"call-17"};
  CHECK_THROWS_WITH(flaky(attempt.attempt), "injected");
  CHECK_THROWS_AS(flaky(attempt.attempt), TimeoutError);
  CHECK(ship.calls() == 0);
  CHECK_FALSE(attempt.notes.dispatched());
  CHECK(faults.injected() == InjectedFaults{.attempts = 2, .failures = 2});
}

TEST_CASE("an injected lost result is committed, then dropped, and its outcome is unknown to the caller [I3]",
          "[fault_injector]") {
  FaultInjector faults{Seed{7}, {.lost_result_share = 1.0}};
  Scripted<std::unique_ptr<int>> ship{returns(std::make_unique<int>(17))};
  auto flaky = faults.wrap<TimeoutError>(ship, "injected");
  const AttemptOf attempt{"call-17"};
  CHECK_THROWS_AS(flaky(attempt.attempt), TimeoutError);
  CHECK(ship.finished());
  CHECK(attempt.notes.dispatched());
  CHECK_FALSE(attempt.notes.answered());
  CHECK(faults.injected() == InjectedFaults{.attempts = 1, .lost_results = 1});
}

TEST_CASE("the callable's own exception is not replaced by an injected one", "[fault_injector]") {
  FaultInjector faults{Seed{7}, {.lost_result_share = 1.0}};
  Scripted<int> ship{throws<int>(42)};
  auto flaky = faults.wrap<TimeoutError>(ship, "injected");
  CHECK_THROWS_AS(flaky(AttemptOf{"call-17"}.attempt), int);
}

TEST_CASE("an injected delay passes on the fake clock before anything else happens [D1]",
          "[fault_injector]") {
  FakeClock clock;
  FaultInjector faults{clock, Seed{7}, {.delay_share = 1.0, .max_delay = 2s}};
  encore::TimePoint ran_at{};
  auto slow = faults.wrap<TimeoutError>([&] { ran_at = clock.now(); }, "injected");
  slow(AttemptOf{"call-17"}.attempt);
  const auto expected = faults.fault("call-17", 1).delay;
  CHECK(expected > 0s);
  CHECK(ran_at == encore::TimePoint{expected});
  CHECK(clock.now() == encore::TimePoint{expected});
  CHECK(clock.sleeps().empty());
  CHECK(faults.injected() == InjectedFaults{.attempts = 1, .delays = 1});
}

TEST_CASE(
    "a callable with injected faults is called as a policy would call it, with its arguments as lvalues [A5, "
    "A6]",
    "[fault_injector]") {
  FaultInjector faults{Seed{7}, {}};
  std::string text{"A-17"};
  const AttemptOf attempt{"call-17", 3};

  auto takes_both = faults.wrap<TimeoutError>(
      [](std::string& part, const encore::Attempt& a) { return part + std::to_string(a.ordinal); },
      "injected");
  static_assert(std::invocable<decltype(takes_both)&, std::string&, const encore::Attempt&>);
  static_assert(!std::invocable<decltype(takes_both)&, std::string&>, "the attempt is wanted");
  static_assert(!std::invocable<decltype(takes_both)&>);
  CHECK(takes_both(text, attempt.attempt) == "A-173");

  auto takes_argument =
      faults.wrap<TimeoutError>([](std::string& part) -> std::string& { return part; }, "injected");
  CHECK(&takes_argument(text, attempt.attempt) == &text);

  auto own_state = faults.wrap<TimeoutError>(
      [count = std::make_unique<int>(0)]() mutable { return ++*count; }, "injected");
  own_state(attempt.attempt);
  CHECK(own_state(attempt.attempt) == 2);
}

TEST_CASE("fault settings that contradict each other are invalid by name [C3]", "[fault_injector]") {
  CHECK_THROWS_WITH((FaultInjector{Seed{7}, {.failure_share = 0.75, .lost_result_share = 0.5}}),
                    "encore: failure_share + lost_result_share = 1.250000 is invalid: an attempt fails only "
                    "once, so their sum must be at most 1");
  CHECK_THROWS_WITH((FaultInjector{Seed{7}, {.delay_share = 0.5, .max_delay = 1s}}),
                    "encore: delay_share = 0.500000 is invalid: a delay needs a clock, as in "
                    "FaultInjector{clock, seed, options}");
  CHECK_THROWS_WITH((FaultOptions{.failure_share = 30}),
                    "encore: failure_share = 30 is invalid: it must lie between 0 and 1");
}

TEST_CASE("a policy retries injected faults until the first attempt that succeeds [A2]", "[fault_injector]") {
  FakeClock clock;
  FaultInjector faults{Seed{7}, {.failure_share = 0.5, .lost_result_share = 0.2}};
  const encore::RetryPolicy policy{encore::RetryOn<TimeoutError>{}, encore::UnlimitedRetries{},
                                   encore::NoJitter{}, clock};
  for (int call = 0; call < 50; ++call) {
    const auto id = "call-" + std::to_string(call);
    int expected_attempts = 1;
    int expected_runs = 1;
    for (; faults.fault(id, expected_attempts).kind != Kind::none; ++expected_attempts)
      expected_runs += faults.fault(id, expected_attempts).kind == Kind::lost_result ? 1 : 0;
    const auto before = faults.injected().attempts;
    Scripted<int> tool{always(returns(17))};
    CHECK(policy.run({.id = id}, faults.wrap<TimeoutError>(tool, "injected")) == 17);
    CHECK(faults.injected().attempts - before == expected_attempts);
    CHECK(tool.calls() == expected_runs);
  }
}

TEST_CASE("a run with injected faults repeats exactly, whatever the threads' timing [C8]",
          "[fault_injector][threads]") {
  const auto run = [](int thread_count) {
    FaultInjector faults{Seed{7}, {.failure_share = 0.3, .lost_result_share = 0.2}};
    constexpr int calls = 400;
    std::vector<int> outcome(calls);
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < thread_count; ++t) {
        threads.emplace_back([&, t] {
          for (int call = t; call < calls; call += thread_count) {
            auto& result = outcome[static_cast<std::size_t>(call)];
            auto flaky = faults.wrap<TimeoutError>([&] { result = 1; }, "injected");
            const auto id = "call-" + std::to_string(call);
            try {
              flaky(AttemptOf{id}.attempt);
              result += 1;
            } catch (const TimeoutError&) {}
          }
        });
      }
    }
    return std::pair{outcome, faults.injected()};
  };
  const auto alone = run(1);
  CHECK(run(4) == alone);
  CHECK(alone.second.attempts == 400);
  CHECK(alone.second.failures == std::count(alone.first.begin(), alone.first.end(), 0));
  CHECK(alone.second.lost_results == std::count(alone.first.begin(), alone.first.end(), 1));
}

}  // namespace
