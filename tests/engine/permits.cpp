#include "../guard/gate.hpp"
#include <encore/detail/pack.hpp>
#include <encore/engine/permits.hpp>
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

const RetryPolicy plain{RetryOn<TimeoutError>{}, encore::NoJitter{}};

TEST_CASE("an attempt's permits are returned after it, and the call's own permit stays until its end [H1]",
          "[permits]") {
  FakeClock clock;
  const Now now{clock};
  Log log;
  Gate<> attempts{log, "a"};
  Gate<StopReason::spend_limit_reached, true> calls{log, "c"};
  using Attempts = encore::detail::Storage<Gate<>&>;
  using Calls = encore::detail::Storage<Gate<StopReason::spend_limit_reached, true>&>;
  const encore::detail::Pack<Attempts, Calls> guards{
      {{Attempts{std::in_place, attempts}}, {Calls{std::in_place, calls}}}};
  encore::detail::permits_for<std::remove_const_t<decltype(guards)>>::type permits;
  REQUIRE(permits.admit(guards, {.call_id = "call-1", .now = now}) == StopReason::none);
  permits.release_attempt();
  CHECK(attempts.returned == 1);
  CHECK(calls.returned == 0);
  permits.call_failed(now, StopReason::cancelled);
  CHECK(calls.returned == 0);
  permits.call_failed(now, StopReason::retry_budget_spent);
  CHECK(log == Log{"a ? 1", "c ? 1", "a unspent", "c failed"});
}

TEST_CASE(
    "when one guard refuses, the permits of those that had admitted are released (fault 35: resilience4j "
    "#544) [H1]",
    "[permits]") {
  FakeClock clock;
  Log log;
  Gate<> first{log, "a"};
  Gate<StopReason::retry_budget_spent> second{log, "b"};
  Gate<StopReason::spend_limit_reached> third{log, "c"};
  const auto policy = plain.with(clock, first, second, third, encore::ReturnOutcome{});

  SECTION("on entry") {
    second.admits = [](const AdmissionRequest&) { return false; };
    Scripted<int> never;
    CHECK(policy.run(never).reason() == StopReason::retry_budget_spent);
    CHECK(log == Log{"a ? 1", "b ? 1", "a unspent"});
  }
  SECTION("before a retry") {
    third.admits = [](const AdmissionRequest& request) { return !request.is_retry(); };
    Scripted<int> tool{throws<TimeoutError>()};
    const auto outcome = policy.run(tool);
    CHECK(outcome.reason() == StopReason::spend_limit_reached);
    CHECK(log == Log{"a ? 1", "b ? 1", "c ? 1", "a began", "b began", "c began", "a failed", "b failed",
                     "c failed", "a ? 2 in 1s", "b ? 2 in 1s", "c ? 2 in 1s", "a unspent", "b unspent"});
  }
  CHECK(first.admitted == first.returned);
  CHECK(second.admitted == second.returned);
  CHECK(third.admitted == third.returned);
}

TEST_CASE("permits are released before any observer is notified of the refusal [H1, F1]", "[permits]") {
  FakeClock clock;
  Log log;
  Gate<> first{log, "a"};
  Gate<StopReason::retry_budget_spent> second{log, "b"};
  second.admits = [](const AdmissionRequest& request) { return !request.is_retry(); };
  int heard = 0;
  const auto policy = plain.with(clock, first, second, encore::Observe{[&](const encore::Event& event) {
                                   if (event.reason != StopReason::retry_budget_spent) return;
                                   ++heard;
                                   CHECK(first.admitted == first.returned);
                                 }});
  Scripted<int> tool{throws<TimeoutError>()};
  CHECK_THROWS_AS(policy.run(tool), TimeoutError);
  CHECK(heard == 2);  // attempt_failed and call_finished
}

TEST_CASE(
    "a guard that closes during the wait refuses when the wait ends, and its permit is returned unspent [H2]",
    "[permits]") {
  FakeClock clock;
  Log log;
  Recorder trace;
  Gate<> gate{log};
  auto open = true;
  gate.still = [&] { return open; };
  clock.after(500ms, [&] { open = false; });
  Scripted<int> tool{always(throws<TimeoutError>())};
  CHECK_THROWS_AS(plain.with(clock, gate, trace).run({.id = "call-17"}, tool), TimeoutError);
  CHECK(log == Log{"a ? 1", "a began", "a failed", "a ? 2 in 1s", "a woke", "a unspent"});
  CHECK(tool.calls() == 1);
  CHECK(trace.events().back().reason == StopReason::circuit_open);
  CHECK(trace.events().back().slept == 1s);
}

TEST_CASE("of several guards that refuse when a wait ends, the first in the policy's order decides [H2]",
          "[permits]") {
  FakeClock clock;
  Log log;
  Gate<> first{log, "a"};
  Gate<StopReason::retry_budget_spent> second{log, "b"};
  Gate<StopReason::spend_limit_reached> third{log, "c"};
  second.still = third.still = [] { return false; };
  Scripted<int> tool{always(throws<TimeoutError>())};
  const auto outcome = plain.with(clock, first, second, third, encore::ReturnOutcome{}).run(tool);
  CHECK(outcome.reason() == StopReason::retry_budget_spent);
  CHECK(tool.calls() == 1);
  const Log on_waking{"a woke", "b woke", "a unspent", "b unspent", "c unspent"};
  CHECK(Log(log.end() - 5, log.end()) == on_waking);
}

TEST_CASE("a stop during the wait returns the permit unspent [H2, K1]", "[permits]") {
  FakeClock clock;
  Log log;
  Gate<> gate{log};
  std::stop_source source;
  const auto token = source.get_token();
  clock.after(500ms, [&] { source.request_stop(); });
  Scripted<int> tool{always(throws<TimeoutError>())};
  CHECK_THROWS_AS(plain.with(clock, gate).run({.stop = token}, tool), TimeoutError);
  CHECK(log == Log{"a ? 1", "a began", "a failed", "a ? 2 in 1s", "a unspent"});
}

TEST_CASE("a guard of whole calls is asked once and notified of the call's end [H1]", "[permits]") {
  FakeClock clock;
  Log log;
  Gate<StopReason::circuit_open, true> gate{log};
  const auto policy = plain.with(clock, gate);
  const auto log_of = [&](auto&& under_test, auto&&... steps) {
    log.clear();
    Scripted<int> tool{std::forward<decltype(steps)>(steps)...};
    try {
      static_cast<void>(under_test.run(tool));
    } catch (const std::exception&) {}
    return log;
  };
  CHECK(log_of(policy, returns(1)) == Log{"a ? 1", "a began", "a succeeded"});
  CHECK(log_of(policy, times(2, throws<TimeoutError>()), returns(1)) ==
        Log{"a ? 1", "a began", "a began", "a began", "a succeeded"});
  CHECK(log_of(policy, always(throws<TimeoutError>())) ==
        Log{"a ? 1", "a began", "a began", "a began", "a failed"});
  CHECK(log_of(policy, throws<std::logic_error>("bug")) == Log{"a ? 1", "a began", "a failed for good"});
  CHECK(log_of(policy.with(encore::RetryOnEveryException{}), throws<encore::Cancelled>()) ==
        Log{"a ? 1", "a began", "a unspent"});
  Log other_log;
  Gate<StopReason::spend_limit_reached> other{other_log};
  other.admits = [](const AdmissionRequest& request) { return !request.is_retry(); };
  CHECK(log_of(policy.with(other), throws<TimeoutError>()) == Log{"a ? 1", "a began", "a failed"});
  other.admits = [](const AdmissionRequest&) { return false; };
  CHECK(log_of(policy.with(other)) == Log{"a ? 1", "a unspent"});
  CHECK(gate.admitted == gate.returned);
}

TEST_CASE("the permit of a stopped call is returned before any observer is notified of its end [H1, F1]",
          "[permits]") {
  FakeClock clock;
  Log log;
  Gate<StopReason::circuit_open, true> gate{log};
  int heard = 0;
  const auto policy = plain.with(clock, gate, encore::RetryOnEveryException{},
                                 encore::Observe{[&](const encore::Event& event) {
                                   if (event.kind != encore::EventKind::call_finished) return;
                                   ++heard;
                                   CHECK(gate.admitted == gate.returned);
                                 }});
  Scripted<int> tool{throws<encore::Cancelled>()};
  CHECK_THROWS_AS(policy.run(tool), encore::Cancelled);
  CHECK(heard == 1);
  CHECK(log == Log{"a ? 1", "a began", "a unspent"});
}

// ---- conservation (H1): whatever happens, each permission is returned exactly once --------------------------------------

struct Plan {
  int step_kinds;    // base 5 digits: how each attempt ends
  int refuse_first;  // the how manyth question is refused, by each of two guards; 0: none
  int refuse_second;
  int close_on_waking;  // the how manyth waking finds it closed
  bool stop_in_wait;
};

void carry_out(const Plan& plan) {
  FakeClock clock;
  Log log;
  Gate<> first{log, "a"};
  Gate<StopReason::retry_budget_spent> second{log, "b"};
  Gate<StopReason::spend_limit_reached, true> per_call{log, "c"};
  int asked_first = 0, asked_second = 0, woken = 0, attempt = 0;
  first.admits = [&](const AdmissionRequest&) { return ++asked_first != plan.refuse_first; };
  second.admits = [&](const AdmissionRequest&) { return ++asked_second != plan.refuse_second; };
  second.still = [&] { return ++woken != plan.close_on_waking; };
  std::stop_source source;
  const auto token = source.get_token();
  if (plan.stop_in_wait) clock.after(1500ms, [&] { source.request_stop(); });
  auto kinds = plan.step_kinds;
  const auto tool = [&] {
    ++attempt;
    switch (std::exchange(kinds, kinds / 5) % 5) {
      case 0: return 1;
      case 1: return -1;
      case 2: throw TimeoutError{};
      case 3: throw std::logic_error{"bug"};
      default: throw 42;
    }
  };
  const auto policy =
      plain.with(clock, first, per_call, second,
                 RetryOn<TimeoutError>{} || encore::RetryIfResult{[](int n) { return n < 0; }},
                 encore::Observe{[](const encore::Event& event) {
                   if (event.kind == encore::EventKind::attempt_failed) throw 43;
                 }});
  try {
    static_cast<void>(policy.run({.stop = token}, tool));
  } catch (const std::exception&) {
  } catch (int) {}
  CHECK(first.admitted == first.returned);
  CHECK(second.admitted == second.returned);
  CHECK(per_call.admitted == per_call.returned);
  for (const auto& line : log) CHECK(line.find("told twice") == std::string::npos);
}

TEST_CASE(
    "permits acquired = returned + spent on every path, exceptions included (fault 37: aws-sdk-go-v2 #3186) "
    "[H1]",
    "[permits]") {
  for (int steps = 0; steps < 5 * 5 * 5; ++steps)
    for (int refuse_first = 0; refuse_first < 4; ++refuse_first)
      for (int refuse_second = 0; refuse_second < 4; ++refuse_second)
        for (int close = 0; close < 3; ++close)
          for (const bool stop : {false, true}) carry_out({steps, refuse_first, refuse_second, close, stop});
}

TEST_CASE("permits are returned when a strategy or a predicate throws [H1, B7, G3]", "[permits]") {
  FakeClock clock;
  Log log;
  Gate<> gate{log};
  const auto policy = plain.with(clock, gate);
  Scripted<int> tool{always(throws<TimeoutError>())};
  CHECK_THROWS_AS(
      policy.with(encore::FormatFailure{[](const encore::Failure&) -> int { throw 42; }}).run(tool), int);
  CHECK_THROWS_AS(policy.with(encore::RetryIf{[](const TimeoutError&) -> bool { throw 42; }}).run(tool),
                  TimeoutError);
  CHECK(gate.admitted == 4);
  CHECK(gate.returned == 4);
}

}  // namespace
