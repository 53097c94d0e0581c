// LIBRARIES: Catch2::Catch2WithMain
// How a retried coroutine is tested: on fake time, by an executor that runs one thing after another, always in the same order.
#include <encore/async/co_run.hpp>
#include <encore/encore.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/manual_executor.hpp>
#include <encore/testing/matchers.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>

#include <stdexcept>
#include <stop_token>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::Attempt, encore::StopReason;

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};

// As the program has it, with jitter.
const encore::RetryPolicy lookup_policy{
    encore::RetryOn<TimeoutError>{},
    encore::ExponentialBackoff{.initial_delay = 250ms, .factor = 2.0, .max_delay = 2s},
};

TEST_CASE("a coroutine that is slow twice succeeds at its third attempt") {
  FakeClock clock;
  ManualExecutor executor{clock};
  Recorder trace;
  const auto policy = lookup_policy.with(clock, trace, encore::NoJitter{});
  Scripted<int> inventory{times(2, throws<TimeoutError>("slow")), returns(17)};
  const auto look_up = [&](const Attempt& attempt) -> Task<int> { co_return inventory(attempt); };

  CHECK(executor.run(co_run(policy, {.id = "call-17"}, look_up, executor.sleeper())) == 17);
  CHECK(clock.sleeps() == Durations{250ms, 500ms});
  CHECK_THAT(trace, Attempted("call-17", 3) && EndedBecause(StopReason::succeeded));
}

TEST_CASE("a stop request ends the wait of a coroutine at once") {
  FakeClock clock;
  ManualExecutor executor{clock};
  Recorder trace;
  const auto policy = lookup_policy.with(clock, trace, encore::NoJitter{});
  std::stop_source user;
  const auto token = user.get_token();
  clock.after(100ms, [&] { user.request_stop(); });
  Scripted<int> inventory{throws<TimeoutError>("slow"), returns(17)};
  const auto look_up = [&](const Attempt& attempt) -> Task<int> { co_return inventory(attempt); };

  CHECK_THROWS_AS(executor.run(co_run(policy, {.id = "call-17", .stop = token}, look_up, executor.sleeper())),
                  TimeoutError);
  CHECK(clock.sleeps() == Durations{100ms});
  CHECK_THAT(trace, Attempted("call-17", 1) && EndedBecause(StopReason::cancelled));
}

TEST_CASE("two coroutines wait side by side") {
  FakeClock clock;
  ManualExecutor executor{clock};
  const auto policy = lookup_policy.with(clock, encore::NoJitter{});
  Scripted<int> inventory{throws<TimeoutError>("slow"), returns(17)};
  Scripted<int> prices{times(2, throws<TimeoutError>("slow")), returns(5)};
  auto units = co_run(
      policy, [&](const Attempt& attempt) -> Task<int> { co_return inventory(attempt); }, executor.sleeper());
  auto price = co_run(
      policy, [&](const Attempt& attempt) -> Task<int> { co_return prices(attempt); }, executor.sleeper());
  units.start(), price.start();

  executor.run_for(250ms);
  CHECK(units.done());
  CHECK(!price.done());
  executor.run();
  CHECK(units.result() * price.result() == 85);
  CHECK(clock.now() == encore::TimePoint{} + 750ms);
}
