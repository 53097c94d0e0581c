// A call that a guard refuses ends after the wait that it would have had: no loop around it becomes a hot one.
#include <encore/async/co_run.hpp>
#include <encore/durable/durable_call.hpp>
#include <encore/guard/circuit_breaker.hpp>
#include <encore/guard/guard.hpp>
#include <encore/guard/per_call.hpp>
#include <encore/guard/retry_budget.hpp>
#include <encore/limits.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/retrying.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/manual_executor.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/task.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <utility>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::Decision, encore::EventKind, encore::Refused, encore::RetryOn, encore::RetryPolicy,
    encore::StopReason, encore::WaitWhenRefused;

namespace {

struct Slow : std::runtime_error {
  Slow() : std::runtime_error{"slow"} {}
};

/// Admits first attempts as long as it is open, and retries never.
struct Gate {
  using role = encore::role::Guard;
  static constexpr auto refusal = StopReason::circuit_open;
  class Permit {
   public:
    explicit Permit(Gate& gate) : gate_{&gate} {}
    Permit(Permit&& other) noexcept : gate_{std::exchange(other.gate_, nullptr)} {}
    ~Permit() {
      if (gate_ != nullptr) --gate_->out;
    }
    void succeeded(const encore::Now&) {}
    void failed(const encore::Now&, bool) {}

   private:
    Gate* gate_;
  };
  std::optional<Permit> admit(const encore::AdmissionRequest& request) {
    if (!open || request.is_retry()) return std::nullopt;
    ++out;
    return std::optional<Permit>{std::in_place, *this};
  }
  bool open = true;
  int out = 0;
  Gate() = default;
  Gate(const Gate&) = delete;
};

/// A policy whose guard refuses every retry, or everything, on fake time.
struct Bench {
  FakeClock clock;
  Gate gate;
  Recorder trace;
  ManualExecutor executor{clock};
  auto policy() {
    return RetryPolicy{RetryOn<Slow>{},
                       encore::NoJitter{},
                       encore::ConstantBackoff{2s},
                       WaitWhenRefused{},
                       clock,
                       gate,
                       trace};
  }
};

const auto fail = []() -> int { throw Slow{}; };

TEST_CASE("a poll loop on an empty retry budget makes one request for each wait, not as many as it can [H10]",
          "[wait_when_refused]") {
  FakeClock clock;
  encore::RetryBudget budget{{.share = 0.1, .floor = 0}};
  const RetryPolicy policy{RetryOn<Slow>{},  encore::ConstantBackoff{1s}, encore::NoJitter{}, clock, budget,
                           WaitWhenRefused{}};
  int requests = 0;
  const auto end = clock.now() + 60s;
  while (clock.now() < end) {
    try {
      policy.run([&] {
        if (++requests > 5000) clock.advance(1h);  // a hot loop would never end
        throw Slow{};
      });
    } catch (const Slow&) {}
  }
  CHECK(requests <= 60);
  CHECK(requests >= 50);
}

TEST_CASE("a poll loop on an open breaker asks it once for each wait [H10]", "[wait_when_refused]") {
  FakeClock clock;
  encore::CircuitBreaker breaker{{.failures_to_open = 1, .open_for = 1h}};
  const RetryPolicy policy{RetryOn<Slow>{}, encore::ConstantBackoff{1s}, encore::NoJitter{},     clock,
                           breaker,         WaitWhenRefused{},           encore::ReturnOutcome{}};
  int calls = 0, requests = 0;
  const auto end = clock.now() + 60s;
  while (clock.now() < end && ++calls < 5000)
    static_cast<void>(policy.run([&] {
      ++requests;
      throw Slow{};
    }));
  CHECK(requests == 1);
  CHECK(calls == 60);
}

TEST_CASE(
    "a refused retry ends its call after its wait, with the guard's reason and the last failure [H2, H10]",
    "[wait_when_refused]") {
  Bench bench;
  CHECK_THROWS_AS(bench.policy().run({.id = "1"}, fail), Slow);
  CHECK(bench.clock.sleeps() == Durations{2s});
  CHECK(bench.gate.out == 0);
  const auto told = bench.trace.of("1");
  REQUIRE(told.size() == 3);
  CHECK(told[1].kind == EventKind::attempt_failed);
  CHECK(!told[1].will_retry);
  CHECK(told[1].reason == StopReason::circuit_open);
  CHECK(told[1].wait == 2s);
  CHECK(told[2].kind == EventKind::call_finished);
  CHECK(told[2].reason == StopReason::circuit_open);
  CHECK(told[2].slept == 2s);
  CHECK(told[2].ordinal == 1);
  CHECK(told[2].error_type == told[1].error_type);

  const auto outcome = bench.policy().with(encore::ReturnOutcome{}).run(fail);
  CHECK(outcome.reason() == StopReason::circuit_open);
  CHECK(outcome.slept() == 2s);
  CHECK(outcome.elapsed() == 2s);
  CHECK(outcome.failure().error != nullptr);
  CHECK(bench.clock.sleeps() == Durations{2s, 2s});
}

TEST_CASE("a refused retry of a returned failure returns the value after the wait [G1, H10]",
          "[wait_when_refused]") {
  Bench bench;
  const auto judging = bench.policy().with(encore::RetryIfResult{[](int units) { return units < 0; }});
  CHECK(judging.run([] { return -1; }) == -1);
  CHECK(bench.clock.sleeps() == Durations{2s});
  CHECK(judging
            .with(encore::FormatFailure{
                [](const encore::Failure& failure) { return failure.slept == 2s ? 7 : 0; }})
            .run([] { return -1; }) == 7);
}

TEST_CASE("a call that is refused on entry ends after the first wait of its schedule [G4, H10]",
          "[wait_when_refused]") {
  Bench bench;
  bench.gate.open = false;
  CHECK_THROWS_AS(bench.policy().run({.id = "1"}, fail), Refused);
  CHECK(bench.clock.sleeps() == Durations{2s});
  const auto told = bench.trace.of("1");
  REQUIRE(told.size() == 1);
  CHECK(told[0].kind == EventKind::call_finished);
  CHECK(told[0].ordinal == 0);
  CHECK(told[0].reason == StopReason::circuit_open);
  CHECK(told[0].slept == 2s);
}

TEST_CASE("the wait of a refused call is no longer than the time that is left [D3, H10]",
          "[wait_when_refused]") {
  Bench bench;
  bench.gate.open = false;
  const auto policy = bench.policy().with(encore::ReturnOutcome{});
  const auto in_budget = policy.with(encore::TimeBudget{500ms}).run(fail);
  CHECK(in_budget.reason() == StopReason::circuit_open);
  CHECK(in_budget.slept() == 500ms);
  CHECK(policy.run({.deadline = bench.clock.now() + 300ms}, fail).slept() == 300ms);
  CHECK(bench.clock.sleeps() == Durations{500ms, 300ms});
  // A retry that the time does not allow is not asked for, and not waited for.
  bench.gate.open = true;
  CHECK(policy.with(encore::TimeBudget{1s}).run(fail).reason() == StopReason::deadline);
  CHECK(bench.clock.sleeps().size() == 2);
}

TEST_CASE("a stop request ends the wait of a refused call, whose reason is still the guard's [K1, H10]",
          "[wait_when_refused]") {
  for (const bool open : {false, true}) {
    Bench bench;
    bench.gate.open = open;
    std::stop_source source;
    const auto token = source.get_token();
    bench.clock.at(bench.clock.now() + 700ms, [&] { source.request_stop(); });
    const auto outcome = bench.policy().with(encore::ReturnOutcome{}).run({.stop = token}, fail);
    CHECK(outcome.reason() == StopReason::circuit_open);
    CHECK(outcome.slept() == 700ms);
    CHECK(outcome.attempts() == (open ? 1 : 0));
  }
}

TEST_CASE("permits are returned before the wait of a refused call, not after it [H1, H10]",
          "[wait_when_refused]") {
  Bench bench;
  Gate of_the_call;
  int out = -1;
  bench.clock.at(bench.clock.now() + 1s, [&] { out = bench.gate.out + of_the_call.out; });
  CHECK_THROWS_AS(bench.policy().with(encore::PerCall{of_the_call}).run(fail), Slow);
  CHECK(out == 0);
}

TEST_CASE(
    "a PerCall guard does not count a call that is refused before its first attempt as failed [H1, H3, H10]",
    "[wait_when_refused]") {
  Bench bench;
  bench.gate.open = false;
  encore::CircuitBreaker breaker{{.failures_to_open = 1}};
  const RetryPolicy policy{RetryOn<Slow>{}, bench.clock, encore::PerCall{breaker}, bench.gate,
                           WaitWhenRefused{}};
  const auto state = [&] { return breaker.state(encore::Now{bench.clock}); };
  CHECK_THROWS_AS(policy.run({.id = "1"}, fail), Refused);
  CHECK(state() == encore::CircuitState::closed);
  CHECK_THROWS_AS(policy.with(bench.trace).run(fail), Refused);
  CHECK(state() == encore::CircuitState::closed);
  encore::Retrying retrying{policy, {.id = "2"}};
  CHECK(retrying.begin().stop == StopReason::circuit_open);
  CHECK(state() == encore::CircuitState::closed);
  CHECK_THROWS_AS(bench.executor.run(encore::co_run(
                      policy,
                      []() -> Task<int> {
                        throw Slow{};
                        co_return 1;
                      },
                      bench.executor.sleeper())),
                  Refused);
  CHECK(state() == encore::CircuitState::closed);
  // One that made an attempt is a failed call.
  bench.gate.open = true;
  CHECK_THROWS_AS(policy.run(fail), Slow);
  CHECK(state() == encore::CircuitState::open);
}

TEST_CASE("without WaitWhenRefused, or where no guard refuses, no wait is added [C6, H2]",
          "[wait_when_refused]") {
  Bench bench;
  const auto at_once = bench.policy().without<encore::role::WhenRefused>();
  CHECK_THROWS_AS(at_once.run(fail), Slow);
  bench.gate.open = false;
  CHECK_THROWS_AS(at_once.run(fail), Refused);
  std::stop_source stopped;
  stopped.request_stop();
  const auto token = stopped.get_token();
  CHECK_THROWS_AS(bench.policy().run({.stop = token}, fail), Refused);
  CHECK_THROWS_AS(bench.policy().with(encore::TimeBudget{0s}).run(fail), Refused);
  bench.gate.open = true;
  CHECK_THROWS_AS(bench.policy().with(encore::MaxRetries{0}).run(fail), Slow);
  CHECK_THROWS_AS(bench.policy().run([]() -> int { throw 3; }), int);
  CHECK(bench.policy().run([] { return 17; }) == 17);
  CHECK(bench.clock.sleeps().empty());
}

TEST_CASE("a refused call in a coroutine waits as in a thread [H10]", "[wait_when_refused]") {
  Bench bench;
  const auto run = [&](const auto& policy) {
    return bench.executor.run(encore::co_run(
        policy, {.id = "1"},
        []() -> Task<int> {
          throw Slow{};
          co_return 0;
        },
        bench.executor.sleeper()));
  };
  auto began = bench.clock.now();
  CHECK_THROWS_AS(run(bench.policy()), Slow);
  CHECK(bench.clock.now() - began == 2s);
  const auto outcome = run(bench.policy().with(encore::ReturnOutcome{}));
  CHECK(outcome.reason() == StopReason::circuit_open);
  CHECK(outcome.slept() == 2s);

  const auto judging = bench.policy().with(encore::RetryIfResult{[](int units) { return units < 0; }});
  began = bench.clock.now();
  CHECK(bench.executor.run(
            encore::co_run(judging, []() -> Task<int> { co_return -1; }, bench.executor.sleeper())) == -1);
  CHECK(bench.clock.now() - began == 2s);

  bench.gate.open = false;
  bench.trace.clear();
  began = bench.clock.now();
  CHECK_THROWS_AS(run(bench.policy()), Refused);
  CHECK(bench.clock.now() - began == 2s);
  REQUIRE(bench.trace.of("1").size() == 1);
  CHECK(bench.trace.of("1")[0].slept == 2s);
  CHECK(bench.gate.out == 0);
}

TEST_CASE(
    "a coroutine that is destroyed in the wait of its refusal ends with the guard's reason, once [F1, H10]",
    "[wait_when_refused]") {
  for (const bool open : {false, true}) {
    Bench bench;
    bench.gate.open = open;
    {
      auto task = encore::co_run(
          bench.policy(), {.id = "1"},
          []() -> Task<int> {
            throw Slow{};
            co_return 0;
          },
          bench.executor.sleeper());
      task.start();
      bench.executor.run_for(1s);
      CHECK(!task.done());
      CHECK(bench.gate.out == 0);
    }
    const auto told = bench.trace.of("1");
    REQUIRE(told.size() == (open ? 3 : 1));
    CHECK(told.back().kind == EventKind::call_finished);
    CHECK(told.back().reason == StopReason::circuit_open);
  }
}

TEST_CASE("the driver of a refused Retrying call finds the wait in the last decision [H10]",
          "[wait_when_refused]") {
  const Decision last{.stop = StopReason::circuit_open, .wait = 2s};
  Bench bench;
  const auto policy = bench.policy();
  encore::Retrying retrying{policy, {.id = "1"}};
  CHECK(retrying.begin() == Decision{});
  const Slow error;
  CHECK(retrying.threw(&error) == last);
  CHECK(!last.goes_on());
  CHECK(retrying.reason() == StopReason::circuit_open);
  CHECK(retrying.slept() == 2s);
  CHECK(bench.gate.out == 0);
  REQUIRE(bench.trace.of("1").size() == 3);
  CHECK(bench.trace.of("1")[2].slept == 2s);
  CHECK(bench.clock.sleeps().empty());

  encore::DurableCall durable{policy, {.id = "2"}};
  CHECK(durable.begin() == Decision{});
  CHECK(durable.threw(&error) == last);

  bench.gate.open = false;
  encore::Retrying refused{policy, {.id = "3"}};
  CHECK(refused.begin() == last);
  CHECK(refused.attempts() == 0);
}

TEST_CASE("a restored call that a guard refuses ends after the rest of its wait [H10]",
          "[wait_when_refused]") {
  Bench bench;
  const auto unguarded = bench.policy().without<encore::role::Guard>();
  encore::DurableCall first{unguarded, {.id = "1"}};
  static_cast<void>(first.begin());
  const Slow error;
  CHECK(first.threw(&error) == Decision{.wait = 2s});
  const auto saved = encore::SavedCall::read(first.save());
  bench.clock.advance(500ms);
  const auto policy = bench.policy();
  encore::DurableCall second{policy, saved};
  CHECK(second.next() == Decision{.stop = StopReason::circuit_open, .wait = 1500ms});
  CHECK(second.slept() == 2s);
  CHECK(second.reason() == StopReason::circuit_open);
}

}  // namespace
