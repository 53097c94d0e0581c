#include <encore/limits.hpp>
#include <encore/never_retry.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/schedule.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using Catch::Matchers::ContainsSubstring;
using encore::Attempt, encore::RetryOn, encore::RetryPolicy;

namespace {

struct TimeoutError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// ---- defaults and counts (A1) ----------------------------------------------------------------------------------------

TEST_CASE("options that are not given have the defaults that the README explains [A1]", "[retry_policy]") {
  constexpr RetryPolicy policy{RetryOn<TimeoutError>{}};
  STATIC_CHECK(policy.max_retries() == 2);
  STATIC_CHECK(policy.max_attempts() == 3);
  STATIC_CHECK(encore::Duration{policy.backoff().initial_delay} == 1s);
  STATIC_CHECK(policy.backoff().factor == 2.0);
  STATIC_CHECK(encore::Duration{policy.backoff().max_delay} == 60s);
  STATIC_CHECK(policy.jitter().ratio == 0.25);
  STATIC_CHECK(policy.hint_cap() == 120s);
  STATIC_CHECK(policy.rethrows);
  STATIC_CHECK_FALSE(policy.time_budget());
  STATIC_CHECK_FALSE(policy.attempt_timeout());
  STATIC_CHECK_FALSE(policy.seed());
}

TEST_CASE("a time limit alone sets no hidden count limit (fault 13: failsafe #241) [A1]", "[retry_policy]") {
  STATIC_CHECK_FALSE(RetryPolicy{RetryOn<TimeoutError>{}, encore::TimeBudget{5s}}.max_attempts());
  STATIC_CHECK(
      RetryPolicy{RetryOn<TimeoutError>{}, encore::TimeBudget{5s}, encore::MaxRetries{4}}.max_attempts() ==
      5);

  FakeClock clock;
  const RetryPolicy policy{clock, RetryOn<TimeoutError>{}, encore::TimeBudget{1h},
                           encore::ConstantBackoff{1s}};
  Scripted<int> tool{times(100, throws<TimeoutError>("slow")), returns(17)};
  CHECK(policy.run(tool) == 17);
  CHECK(clock.sleeps().size() == 100);
}

TEST_CASE(
    "a retry count of 0 means one attempt, not none and not unlimited (fault 13: cenkalti #80, avast #41) "
    "[A1]",
    "[retry_policy]") {
  FakeClock clock;
  Scripted<int> tool{always(throws<TimeoutError>("slow"))};
  CHECK_THROWS_AS((RetryPolicy{clock, RetryOn<TimeoutError>{}, encore::MaxRetries{0}}.run(tool)),
                  TimeoutError);
  CHECK(tool.calls() == 1);
  CHECK_THROWS_AS((RetryPolicy{clock, RetryOn<TimeoutError>{}, encore::MaxAttempts{1}}.run(tool)),
                  TimeoutError);
  CHECK(tool.calls() == 2);
  CHECK(clock.sleeps().empty());
}

TEST_CASE("a policy makes as many attempts as it announces (fault 14: GoogleFindMy #990) [A1]",
          "[retry_policy]") {
  FakeClock clock;
  Recorder trace;
  const RetryPolicy policy{clock, trace, RetryOn<TimeoutError>{}, encore::MaxAttempts{6}};
  Scripted<int> tool{always(throws<TimeoutError>("slow"))};
  CHECK_THROWS_AS(policy.run({.id = "call"}, tool), TimeoutError);
  CHECK(tool.ordinals() == std::vector{1, 2, 3, 4, 5, 6});
  for (const auto& event : trace.of("call")) CHECK(event.max_attempts == 6);
}

TEST_CASE("a negative retry count is invalid, and the error names the field [A1]", "[retry_policy]") {
  const auto retries = [](int count) {
    return RetryPolicy{RetryOn<TimeoutError>{}, encore::MaxRetries{count}};
  };
  CHECK_THROWS_WITH(retries(-1), ContainsSubstring("max_retries = -1"));
  const auto attempts = [](int count) {
    return RetryPolicy{RetryOn<TimeoutError>{}, encore::MaxAttempts{count}};
  };
  CHECK_THROWS_WITH(attempts(0), ContainsSubstring("max_attempts = 0"));
}

TEST_CASE("unlimited retries have a name of their own [A1]", "[retry_policy]") {
  FakeClock clock;
  const RetryPolicy policy{clock, RetryOn<TimeoutError>{}, encore::UnlimitedRetries{},
                           encore::ConstantBackoff{1s}};
  STATIC_CHECK_FALSE(RetryPolicy{RetryOn<TimeoutError>{}, encore::UnlimitedRetries{}}.max_attempts());
  Scripted<int> tool{times(1'000, throws<TimeoutError>("slow")), returns(17)};
  CHECK(policy.run(tool) == 17);
}

// ---- one call (A2, A3) -------------------------------------------------------------------------------------------------

TEST_CASE("the first attempt that does not fail ends the call [A2]", "[retry_policy]") {
  FakeClock clock;
  const RetryPolicy policy{clock, RetryOn<TimeoutError>{}, encore::MaxRetries{9}, encore::NoJitter{}};
  Scripted<int> at_once{returns(1)};
  CHECK(policy.run(at_once) == 1);
  Scripted<int> later{throws<TimeoutError>("slow"), returns(2)};
  CHECK(policy.run(later) == 2);
  CHECK(at_once.finished());
  CHECK(later.finished());
  CHECK(clock.sleeps() == Durations{1s});
}

TEST_CASE("a callable may take a Call as its argument, and a generic one any argument [A6]",
          "[retry_policy]") {
  const RetryPolicy policy{RetryOn<TimeoutError>{}};
  CHECK(policy.run([](const encore::Call& call) { return call.id.size(); }, encore::Call{.id = "call-17"}) ==
        7);
  CHECK(policy.run([](const auto& text) { return text.size(); }, std::string{"lookup"}) == 6);
}

TEST_CASE("a second call of a policy starts fresh (fault 15: google-cloud-cpp #3049, cenkalti #47) [A3]",
          "[retry_policy]") {
  FakeClock clock;
  const RetryPolicy policy{clock, RetryOn<TimeoutError>{}, encore::NoJitter{}, encore::TimeBudget{5s}};
  Scripted<int> tool{always(throws<TimeoutError>("slow"))};
  for (int call = 1; call <= 3; ++call) {
    CHECK_THROWS_AS(policy.run(tool), TimeoutError);
    clock.advance(7s);
  }
  // Each waits 1 s, then 2 s; a third wait of 4 s would cross its own 5 s.
  CHECK(clock.sleeps() == Durations{1s, 2s, 1s, 2s, 1s, 2s});
  CHECK(tool.ordinals() == std::vector{1, 2, 3, 1, 2, 3, 1, 2, 3});
}

TEST_CASE("a policy inside its own callable keeps both counts (fault 34: tenacity #478) [A3]",
          "[retry_policy]") {
  FakeClock clock;
  Recorder trace;
  const RetryPolicy policy{clock, trace, RetryOn<TimeoutError>{}, encore::NoJitter{}};
  std::vector<std::string> made;
  const auto result = policy.run({.id = "outer"}, [&](const Attempt& outer) {
    made.push_back("outer " + std::to_string(outer.ordinal));
    Scripted<int> inner{always(throws<TimeoutError>("slow"))};
    CHECK_THROWS_AS(policy.run({.id = "inner"}, inner), TimeoutError);
    CHECK(inner.ordinals() == std::vector{1, 2, 3});
    CHECK(outer.call_id() == "outer");
    if (made.size() < 3) throw TimeoutError{"slow"};
    return outer.ordinal;
  });
  CHECK(result == 3);
  CHECK(made == std::vector<std::string>{"outer 1", "outer 2", "outer 3"});
  CHECK(clock.sleeps() == Durations{1s, 2s, 1s, 1s, 2s, 2s, 1s, 2s});
  CHECK(trace.of("inner").size() == 3 * 7);
}

TEST_CASE(
    "sleeps are one fewer than attempts, and there is none after a stop of any kind (fault 3: Azure #7132; "
    "avast #129) [C6]",
    "[retry_policy]") {
  const auto sleeps_after = [](const auto& policy, const auto&... steps) {
    FakeClock own;
    Scripted<int> tool{steps()...};
    const auto result = policy.with(own, encore::ReturnOutcome{}, encore::HandleUnmatched{});
    try {
      static_cast<void>(result.run(tool));
    } catch (const std::exception&) {}
    CHECK(own.sleeps().size() == static_cast<std::size_t>(tool.calls() - 1));
    return own.sleeps();
  };
  const auto slow = [] { return throws<TimeoutError>("slow"); };
  const auto for_ever = [] { return always(throws<TimeoutError>("slow")); };
  const auto bug = [] { return throws<std::logic_error>("bug"); };
  const auto good = [] { return returns(17); };
  const RetryPolicy plain{RetryOn<TimeoutError>{}, encore::NoJitter{}};
  CHECK(sleeps_after(plain, good) == Durations{});
  CHECK(sleeps_after(plain, slow, good) == Durations{1s});
  CHECK(sleeps_after(plain, for_ever) == Durations{1s, 2s});
  CHECK(sleeps_after(plain, bug) == Durations{});
  CHECK(sleeps_after(plain, slow, bug) == Durations{1s});
  CHECK(sleeps_after(plain.with(encore::RetryOn<std::exception>{}, encore::NeverRetry<TimeoutError>{}),
                     slow) == Durations{});
  CHECK(sleeps_after(plain.with(encore::RetryIf{[](const TimeoutError&) -> bool { throw 42; }}), slow) ==
        Durations{});
  CHECK(sleeps_after(plain.with(encore::TimeBudget{3s}), for_ever) == Durations{1s});
  CHECK(sleeps_after(plain.with(encore::TimeBudget{4s}, encore::MinAttemptTime{2s}), for_ever) ==
        Durations{1s});
}

TEST_CASE("a wait of zero does not sleep [C5]", "[retry_policy]") {
  FakeClock clock;
  Scripted<int> tool{times(2, throws<TimeoutError>("slow")), returns(17)};
  CHECK(RetryPolicy{clock, RetryOn<TimeoutError>{}, encore::ConstantBackoff{0s}}.run(tool) == 17);
  CHECK(clock.sleeps().empty());
}

// ---- every strategy, the same attempts (A7) ----------------------------------------------------------------------------

struct Made {
  std::vector<int> ordinals;
  Durations sleeps;
  friend bool operator==(const Made&, const Made&) = default;
};

using Steps = std::vector<std::function<int()>>;

template <class... More>
Made made_with(const Steps& steps, const More&... more) {
  FakeClock clock;
  const RetryPolicy policy{
      clock, RetryOn<TimeoutError>{} || encore::RetryIfResult{[](int units) { return units < 0; }},
      encore::MaxRetries{3}, encore::NoJitter{}, more...};
  Made made;
  try {
    static_cast<void>(policy.run([&](const Attempt& attempt) {
      made.ordinals.push_back(attempt.ordinal);
      return steps.at(made.ordinals.size() - 1)();
    }));
  } catch (const std::exception&) {}
  made.sleeps = clock.sleeps();
  return made;
}

TEST_CASE("every failure strategy makes the same attempts (fault 12: failsafe-go #22) [A7]",
          "[retry_policy]") {
  const auto same = [](const Made& expected, const Steps& steps) {
    const encore::FormatFailure format{[](const encore::Failure&) { return -17; }};
    CHECK(made_with(steps) == expected);
    CHECK(made_with(steps, encore::ReturnOutcome{}) == expected);
    CHECK(made_with(steps, encore::ReturnOutcome{}, encore::HandleUnmatched{}) == expected);
    CHECK(made_with(steps, format) == expected);
    CHECK(made_with(steps, encore::Observe{[](const encore::Event&) {}}) == expected);
    CHECK(made_with(steps, format, encore::Observe{[](const encore::Event&) {}}) == expected);
  };
  const auto slow = []() -> int { throw TimeoutError{"slow"}; };
  const auto bug = []() -> int { throw std::logic_error{"bug"}; };
  const auto bad = [] { return -1; };
  const auto good = [] { return 17; };
  same({{1, 2, 3, 4}, {1s, 2s, 4s}}, {slow, slow, slow, slow});
  same({{1, 2, 3, 4}, {1s, 2s, 4s}}, {bad, bad, bad, bad});
  same({{1, 2, 3, 4}, {1s, 2s, 4s}}, {slow, bad, bad, slow});
  same({{1, 2}, {1s}}, {slow, good});
  same({{1, 2, 3}, {1s, 2s}}, {bad, slow, bug});
  same({{1}, {}}, {bug});
  same({{1}, {}}, {good});
}

// ---- unlimited retries hold no memory (fault 34: node-retry #60) ---------------------------------------------------------

TEST_CASE("a hundred thousand retries store nothing of those before (fault 34: node-retry #60) [A1]",
          "[retry_policy]") {
  struct Free {
    using role = encore::role::Clock;
    static encore::TimePoint now() { return {}; }
    static encore::WallTime wall() { return {}; }
    static void sleep_for(encore::Duration, const encore::StopView&) {}
  };
  int alive = 0, most_alive = 0, attempts = 0;
  struct Counted : std::exception {
    Counted(int& now, int& most) : count{&now} { most = std::max(most, ++*count); }
    Counted(const Counted& other) : std::exception{other}, count{other.count} { ++*count; }
    Counted& operator=(const Counted&) = delete;
    ~Counted() override { --*count; }
    int* count;
  };
  const RetryPolicy policy{Free{}, RetryOn<Counted>{}, encore::UnlimitedRetries{}};
  policy.run([&] {
    if (++attempts < 100'000) throw Counted{alive, most_alive};
  });
  CHECK(attempts == 100'000);
  CHECK(most_alive == 1);
  CHECK(alive == 0);
}

TEST_CASE("the schedule of an unlimited call is an error, unless one asks for a part of it [C10]",
          "[retry_policy]") {
  const RetryPolicy unlimited{RetryOn<TimeoutError>{}, encore::TimeBudget{5s}, encore::NoJitter{}};
  CHECK(unlimited.schedule(3).total().max == 7s);
  try {
    static_cast<void>(unlimited.schedule());
    FAIL("nothing was refused");
  } catch (const std::invalid_argument& error) {
    CHECK(error.what() ==
          std::string{"encore: retries = unlimited is invalid: say how many a schedule shall have, as in "
                      "schedule(10)"});
  }
}

}  // namespace
