#include <encore/agent/tell_model.hpp>
#include <encore/agent/unknown_outcome.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_policy.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/durations.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/matchers.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace {

using namespace encore::testing;
using encore::Call;
using encore::OnUnknownOutcome;
using encore::ReplaySafety;
using encore::RetryOn;
using encore::RetryPolicy;
using encore::Scope;
using encore::StopReason;
using encore::TellModel;
using encore::ToolResult;
using encore::ToolStatus;
using encore::UnknownOutcome;

struct TimeoutError : std::runtime_error {
  TimeoutError() : runtime_error{"no answer, key=secret"} {}
};

const Scope run{0x1234, 0x5678, [] { return std::uint64_t{7}; }};
const auto run_key = run.text() + "/call-17/0000000000000007";

/// A policy that tells the model, and everything that its unknown outcomes were handed to.
struct Desk {
  FakeClock clock;
  Recorder trace;
  std::vector<UnknownOutcome> lost;

  auto policy() {
    return RetryPolicy{RetryOn<TimeoutError>{},
                       TellModel{},
                       encore::MaxRetries{2},
                       encore::NoJitter{},
                       clock,
                       trace,
                       encore::ConstantBackoff{1s},
                       OnUnknownOutcome{[this](const UnknownOutcome& outcome) { lost.push_back(outcome); }}};
  }
  ToolResult ship(ReplaySafety replay, Scripted<ToolResult>& tool, const encore::StopView& stop = {}) {
    return policy().run({.id = "call-17",
                         .name = "ship",
                         .resolved_name = "ship_v2",
                         .stop = stop,
                         .replay = replay,
                         .scope = &run},
                        tool);
  }
  StopReason reason() const { return trace.events().back().reason; }
};

auto timeout() { return throws<TimeoutError>(); }
ToolResult shipped() { return {.content = "shipped"}; }

TEST_CASE(
    "a failure between dispatch and answer is an unknown outcome: it is not retried, and is reported (fault "
    "39: langchain #40688) [I3]",
    "[unknown_outcome]") {
  Desk desk;
  Scripted<ToolResult> tool{timeout().dispatched().notes("req-9")};
  const auto answer = desk.ship(ReplaySafety::never, tool);

  CHECK(tool.calls() == 1);
  CHECK(desk.reason() == StopReason::unknown_outcome);
  CHECK(desk.trace.events().back().outcome_unknown);
  CHECK(answer.content ==
        R"(The tool "ship" was called 1 time, and it is unknown whether it had an effect: TimeoutError.)");
  REQUIRE(desk.lost.size() == 1);
  CHECK(desk.lost[0].error != nullptr);
  desk.lost[0].error = nullptr;
  CHECK(desk.lost[0] == UnknownOutcome{.call_id = "call-17",
                                       .call_name = "ship",
                                       .resolved_name = "ship_v2",
                                       .request_id = "req-9",
                                       .attempts = 1,
                                       .error_type = "TimeoutError"});
}

TEST_CASE("before its request is sent, or after an answer, a call's outcome is known [I3]",
          "[unknown_outcome]") {
  for (const bool answered : {false, true}) {
    CAPTURE(answered);
    Desk desk;
    Scripted<ToolResult> tool{answered ? timeout().dispatched().answered() : timeout()};
    CHECK(desk.ship(ReplaySafety::never, tool).content ==
          R"(The tool "ship" failed after 1 attempt: TimeoutError.)");
    CHECK(desk.reason() == StopReason::not_repeatable);
    CHECK(desk.lost.empty());
  }
}

TEST_CASE("an unknown outcome whose key was sent is retried, and a success settles it [I2, I3]",
          "[unknown_outcome]") {
  Desk desk;
  Scripted<ToolResult> tool{timeout().uses_key().dispatched(), returns(shipped()).uses_key()};
  CHECK(desk.ship(ReplaySafety::repeatable_with_key, tool) == shipped());
  CHECK(tool.keys() == std::vector{run_key, run_key});
  CHECK(desk.lost.empty());
  CHECK_FALSE(desk.trace.events().back().outcome_unknown);
}

TEST_CASE("an unknown outcome whose key was not sent is not retried [I3]", "[unknown_outcome]") {
  Desk desk;
  Scripted<ToolResult> tool{timeout().dispatched()};
  desk.ship(ReplaySafety::repeatable_with_key, tool);
  CHECK(tool.calls() == 1);
  CHECK(desk.reason() == StopReason::unknown_outcome);
  REQUIRE(desk.lost.size() == 1);
  CHECK(desk.lost[0].idempotency_key == run_key);
}

TEST_CASE(
    "an outcome left unknown by one attempt stays unknown when the last attempt fails before sending its "
    "request [I3]",
    "[unknown_outcome]") {
  Desk desk;
  Scripted<ToolResult> tool{timeout().uses_key().dispatched(), timeout().uses_key(), timeout()};
  const auto answer = desk.ship(ReplaySafety::repeatable_with_key, tool);
  CHECK(desk.reason() == StopReason::retries_exhausted);
  CHECK(answer.content ==
        R"(The tool "ship" was called 3 times, and it is unknown whether it had an effect: TimeoutError.)");
  REQUIRE(desk.lost.size() == 1);
  CHECK(desk.lost[0].attempts == 3);
  CHECK(desk.lost[0].idempotency_key == run_key);
}

TEST_CASE(
    "a 503 after a cut-off answer settles nothing: the outcome is unknown, and listed under the request that "
    "was cut off [I3] (fault 61: MCP, 129 of 1,257 transfers)",
    "[unknown_outcome]") {
  Desk desk;
  Scripted<ToolResult> tool{
      timeout().uses_key().dispatched().notes("cut"),
      times(2, timeout().uses_key().dispatched().notes(503).notes("turned-away").not_run())};
  CHECK(desk.ship(ReplaySafety::repeatable_with_key, tool).content ==
        R"(The tool "ship" was called 3 times, and it is unknown whether it had an effect: TimeoutError.)");
  CHECK(desk.reason() == StopReason::retries_exhausted);
  CHECK(desk.trace.events().back().outcome_unknown);
  REQUIRE(desk.lost.size() == 1);
  CHECK(desk.lost[0].request_id == "cut");
  CHECK(desk.lost[0].idempotency_key == run_key);
}

TEST_CASE("a returned error of a request that did not run settles nothing of the attempt before [B8, I3]",
          "[unknown_outcome]") {
  Desk desk;
  const ToolResult busy{.status = ToolStatus::error, .content = "busy"};
  for (const bool answered : {false, true}) {
    CAPTURE(answered);
    desk.lost.clear();
    Scripted<ToolResult> tool{timeout().uses_key().dispatched(), does([&](const encore::Attempt& attempt) {
                                attempt.mark_error_result();
                                answered ? attempt.mark_answered() : attempt.mark_not_run();
                                return busy;
                              })};
    CHECK(desk.ship(ReplaySafety::repeatable_with_key, tool) == busy);
    CHECK(desk.lost.size() == (answered ? 0U : 1U));
  }
}

TEST_CASE(
    "when one attempt makes two requests the second decides: cut off it is unknown, answered it is known "
    "[I3] (fault 62: MCP's input_required, 210 paid calls)",
    "[unknown_outcome]") {
  const auto rounds = [](auto second) {
    return does([second](const encore::Attempt& attempt) -> ToolResult {
      attempt.mark_dispatched();
      attempt.mark_answered();  // input_required
      second(attempt);
      throw TimeoutError{};
    });
  };
  const auto reason = [](auto round) {
    Desk desk;
    Scripted<ToolResult> tool{std::move(round)};
    static_cast<void>(desk.ship(ReplaySafety::never, tool));
    CHECK(desk.lost.size() == (desk.reason() == StopReason::unknown_outcome ? 1U : 0U));
    for (const auto& event : desk.trace.events()) CHECK_FALSE(event.dispatched_again);
    return desk.reason();
  };
  CHECK(reason(rounds([](const encore::Attempt& attempt) { attempt.mark_dispatched(); })) ==
        StopReason::unknown_outcome);
  CHECK(reason(rounds([](const encore::Attempt& attempt) {
          attempt.mark_dispatched();
          attempt.mark_answered();
        })) == StopReason::not_repeatable);
  // Marked late: the second request had not left when the attempt failed.
  CHECK(reason(rounds([](const encore::Attempt&) {})) == StopReason::not_repeatable);
  // The first has done something, so the attempt has, although the second did not run.
  CHECK(reason(rounds([](const encore::Attempt& attempt) { attempt.mark_not_run(); })) ==
        StopReason::not_repeatable);
}

TEST_CASE(
    "a request dispatched again before an answer is reported in the attempt's events, and an answer settles "
    "it [I3, J1] (fault 63: libcurl, a POST on a reused connection)",
    "[unknown_outcome]") {
  for (const bool answered : {false, true}) {
    CAPTURE(answered);
    Desk desk;
    Scripted<ToolResult> tool{does([&](const encore::Attempt& attempt) {
      attempt.mark_dispatched();
      attempt.mark_dispatched();
      if (!answered) throw TimeoutError{};
      attempt.mark_answered();
      return shipped();
    })};
    static_cast<void>(desk.ship(ReplaySafety::never, tool));
    CHECK(desk.reason() == (answered ? StopReason::succeeded : StopReason::unknown_outcome));
    CHECK(desk.lost.size() == (answered ? 0U : 1U));
    const auto events = desk.trace.events();
    REQUIRE(events.size() == 3);
    CHECK_FALSE(events[0].dispatched_again);
    CHECK(events[1].dispatched_again);
  }
}

TEST_CASE("a repetition by a lower layer that did not run leaves the first request unknown [I3]",
          "[unknown_outcome]") {
  Desk desk;
  Scripted<ToolResult> tool{does([](const encore::Attempt& attempt) -> ToolResult {
    attempt.mark_dispatched();
    attempt.mark_dispatched();
    attempt.mark_not_run();
    throw TimeoutError{};
  })};
  static_cast<void>(desk.ship(ReplaySafety::never, tool));
  CHECK(desk.reason() == StopReason::unknown_outcome);
  CHECK(desk.lost.size() == 1);
}

TEST_CASE(
    "a request that did not run is retried whatever the tool's declaration, as often as the policy allows "
    "[I1] (fault 64: connection refused; 503 with Retry-After)",
    "[unknown_outcome]") {
  for (const auto replay : {ReplaySafety::repeatable_with_key, ReplaySafety::never, ReplaySafety::excluded}) {
    CAPTURE(replay);
    Desk recovered;
    Scripted<ToolResult> later{timeout().not_run(), timeout().dispatched().notes(503).not_run(),
                               returns(shipped())};
    CHECK(recovered.ship(replay, later) == shipped());
    CHECK(recovered.trace.events().back().max_attempts == 3);

    Desk down;
    Scripted<ToolResult> never{times(3, timeout().not_run())};
    CHECK(down.ship(replay, never).content == R"(The tool "ship" failed after 3 attempts: TimeoutError.)");
    CHECK(down.reason() == StopReason::retries_exhausted);
    CHECK(down.lost.empty());
  }
}

TEST_CASE("after an attempt that did not run, the next attempt counts as if it were the first [I1, I3]",
          "[unknown_outcome]") {
  Desk cut;
  Scripted<ToolResult> tool{timeout().not_run(), timeout().dispatched()};
  CHECK(cut.ship(ReplaySafety::never, tool).content ==
        R"(The tool "ship" was called 2 times, and it is unknown whether it had an effect: TimeoutError.)");
  CHECK(cut.reason() == StopReason::unknown_outcome);
  const auto events = cut.trace.events();
  REQUIRE(events.size() == 5);
  CHECK(events[1].max_attempts == 2);  // one more attempt, because this one did not run
  CHECK(events[4].max_attempts == 2);

  Desk answered;
  Scripted<ToolResult> other{timeout().not_run(), timeout().dispatched().answered()};
  static_cast<void>(answered.ship(ReplaySafety::never, other));
  CHECK(answered.reason() == StopReason::not_repeatable);
}

TEST_CASE(
    "a request that did not run is still judged by the filter, and an excluded tool's failure stays "
    "untouched [I1, B3]",
    "[unknown_outcome]") {
  Desk desk;
  Scripted<ToolResult> tool{throws<std::logic_error>("bad request").not_run()};
  CHECK_THROWS_AS(desk.ship(ReplaySafety::never, tool), std::logic_error);
  CHECK(desk.reason() == StopReason::not_retryable);

  Desk other;
  Scripted<ToolResult> excluded{throws<std::logic_error>("bad request").not_run()};
  CHECK_THROWS_AS(
      other.policy().with(encore::HandleUnmatched{}).run({.replay = ReplaySafety::excluded}, excluded),
      std::logic_error);
  CHECK(other.reason() == StopReason::excluded_tool);
}

TEST_CASE("an answer to a later attempt settles the unknown outcome of an earlier one [I3]",
          "[unknown_outcome]") {
  Desk desk;
  Scripted<ToolResult> tool{timeout().uses_key().dispatched(), timeout().uses_key().dispatched(),
                            timeout().uses_key().dispatched().answered()};
  CHECK(desk.ship(ReplaySafety::repeatable_with_key, tool).content ==
        R"(The tool "ship" failed after 3 attempts: TimeoutError.)");
  CHECK(desk.lost.empty());
}

TEST_CASE("a call that is stopped during a wait may have had its effect [I3, K1]", "[unknown_outcome]") {
  Desk desk;
  std::stop_source source;
  const auto token = source.get_token();
  desk.clock.after(500ms, [&] { source.request_stop(); });
  Scripted<ToolResult> tool{timeout().uses_key().dispatched()};
  desk.ship(ReplaySafety::repeatable_with_key, tool, token);
  CHECK(desk.reason() == StopReason::cancelled);
  REQUIRE(desk.lost.size() == 1);
  CHECK(desk.lost[0].error_type == "TimeoutError");
}

TEST_CASE("a failure that the predicate would not retry is an unknown outcome as well [I3]",
          "[unknown_outcome]") {
  Desk desk;
  Scripted<ToolResult> tool{throws<std::logic_error>("bug").dispatched()};
  desk.ship(ReplaySafety::never, tool);
  CHECK(desk.reason() == StopReason::unknown_outcome);
  REQUIRE(desk.lost.size() == 1);
  CHECK(desk.lost[0].error_type == "std::logic_error");
}

TEST_CASE("a cancelled call propagates unchanged, and is reported if its request was sent [B4, I3]",
          "[unknown_outcome]") {
  Desk desk;
  Scripted<ToolResult> tool{throws<encore::Cancelled>().dispatched()};
  CHECK_THROWS_AS(desk.ship(ReplaySafety::never, tool), encore::Cancelled);
  CHECK(desk.reason() == StopReason::never_retry_type);
  CHECK(desk.lost.size() == 1);
}

TEST_CASE("a call that is safe to repeat has no unknown outcome [I3]", "[unknown_outcome]") {
  Desk desk;
  Scripted<ToolResult> tool{times(3, timeout().dispatched())};
  CHECK(desk.ship(ReplaySafety::repeatable, tool).content ==
        R"(The tool "ship" failed after 3 attempts: TimeoutError.)");
  CHECK(desk.lost.empty());
}

TEST_CASE("a returned error after a request without a response is reported, and stays a result [B8, I3]",
          "[unknown_outcome]") {
  Desk desk;
  const ToolResult gave_up{.status = ToolStatus::error, .content = "timed out"};
  const auto call = [&](ReplaySafety replay, bool marks_error) {
    return desk.policy().run({.id = "call-17", .name = "ship", .replay = replay, .scope = &run},
                             [&](const encore::Attempt& attempt) {
                               attempt.mark_dispatched();
                               if (marks_error) attempt.mark_error_result();
                               return gave_up;
                             });
  };
  CHECK(call(ReplaySafety::repeatable, true) == gave_up);
  CHECK(call(ReplaySafety::never, false) == gave_up);
  CHECK(desk.lost.empty());
  CHECK(call(ReplaySafety::never, true) == gave_up);
  CHECK(desk.reason() == StopReason::succeeded);
  REQUIRE(desk.lost.size() == 1);
  CHECK(desk.lost[0].error_type.empty());
  CHECK(desk.lost[0].error == nullptr);
}

TEST_CASE("an on_unknown_outcome hook that throws changes nothing about the call [F3]", "[unknown_outcome]") {
  FakeClock clock;
  Recorder trace;
  const RetryPolicy policy{
      RetryOn<TimeoutError>{}, clock, trace, encore::ReturnOutcome{},
      OnUnknownOutcome{[](const UnknownOutcome&) { throw std::logic_error{"desk is closed"}; }}};
  Scripted<int> tool{timeout().dispatched()};
  const auto outcome = policy.run({.id = "call-17", .replay = ReplaySafety::never}, tool);
  CHECK(outcome.reason() == StopReason::unknown_outcome);
  CHECK(outcome.failure().outcome_unknown);
  CHECK(outcome.observer_errors() == 1);
}

}  // namespace
