#include <encore/limits.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/refused.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::Attempt, encore::CountLimit, encore::Duration, encore::RetryOn, encore::RetryPolicy;
using encore::StopReason, encore::TimePoint;

namespace {

struct TimeoutError : std::runtime_error {
  TimeoutError() : std::runtime_error{"slow"} {}
};

// ---- counts (A1) -------------------------------------------------------------------------------------------------------

constexpr int most = std::numeric_limits<int>::max();
static_assert(CountLimit{}.max_retries(false) == 2);
static_assert(CountLimit::is_unlimited(CountLimit{}.max_retries(true)));
static_assert(CountLimit{encore::MaxRetries{0}}.max_retries(true) == 0);
static_assert(CountLimit{encore::MaxAttempts{1}}.max_retries(true) == 0);
static_assert(CountLimit{encore::MaxAttempts{3}} == CountLimit{encore::MaxRetries{2}});
static_assert(CountLimit::is_unlimited(CountLimit{encore::UnlimitedRetries{}}.max_retries(false)));
// The largest counts stand for no limit, and adding one to them does not overflow.
static_assert(CountLimit::is_unlimited(CountLimit{encore::MaxRetries{most}}.max_retries(false)));
static_assert(CountLimit::is_unlimited(CountLimit{encore::MaxAttempts{most}}.max_retries(false)));
static_assert(CountLimit{encore::MaxRetries{most - 2}}.max_retries(false) == most - 2);

static_assert(Duration{encore::HintCap{}.value} == 120s);
static_assert(Duration{encore::HintCap{std::chrono::hours::max()}.value} == encore::max_wait);

// ---- deadlines (D2, D3) ------------------------------------------------------------------------------------------------

const RetryPolicy plain{RetryOn<TimeoutError>{}, encore::NoJitter{}, encore::UnlimitedRetries{}};

struct Went {
  StopReason reason = StopReason::none;
  int attempts = 0;
  Durations sleeps;
  Duration elapsed{};
};
// Fails for ever, each attempt taking so long.
template <class Policy>
Went went(const Policy& policy, Duration each, std::optional<Duration> deadline = {}) {
  FakeClock clock;
  Scripted<void> tool{clock, always(throws<TimeoutError>().takes(each))};
  encore::Call call;
  if (deadline) call.deadline = TimePoint{*deadline};
  const auto outcome = policy.with(clock, encore::ReturnOutcome{}).run(call, tool);
  CHECK(outcome.attempts() == tool.calls());
  return {outcome.reason(), outcome.attempts(), clock.sleeps(), outcome.elapsed()};
}

TEST_CASE("a wait that would cross the time limit does not start (fault 16: tenacity #423, stamina) [D3, C6]",
          "[limits]") {
  const auto gone = went(plain.with(encore::TimeBudget{5s}), 0s);
  CHECK(gone.reason == StopReason::deadline);
  CHECK(gone.sleeps == Durations{1s, 2s});  // the next would be 4 s, and 2 s are left
  CHECK(gone.attempts == 3);
}

TEST_CASE("no attempt begins at the time limit or after it (fault 16: ihrwein/backoff #42) [D3]",
          "[limits]") {
  CHECK(went(plain.with(encore::TimeBudget{3s}), 0s).sleeps == Durations{1s});
  CHECK(went(plain.with(encore::TimeBudget{3s + 1ns}), 0s).sleeps == Durations{1s, 2s});
  CHECK(went(plain, 0s, 3s).sleeps == Durations{1s});
  CHECK(went(plain, 0s, 3s + 1ns).sleeps == Durations{1s, 2s});
  // Where nothing is waited for, an attempt that uses the limit up is the last one.
  const auto no_wait = plain.with(encore::ConstantBackoff{0s});
  CHECK(went(no_wait.with(encore::TimeBudget{1s}), 250ms).attempts == 4);
  CHECK(went(no_wait.with(encore::TimeBudget{1s + 1ns}), 250ms).attempts == 5);
}

TEST_CASE("a time limit of 5 s does not become 142 s (fault 17: ClickHouse #47983) [D3, D6]", "[limits]") {
  const auto gone = went(plain.with(encore::TimeBudget{5s}), 4s);
  CHECK(gone.reason == StopReason::deadline);
  CHECK(gone.attempts == 1);  // the wait of 1 s would end at the limit
  CHECK(gone.elapsed == 4s);
  CHECK(went(plain.with(encore::TimeBudget{5s}), 20s).attempts == 1);  // which nothing interrupts
}

TEST_CASE("the earliest limit ends the call: count, budget, deadline [D2]", "[limits]") {
  const auto both = plain.with(encore::TimeBudget{10s});
  CHECK(went(both, 0s, 2s).sleeps == Durations{1s});
  CHECK(went(both, 0s, 100s).sleeps == Durations{1s, 2s, 4s});
  const auto counted = both.with(encore::MaxRetries{1});
  CHECK(went(counted, 0s, 100s).reason == StopReason::retries_exhausted);
  CHECK(went(counted, 0s, 1s).reason == StopReason::deadline);
}

TEST_CASE("a time budget runs from the call's begin, not from the clock's [D2]", "[limits]") {
  FakeClock clock;
  clock.advance(1000h);
  Scripted<void> tool{always(throws<TimeoutError>())};
  CHECK_THROWS_AS(plain.with(clock, encore::TimeBudget{5s}).run(tool), TimeoutError);
  CHECK(clock.sleeps() == Durations{1s, 2s});
}

TEST_CASE("with a minimum attempt time, a retry that would have less is refused [D4]", "[limits]") {
  const auto policy = plain.with(encore::TimeBudget{5s});
  CHECK(went(policy.with(encore::MinAttemptTime{2s}), 0s).sleeps == Durations{1s, 2s});
  const auto refused = went(policy.with(encore::MinAttemptTime{2s + 1ns}), 0s);
  CHECK(refused.reason == StopReason::too_little_time_left);
  CHECK(refused.sleeps == Durations{1s});
  CHECK(refused.attempts == 2);
  CHECK(went(plain.with(encore::MinAttemptTime{1h}, encore::MaxRetries{1}), 0s).attempts ==
        2);  // no limit, no lack
}

// ---- expired on entry (D5) ----------------------------------------------------------------------------------------------

TEST_CASE(
    "a call that is expired on entry has its own error, and no attempt (fault 17: google-cloud-cpp #12294) "
    "[D5, G4]",
    "[limits]") {
  FakeClock clock;
  clock.advance(10s);
  Scripted<int> never;
  const auto refused = [&](const auto& policy, const encore::Call& call) {
    CHECK_THROWS_AS(policy.with(clock).run(call, never), encore::Refused);
    const auto outcome = policy.with(clock, encore::ReturnOutcome{}).run(call, never);
    CHECK(outcome.reason() == StopReason::expired_on_entry);
    CHECK(outcome.attempts() == 0);
    CHECK(outcome.failure().error == nullptr);
    CHECK(outcome.failure().refused_on_entry());
    CHECK(policy
              .with(clock, encore::FormatFailure{[](const encore::Failure& failure) {
                      return failure.attempts - 1;
                    }})
              .run(call, never) == -1);
  };
  refused(plain, {.deadline = TimePoint{10s}});
  refused(plain, {.deadline = TimePoint{9s}});
  refused(plain, {.deadline = TimePoint::min()});
  refused(plain.with(encore::TimeBudget{0s}), {});
  refused(plain.with(encore::TimeBudget{1h}), {.deadline = TimePoint{10s}});
  CHECK(never.calls() == 0);
  CHECK(clock.sleeps().empty());

  Scripted<int> at_once{returns(17)};
  CHECK(plain.with(clock).run({.deadline = TimePoint{10s + 1ns}}, at_once) == 17);
}

// ---- what an attempt is told, and that it is left alone (D6, D2) -----------------------------------------------------------

TEST_CASE("a success that comes after the deadline is a success (fault: failsafe #121) [D6]", "[limits]") {
  FakeClock clock;
  Scripted<int> tool{clock, returns(17).takes(1h)};
  CHECK(plain.with(clock, encore::TimeBudget{5s}).run({.deadline = TimePoint{1s}}, tool) == 17);
}

TEST_CASE("an attempt knows the time that remains, and its own limit [D6]", "[limits]") {
  FakeClock clock;
  std::vector<std::optional<Duration>> told;
  const auto tell = [&](const Attempt& attempt) {
    told.push_back(attempt.remaining());
    clock.advance(100ms);
    if (attempt.ordinal < 3) throw TimeoutError{};
  };
  const auto policy = plain.with(clock);
  policy.run(tell);
  CHECK(told == std::vector<std::optional<Duration>>(3));
  told.clear();
  policy.with(encore::TimeBudget{5s}).run(tell);
  CHECK(told == std::vector<std::optional<Duration>>{5s, 3900ms, 1800ms});
  told.clear();
  policy.with(encore::TimeBudget{5s}, encore::AttemptTimeout{2s}).run(tell);
  CHECK(told == std::vector<std::optional<Duration>>{2s, 2s, 1800ms});
  told.clear();
  policy.with(encore::AttemptTimeout{2s}).run(tell);
  CHECK(told == std::vector<std::optional<Duration>>{2s, 2s, 2s});
}

TEST_CASE("an inner call can inherit its outer attempt's deadline [D2]", "[limits]") {
  FakeClock clock;
  Scripted<int> inner{always(throws<TimeoutError>())};
  const auto policy = plain.with(clock, encore::TimeBudget{10s});
  CHECK_THROWS_AS(policy.run([&](const Attempt& outer) {
    CHECK(outer.deadline() == TimePoint{10s});
    return plain.with(clock).run({.deadline = outer.deadline()}, inner);
  }),
                  TimeoutError);
  // The inner call waits 1 s, 2 s and 4 s, but not 8 s in the 3 s that are left; the outer one 1 s; the inner 1 s more.
  CHECK(clock.sleeps() == Durations{1s, 2s, 4s, 1s, 1s});
}

// ---- clocks that misbehave (D7, D8) ----------------------------------------------------------------------------------------

TEST_CASE(
    "a clock that is set back makes no time negative and no wait endless (fault 19: CrossPaste #4547) [D7]",
    "[limits]") {
  FakeClock clock;
  clock.set(TimePoint{100h});
  int attempts = 0;
  std::vector<std::optional<Duration>> remaining;
  const auto outcome =
      plain.with(clock, encore::TimeBudget{10s}, encore::ReturnOutcome{}).run([&](const Attempt& attempt) {
        if (++attempts == 1) clock.set(TimePoint{50h});
        remaining.push_back(attempt.remaining());
        throw TimeoutError{};
      });
  // Back at 50 h the whole budget is left, never more; so all waits are as ever, and the count alone cannot end the call.
  for (const auto& left : remaining) CHECK(left == 10s);
  CHECK(clock.sleeps().front() == 1s);
  CHECK(outcome.reason() == StopReason::deadline);  // the fifth wait, 16 s, does not fit into 10 s
  CHECK(clock.sleeps() == Durations{1s, 2s, 4s, 8s});
  CHECK(outcome.elapsed() == 0s);
}

TEST_CASE("a clock that jumps forward ends the call at its limit (fault 19: aws #2275) [D3, D7]",
          "[limits]") {
  FakeClock clock;
  int attempts = 0;
  const auto outcome = plain.with(clock, encore::TimeBudget{10s}, encore::ReturnOutcome{}).run([&] {
    if (++attempts == 2) clock.set(TimePoint{100h});
    throw TimeoutError{};
  });
  CHECK(outcome.reason() == StopReason::deadline);
  CHECK(attempts == 2);
  CHECK(clock.sleeps() == Durations{1s});
}

// Sleeps longer than it was told to.
struct Oversleeper {
  using role = encore::role::Clock;
  FakeClock& clock;
  Duration more;
  TimePoint now() const { return clock.now(); }
  encore::WallTime wall() const { return clock.wall(); }
  void sleep_for(Duration duration, const encore::StopView& stop) const {
    clock.sleep_for(duration + more, stop);
  }
};

TEST_CASE("after a wait that overshoots the limit there is no attempt [D3]", "[limits]") {
  FakeClock fake;
  const auto oversleeping = [&](Duration more, const auto&... options) {
    fake.set(TimePoint{});
    Scripted<void> tool{always(throws<TimeoutError>())};
    const auto outcome = plain.with(Oversleeper{fake, more}, encore::ReturnOutcome{}, options...).run(tool);
    CHECK_THROWS_AS(std::rethrow_exception(outcome.failure().error), TimeoutError);
    return std::pair{outcome.reason(), outcome.attempts()};
  };
  CHECK(oversleeping(4s, encore::TimeBudget{5s}) == std::pair{StopReason::deadline, 1});
  CHECK(oversleeping(4s - 1ns, encore::TimeBudget{5s}) == std::pair{StopReason::deadline, 2});
  CHECK(oversleeping(3s, encore::TimeBudget{5s}, encore::MinAttemptTime{2s}) ==
        std::pair{StopReason::too_little_time_left, 1});
}

TEST_CASE(
    "with zero waits and only a time limit the call ends when its time is up (fault 19: kafka #12791) [D8]",
    "[limits]") {
  const auto gone = went(plain.with(encore::ConstantBackoff{0s}, encore::TimeBudget{1s}), 100ms);
  CHECK(gone.reason == StopReason::deadline);
  CHECK(gone.attempts == 10);
  CHECK(gone.sleeps.empty());
}

TEST_CASE("if no time passes at all, the fake clock ends the call loudly (fault 19: kafka #12791) [D8]",
          "[limits]") {
  FakeClock clock{{.max_attempts_without_progress = 50}};
  const auto policy = plain.with(clock, encore::ConstantBackoff{0s}, encore::TimeBudget{1s});
  Scripted<int> tool{always(throws<TimeoutError>())};
  CHECK_THROWS_AS(policy.run(tool), NoProgress);
  CHECK(tool.calls() == 50);
  Scripted<int> taking_no_attempt{always(throws<TimeoutError>())};
  CHECK_THROWS_AS(policy.with(encore::ReturnOutcome{}).run(taking_no_attempt).value(), NoProgress);
}

TEST_CASE("no budget and no deadline is so long that it overflows [C7]", "[limits]") {
  CHECK(went(plain.with(encore::TimeBudget{Duration::max()}, encore::MaxRetries{1}), 1s).attempts == 2);
  CHECK(went(plain.with(encore::MaxRetries{1}), 1s, Duration::max()).attempts == 2);
  const auto longest =
      encore::ExponentialBackoff{.initial_delay = std::chrono::hours::max(), .max_delay = Duration::max()};
  CHECK(went(plain.with(longest, encore::MaxRetries{1}), 0s).sleeps == Durations{encore::max_wait});
  CHECK(went(plain.with(longest, encore::TimeBudget{Duration::max()}, encore::MaxRetries{1}), 0s).attempts ==
        2);
  CHECK(went(plain.with(longest, encore::TimeBudget{1h}), 0s).reason == StopReason::deadline);
}

}  // namespace
