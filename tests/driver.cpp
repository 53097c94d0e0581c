#include "attempts.hpp"
#include <encore/limits.hpp>
#include <encore/nesting.hpp>
#include <encore/never_retry.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/retrying.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore_tests::ControlFlow, encore_tests::TimeoutError, encore_tests::ValueError;

namespace {

TEST_CASE("the rows of attempts.csv hold for run [A1, A2, B3, C1, C6, G1]", "[driver]") {
  encore_tests::check_attempts(
      [](const auto& policy, const encore::Call& call, auto& script) { return policy.run(call, script); });
}

// Has an error of a kind that is retried when it is handed on, after the attempt has succeeded.
struct Fragile {
  Fragile() = default;
  Fragile(Fragile&&) { throw TimeoutError{1}; }
};

TEST_CASE("an exception after a success is not a failed attempt: the call does not run again [A2, F3]",
          "[driver]") {
  FakeClock clock;
  int calls = 0;
  const auto call = [&calls] { return ++calls, Fragile{}; };
  const encore::RetryPolicy thrown{clock, encore::RetryOn<TimeoutError>{}};
  const auto judged = thrown.with(encore::RetryOn<TimeoutError>{} ||
                                  encore::RetryIfResult{[](const Fragile&) { return false; }});
  const auto check = [&](const auto& policy) {
    calls = 0;
    CHECK_THROWS_AS(policy.run(call), TimeoutError);
    CHECK(calls == 1);
  };
  check(thrown.with(encore::ReturnOutcome{}));
  check(judged);
  check(judged.with(encore::Observe{[](const encore::Event&) {}}));
  check(judged.with(encore::WhenNested{}));
  CHECK(clock.sleeps().empty());
}

// A timer queue, as a game or a UI has one: due work is run in turn, and nothing sleeps on a thread.
template <class Policy, class Callable>
std::string drive_by_hand(const Policy& policy, const encore::Call& call, Callable& callable) {
  encore::Retrying retrying{policy, call};
  auto next = retrying.begin();
  std::exception_ptr last;
  while (next.goes_on()) {
    try {
      auto result = callable();
      retrying.succeeded();
      return result;
    } catch (const std::exception& error) {
      last = std::current_exception();
      next = retrying.threw(&error);
    }
    if (!next.goes_on()) break;
    if (next.wait > encore::Duration::zero()) policy.clock().sleep_for(next.wait, {});
    next = retrying.resume();
  }
  if constexpr (!Policy::rethrows) {
    if (retrying.strategy_handles(next.stop))
      return policy.failure_strategy().template failed<std::string>(retrying.failure());
  }
  std::rethrow_exception(last);
}

TEST_CASE("the rows of attempts.csv hold for Retrying [A1, A2, B3, C1, C6, G1]", "[driver]") {
  encore_tests::check_attempts([](const auto& policy, const encore::Call& call, auto& script) {
    return drive_by_hand(policy, call, script);
  });
}

// ---- rows of two calls -------------------------------------------------------------------------------------------------

const encore::RetryPolicy failing_tools{encore::RetryOnEveryException{},
                                        encore::NeverRetry<ControlFlow>{},
                                        encore::NoJitter{},
                                        encore::MaxRetries{2},
                                        encore::ExponentialBackoff{.initial_delay = 10ms},
                                        encore::FormatFailure{[](const encore::Failure& failure) {
                                          return failure.call_name + " failed after " +
                                                 std::to_string(failure.attempts) + " attempts";
                                        }}};

TEST_CASE("parallel calls have retry loops of their own (langchain A14) [A3]", "[driver]") {
  FakeClock clock;
  Recorder trace;
  const auto policy = failing_tools.with(clock, trace);
  Scripted<std::string> failing{always(throws<std::runtime_error>("down"))};
  Scripted<std::string> working{returns("units: 17")};
  auto first = std::async(std::launch::async,
                          [&] { return policy.run({.id = "1", .name = "failing_tool"}, failing); });
  auto second = std::async(std::launch::async,
                           [&] { return policy.run({.id = "2", .name = "working_tool"}, working); });
  CHECK(first.get() == "failing_tool failed after 3 attempts");
  CHECK(second.get() == "units: 17");
  CHECK(failing.ordinals() == std::vector{1, 2, 3});
  CHECK(working.ordinals() == std::vector{1});
  CHECK(trace.of("1").size() == 7);
  CHECK(trace.of("2").size() == 3);
}

TEST_CASE("a logger outside the retry sees one call, one inside sees every attempt (langchain A28)",
          "[driver]") {
  FakeClock clock;
  const auto policy = failing_tools.with(clock);
  std::vector<std::string> outside, inside;
  Scripted<std::string> tool{throws<std::runtime_error>("down"), returns("ok")};
  const auto logged = [&](std::vector<std::string>& log, auto&& next) -> std::string {
    log.emplace_back("begin");
    auto result = next();
    log.emplace_back("end");
    return result;
  };
  const auto call = [&](const encore::Attempt& attempt) {
    return logged(inside, [&] { return tool(attempt); });
  };
  CHECK(logged(outside, [&] { return policy.run(call); }) == "ok");
  CHECK(outside == std::vector<std::string>{"begin", "end"});
  CHECK(inside == std::vector<std::string>{"begin", "begin", "end"});
}

TEST_CASE(
    "a control-flow exception propagates from one call at once, and the other's result is kept (langchain "
    "A34, #38722; fault 25)",
    "[driver]") {
  FakeClock clock;
  const auto policy = failing_tools.with(clock);
  Scripted<std::string> interrupted{throws<ControlFlow>(1)};
  Scripted<std::string> working{returns("kept")};
  const auto second = [&] { return policy.run({.id = "2"}, working); };
  CHECK_THROWS_AS(policy.run({.id = "1"}, interrupted), ControlFlow);
  CHECK(second() == "kept");
  CHECK(interrupted.calls() == 1);
  CHECK(working.calls() == 1);
  CHECK(clock.sleeps().empty());
}

TEST_CASE(
    "a failure that the filter does not match ends after exactly one attempt, and its exception propagates "
    "unchanged (langchain B6) [B3]",
    "[driver]") {
  FakeClock clock;
  const auto policy = failing_tools.with(encore::RetryOn<TimeoutError>{}, clock);
  const void* thrown = nullptr;
  int attempts = 0;
  const auto tool = [&]() -> std::string {
    ++attempts;
    try {
      throw ValueError{attempts};
    } catch (const ValueError& error) {
      thrown = &error;
      throw;
    }
  };
  try {
    static_cast<void>(policy.run(tool));
    FAIL("it must leave");
  } catch (const ValueError& error) {
    CHECK(static_cast<const void*>(&error) == thrown);
  }
  CHECK(attempts == 1);
}

TEST_CASE("two calls that always fail make three attempts each, grouped by id (langchain B8) [A3, A4]",
          "[driver]") {
  FakeClock clock;
  Recorder trace;
  const auto policy = failing_tools.with(clock, trace);
  Scripted<std::string> tool{always(throws<std::runtime_error>("down"))};
  CHECK(policy.run({.id = "17", .name = "tool"}, tool) == "tool failed after 3 attempts");
  CHECK(policy.run({.id = "22", .name = "tool"}, tool) == "tool failed after 3 attempts");
  CHECK(tool.ids() == std::vector<std::string>{"17", "17", "17", "22", "22", "22"});
  CHECK(tool.ordinals() == std::vector{1, 2, 3, 1, 2, 3});
  CHECK(trace.events().call_ids() == std::vector<std::string>{"17", "22"});
  CHECK(trace.of("17").size() == trace.of("22").size());
}

}  // namespace
