#include "hand_made.hpp"
#include <encore/backoff.hpp>
#include <encore/guard/circuit_breaker.hpp>
#include <encore/jitter.hpp>
#include <encore/limits.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_policy.hpp>
#include <encore/telemetry/counters.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using encore::Counters;
using encore::StopReason;
using encore::ToolCounts;

struct Slow : std::runtime_error {
  Slow() : std::runtime_error{"slow"} {}
};
struct Invalid : std::logic_error {
  Invalid() : std::logic_error{"invalid"} {}
};

struct Counted {
  encore::testing::FakeClock clock{};
  Counters counters{};

  auto policy() {
    return encore::RetryPolicy{clock,
                               counters,
                               encore::RetryOn<Slow>{},
                               encore::MaxRetries{2},
                               encore::ConstantBackoff{1s},
                               encore::NoJitter{}};
  }
  ToolCounts ship() const { return counters.snapshot().of("ship"); }
};
ToolCounts ended(StopReason reason, ToolCounts counts) {
  counts.tool = "ship";
  counts.calls = 1;
  counts.ended[static_cast<std::size_t>(reason)] = 1;
  return counts;
}
/// Throws so often, then returns.
auto failing(int times) {
  return [times]() mutable {
    if (times-- > 0) throw Slow{};
  };
}

TEST_CASE("a call that succeeds at once is counted as one call and one attempt", "[counters]") {
  Counted counted;
  counted.policy().run({.name = "ship"}, failing(0));
  CHECK(counted.ship() == ended(StopReason::succeeded, {.attempts = 1}));
}

TEST_CASE("a call that recovers is counted with its retries and its waits", "[counters]") {
  Counted counted;
  counted.policy().run({.name = "ship"}, failing(2));
  CHECK(counted.ship() ==
        ended(StopReason::succeeded, {.attempts = 3, .retries = 2, .recovered = 1, .slept = 2s}));
}

TEST_CASE("an exhausted call is counted apart from one whose first failure is not retryable", "[counters]") {
  Counted exhausted;
  CHECK_THROWS_AS(exhausted.policy().run({.name = "ship"}, failing(3)), Slow);
  CHECK(exhausted.ship() == ended(StopReason::retries_exhausted, {.attempts = 3, .retries = 2, .slept = 2s}));

  Counted invalid;
  CHECK_THROWS_AS(invalid.policy().run({.name = "ship"}, [] { throw Invalid{}; }), Invalid);
  CHECK(invalid.ship() == ended(StopReason::not_retryable, {.attempts = 1, .failed_at_once = 1}));

  Counted later;
  int attempts = 0;
  CHECK_THROWS_AS(later.policy().run({.name = "ship"},
                                     [&] {
                                       if (++attempts == 1) throw Slow{};
                                       throw Invalid{};
                                     }),
                  Invalid);
  CHECK(later.ship() == ended(StopReason::not_retryable, {.attempts = 2, .retries = 1, .slept = 1s}));
}

TEST_CASE("a refusal before any attempt is counted as a call without one, by its reason [G4]", "[counters]") {
  Counted counted;
  encore::CircuitBreaker breaker;
  breaker.force_open();
  const auto policy = counted.policy().with(breaker, encore::ReturnOutcome{});
  CHECK(!policy.run({.name = "ship"}, failing(0)).has_value());
  const auto ship = counted.ship();
  CHECK(ship == ended(StopReason::circuit_open, {.error_results = 1}));
  CHECK(ship.refused() == 1);
  CHECK(ship.under_way() == 0);
}

TEST_CASE("errors that the caller gets as values are counted, whatever layer made them [B8]", "[counters]") {
  Counted outcome;
  static_cast<void>(outcome.policy().with(encore::ReturnOutcome{}).run({.name = "ship"}, failing(9)));
  CHECK(outcome.ship().error_results == 1);

  Counted own;
  own.policy().run({.name = "ship"}, [](const encore::Attempt& attempt) { attempt.mark_error_result(); });
  CHECK(own.ship() == ended(StopReason::succeeded, {.attempts = 1, .error_results = 1}));

  Counted thrown;
  CHECK_THROWS(thrown.policy().run({.name = "ship"}, [](const encore::Attempt& attempt) {
    attempt.mark_error_result();
    throw Invalid{};
  }));
  CHECK(thrown.ship().error_results == 0);
}

TEST_CASE(
    "unknown outcomes, and requests repeated by a lower layer, are counted [I3, J1] (fault 63: libcurl)",
    "[counters]") {
  Counted counted;
  const encore::Call call{.name = "ship", .replay = encore::ReplaySafety::never};
  for (const auto answered : {false, true}) {
    const auto twice = [&](const encore::Attempt& attempt) {
      attempt.mark_dispatched();
      attempt.mark_dispatched();
      if (!answered) throw Slow{};
      attempt.mark_answered();
    };
    if (answered)
      counted.policy().run(call, twice);
    else
      CHECK_THROWS_AS(counted.policy().run(call, twice), Slow);
  }
  CHECK(counted.ship().outcomes_unknown == 1);
  CHECK(counted.ship().dispatched_again == 2);
}

TEST_CASE("attempts are counted when they begin, and calls under way are visible", "[counters]") {
  Counted counted;
  counted.policy().run({.name = "ship"}, [&] {
    CHECK(counted.ship() == ToolCounts{.tool = "ship", .calls = 1, .attempts = 1});
    CHECK(counted.ship().under_way() == 1);
  });
  CHECK(counted.ship().under_way() == 0);
}

TEST_CASE("a tool is counted under the name that it resolves to, and never by a call's id", "[counters]") {
  Counted counted;
  const auto policy = counted.policy();
  for (int i = 0; i < 50; ++i) {
    const auto id = "call-" + std::to_string(i);
    policy.run({.id = id, .name = "Ship!", .resolved_name = "ship"}, failing(0));
  }
  CHECK(counted.counters.snapshot().tools().size() == 1);
  CHECK(counted.ship().calls == 50);
}

TEST_CASE("tools beyond the counters' maximum are counted together, and none is lost", "[counters]") {
  encore::testing::FakeClock clock;
  Counters counters{{.max_tools = 3}};
  const encore::RetryPolicy policy{clock, counters, encore::RetryOn<Slow>{}};
  for (int i = 0; i < 100; ++i) {
    const auto name = "tool-" + std::to_string(i);
    policy.run({.name = name}, [] {});
  }
  policy.run({.name = encore::other_tools}, [] {});  // a tool that is called so
  const auto snapshot = counters.snapshot();
  CHECK(snapshot.tools().size() == 4);
  CHECK(snapshot.of(encore::other_tools).calls == 98);
  CHECK(snapshot.of("tool-2").calls == 1);
}

TEST_CASE("tool names that are not UTF-8 are counted as such, and those that then look the same are added up",
          "[counters]") {
  Counted counted;
  for (const auto* const name : {"a\xFF", "a\xFE", "a\xEF\xBF\xBD"})
    counted.policy().run({.name = name}, failing(0));
  const auto snapshot = counted.counters.snapshot();
  REQUIRE(snapshot.tools().size() == 1);
  CHECK(snapshot.of("a\xEF\xBF\xBD").calls == 3);
}

TEST_CASE("the difference of two snapshots of counters is what happened between them", "[counters]") {
  Counted counted;
  const auto policy = counted.policy();
  policy.run({.name = "ship"}, failing(1));
  const auto before = counted.counters.snapshot();
  policy.run({.name = "ship"}, failing(2));
  CHECK((counted.counters.snapshot() - before).of("ship") ==
        ended(StopReason::succeeded, {.attempts = 3, .retries = 2, .recovered = 1, .slept = 2s}));
}

TEST_CASE("counters read no clock [P5]", "[counters]") {
  struct Unread {
    using role = encore::role::Clock;
    encore::TimePoint now() const { throw std::logic_error{"the clock was read"}; }
    encore::WallTime wall() const { throw std::logic_error{"the calendar was read"}; }
    void sleep_for(encore::Duration, const encore::StopView&) const {}
  };
  Counters counters;
  const encore::RetryPolicy policy{Unread{}, counters, encore::RetryOn<Slow>{}, encore::ConstantBackoff{0s},
                                   encore::NoJitter{}};
  policy.run({.name = "ship"}, failing(1));
  CHECK(counters.snapshot().of("ship").recovered == 1);
}

TEST_CASE("threads that count at the same time lose no count", "[counters][threads]") {
  constexpr int threads = 4;
  constexpr int calls = 10'000;
  Counters counters{{.max_tools = 5}};
  const encore::RetryPolicy policy{counters, encore::RetryOn<Slow>{}, encore::MaxRetries{1},
                                   encore::ConstantBackoff{0s}, encore::NoJitter{}};
  {
    std::barrier start{threads};
    std::vector<std::jthread> running;
    for (int thread = 0; thread < threads; ++thread)
      running.emplace_back([&] {
        start.arrive_and_wait();
        for (int call = 0; call < calls; ++call) {
          const auto name = std::to_string(call % 800 == 0 ? call / 800 : 0);  // mostly one tool
          policy.run({.name = name}, failing(call % 10 == 0 ? 1 : 0));
          if (call % 1'000 == 0) static_cast<void>(counters.snapshot());
        }
      });
  }
  std::uint64_t began = 0, attempts = 0, retries = 0, recovered = 0, succeeded = 0;
  for (const auto& tool : counters.snapshot().tools()) {
    began += tool.calls;
    attempts += tool.attempts;
    retries += tool.retries;
    recovered += tool.recovered;
    succeeded += tool.ended_because(StopReason::succeeded);
  }
  CHECK(counters.snapshot().tools().size() == 6);
  CHECK(began == threads * calls);
  CHECK(succeeded == threads * calls);
  CHECK(retries == threads * calls / 10);
  CHECK(recovered == retries);
  CHECK(attempts == began + retries);
}

TEST_CASE("threads that do nothing but count lose no count", "[counters][threads]") {
  constexpr int threads = 4;
  constexpr int rounds = 100'000;
  Counters counters;
  {
    std::barrier start{threads};
    std::vector<std::jthread> running;
    for (int thread = 0; thread < threads; ++thread)
      running.emplace_back([&] {
        const tests::StillClock clock;
        std::optional<encore::TimePoint> started;
        const auto retry = tests::event_of(encore::EventKind::attempt_started, 2, clock, started);
        start.arrive_and_wait();
        for (int round = 0; round < rounds; ++round) counters(retry);
      });
  }
  CHECK(counters.snapshot().of("inventory_lookup") == ToolCounts{.tool = "inventory_lookup",
                                                                 .attempts = std::uint64_t{threads} * rounds,
                                                                 .retries = std::uint64_t{threads} * rounds});
}

}  // namespace
