#include "../../testing/by_hand.hpp"
#include <encore/backoff_shapes.hpp>
#include <encore/detail/agent/any_tool.hpp>
#include <encore/nesting.hpp>
#include <encore/retry_policy.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/matchers.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>

#include <chrono>
#include <exception>
#include <stdexcept>
#include <stop_token>

namespace {

using namespace encore;
using namespace encore::testing;
using namespace std::chrono_literals;

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};

TEST_CASE("a tool's worst wait is the sum of its longest waits, and no longer than its time budget [C10, D3]",
          "[any_tool]") {
  using encore::detail::worst_wait;
  // 1 s and 2 s; with 25 % jitter each up to a quarter longer.
  CHECK(worst_wait(RetryPolicy{RetryOnEveryException{}, NoJitter{}}) == 3s);
  const auto jittered = worst_wait(RetryPolicy{RetryOnEveryException{}});
  CHECK((jittered > 3749ms && jittered <= 3750ms));
  CHECK(worst_wait(RetryPolicy{RetryOnEveryException{}, MaxRetries{0}}) == 0s);
  CHECK(worst_wait(RetryPolicy{RetryOnEveryException{}, NoJitter{}, MaxRetries{2}, TimeBudget{2s}}) == 2s);
  CHECK(worst_wait(RetryPolicy{RetryOnEveryException{}, NoJitter{}, MaxRetries{2}, TimeBudget{9s}}) == 3s);
}

TEST_CASE("with too many retries to add up, a tool's worst wait is its time budget, or unknown without one",
          "[any_tool]") {
  using encore::detail::worst_wait;
  CHECK(worst_wait(RetryPolicy{RetryOnEveryException{}, UnlimitedRetries{}}) == std::nullopt);
  CHECK(worst_wait(RetryPolicy{RetryOnEveryException{}, TimeBudget{5s}}) == 5s);
  CHECK(worst_wait(RetryPolicy{RetryOnEveryException{}, MaxRetries{2'000'000'000}}) == std::nullopt);
  CHECK(worst_wait(RetryPolicy{RetryOnEveryException{}, NoJitter{}, ConstantBackoff{1s},
                               MaxRetries{10'000}}) == 10'000s);
}

TEST_CASE("a tool that is never repeated has one attempt and no wait, whatever its policy [I1]",
          "[any_tool]") {
  const RetryPolicy policy{RetryOn<TimeoutError>{}, MaxRetries{4}, ConstantBackoff{1s}, NoJitter{},
                           TellModel{}};
  CHECK(encore::detail::describe_tool("ship", ReplaySafety::never, policy) ==
        ToolDescription{.name = "ship", .policy = "RetryOn<TimeoutError>"});
  CHECK(encore::detail::describe_tool("ship", ReplaySafety::repeatable_with_key, policy) ==
        ToolDescription{.name = "ship",
                        .replay = ReplaySafety::repeatable_with_key,
                        .max_attempts = 5,
                        .worst_wait = 4s,
                        .policy = "RetryOn<TimeoutError>"});
}

TEST_CASE(
    "a catalog's policies report nested calls and turn failures into answers, unless they say otherwise [J1]",
    "[any_tool]") {
  const RetryPolicy plain{RetryOnEveryException{}};
  using Plain = decltype(encore::detail::catalog_policy(plain));
  STATIC_CHECK(std::same_as<Plain::FailureStrategyType, encore::detail::WithReason<TellModel>>);
  CHECK(encore::detail::catalog_policy(plain).nested() == Nested::report);
  const TellModelWith own{[](const Failure&) { return "unavailable"; }};
  const RetryPolicy told{RetryOnEveryException{}, own, WhenNested{Nested::make_single}};
  using Told = decltype(encore::detail::catalog_policy(told));
  STATIC_CHECK(std::same_as<Told::FailureStrategyType,
                            encore::detail::WithReason<std::remove_const_t<decltype(own)>>>);
  CHECK(encore::detail::catalog_policy(told).nested() == Nested::make_single);
}

TEST_CASE("a tool's report says what its attempts left behind [I3]", "[any_tool]") {
  encore::detail::ToolReport report;
  const auto error = std::make_exception_ptr(TimeoutError{"slow"});
  by_hand::AttemptOf first{"1", 1};
  first.attempt.mark_dispatched();
  first.attempt.note_request_id("req-1");
  static_cast<void>(first.attempt.idempotency_key());
  report.ended(first.attempt, error);
  CHECK(report.attempts == 1);
  CHECK(report.outcome.unknown);
  CHECK(report.key_used);
  CHECK(report.outcome.request_id.view() == "req-1");
  CHECK(report.error == error);

  const by_hand::AttemptOf before_dispatch{"1", 2};
  report.ended(before_dispatch.attempt, nullptr);
  CHECK(report.attempts == 2);
  CHECK(report.outcome.unknown);
  CHECK(report.key_used);
  CHECK(report.outcome.request_id.view() == "req-1");
  CHECK(report.error == nullptr);

  by_hand::AttemptOf answered{"1", 3};
  answered.attempt.mark_dispatched();
  answered.attempt.mark_answered();
  report.ended(answered.attempt, nullptr);
  CHECK_FALSE(report.outcome.unknown);
}

/// A tool whose script is played under a policy on fake time.
struct Bench {
  FakeClock clock{};
  Recorder trace{};
  Scripted<ToolResult> script;
  encore::detail::ToolReport report{};

  explicit Bench(auto&&... steps) : script{std::move(steps)...} {}
  auto tool(ReplaySafety replay = ReplaySafety::repeatable) {
    const auto policy = encore::detail::catalog_policy(
        RetryPolicy{RetryOn<TimeoutError>{}, MaxRetries{2}, NoJitter{}, clock, trace});
    auto play = [this](const ToolCall&, const Attempt& attempt) { return script(attempt); };
    return encore::detail::ToolOf<std::remove_const_t<decltype(policy)>, decltype(play)>{
        encore::detail::describe_tool("lookup", replay, policy), policy, play};
  }
};
const ToolCall call{.id = "call-17", .name = "lookup"};
constexpr Call its{.id = "call-17", .name = "lookup"};

TEST_CASE("a tool runs under its policy and reports the last attempt's exception", "[any_tool]") {
  Bench bench{always(throws<TimeoutError>("slow"))};
  const auto tool = bench.tool();
  const encore::detail::AnyTool& any = tool;
  CHECK(any.run(call, its, bench.report).content ==
        R"(The tool "lookup" failed after 3 attempts: TimeoutError.)");
  CHECK(bench.report.attempts == 3);
  CHECK(error_text(bench.report.error) == "slow");
}

TEST_CASE("an exception that a tool's policy propagates stays the same object and is reported [B3, G1]",
          "[any_tool]") {
  const auto bug = std::make_exception_ptr(std::logic_error{"bug"});
  Bench bench{does([&]() -> ToolResult { std::rethrow_exception(bug); })};
  const auto tool = bench.tool();
  std::exception_ptr caught;
  try {
    tool.run(call, its, bench.report);
  } catch (const std::logic_error&) {
    caught = std::current_exception();
  }
  CHECK(caught == bug);
  CHECK(bench.report.error == bug);
}

TEST_CASE("observers are notified of a refused call, and the tool is not run [F1]", "[any_tool]") {
  Bench bench{};
  const auto tool = bench.tool();
  auto refused = its;
  refused.refused = StopReason::loop_detected;
  tool.refuse(refused);
  CHECK_THAT(bench.trace, RefusedOnEntry("call-17", StopReason::loop_detected));
  CHECK(bench.script.calls() == 0);
}

TEST_CASE(
    "a call is over when its deadline on the policy's clock has passed, or when it was stopped [D5, K2]",
    "[any_tool]") {
  Bench bench{};
  const auto tool = bench.tool();
  CHECK_FALSE(tool.is_over(its));
  CHECK_FALSE(tool.is_over({.deadline = bench.clock.now() + 1ns}));
  CHECK(tool.is_over({.deadline = bench.clock.now()}));
  std::stop_source source;
  const auto token = source.get_token();
  CHECK_FALSE(tool.is_over({.stop = token}));
  source.request_stop();
  CHECK(tool.is_over({.stop = token}));
}

}  // namespace
