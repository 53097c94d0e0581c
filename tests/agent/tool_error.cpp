#include <encore/agent/model_text.hpp>
#include <encore/agent/tool_catalog.hpp>
#include <encore/agent/tool_error.hpp>
#include <encore/agent/tool_retry.hpp>
#include <encore/agent/tool_run.hpp>
#include <encore/guard/circuit_breaker.hpp>
#include <encore/never_retry.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/matchers.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

using namespace encore;
using namespace encore::testing;

struct TimeoutError : std::runtime_error {
  TimeoutError() : runtime_error{"no answer from db-1, key=secret"} {}
};
struct OutOfStock : ToolError {
  using ToolError::ToolError;
};

/// A tool that is played from a script, in a catalog.
struct Bench {
  FakeClock clock{};
  Recorder trace{};
  ToolCatalog catalog{};
  Scripted<ToolResult> script;

  explicit Bench(const auto& policy, ReplaySafety replay, auto&&... steps) : script{std::move(steps)...} {
    catalog.add("ship", replay, policy.with(clock, trace),
                [this](const ToolCall&, const Attempt& attempt) { return script(attempt); });
  }
  ToolResult handle() { return catalog.handle(ToolCall{.id = "1", .name = "ship"}); }
};
const RetryPolicy patient{RetryOn<TimeoutError>{}, MaxRetries{2}, NoJitter{}};
auto no_stock() { return throws<OutOfStock>("no stock in Basel"); }

TEST_CASE("a ToolError that no filter matches becomes the tool's answer, with its own text [G5]",
          "[tool_error]") {
  for (const auto replay : {ReplaySafety::repeatable, ReplaySafety::never}) {
    Bench bench{patient, replay, no_stock()};
    CHECK(bench.handle() ==
          ToolResult{
              .status = ToolStatus::error, .content = "no stock in Basel", .name = "ship", .call_id = "1"});
    CHECK_THAT(bench.trace, Attempted("1", 1) && EndedBecause(StopReason::succeeded));
    CHECK(bench.trace.events()[1].error_result);
  }
}

TEST_CASE("the text of every exception other than a ToolError stays hidden, however the tool was added [G5]",
          "[tool_error]") {
  ToolCatalog catalog;
  catalog.add("ship", [](const ToolCall& call) -> std::string {
    if (call.arguments.empty()) throw ToolError{"no order"};
    throw TimeoutError{};
  });
  CHECK(catalog.handle(ToolCall{.name = "ship"}).content ==
        R"(The tool "ship" failed after 1 attempt: encore::ToolError. The tool says: no order)");
  CHECK(catalog.handle(ToolCall{.name = "ship", .arguments = "A"}).content.find("secret") ==
        std::string::npos);
}

TEST_CASE("a filter that matches a ToolError retries it, and its last text reaches the model [B2, G5]",
          "[tool_error]") {
  Bench bench{patient.with(RetryOn<ToolError>{}), ReplaySafety::repeatable, no_stock(), no_stock(),
              throws<OutOfStock>("still none")};
  CHECK(bench.handle().content ==
        R"(The tool "ship" failed after 3 attempts: OutOfStock. The tool says: still none)");
  CHECK_THAT(bench.trace, Attempted("1", 3) && EndedBecause(StopReason::retries_exhausted));
}

TEST_CASE("a ToolError becomes a returned error, and is retried where those are [B8, G5]", "[tool_error]") {
  Bench bench{patient.with(RetryOn<TimeoutError>{} || RetryIfErrorResult{}), ReplaySafety::repeatable,
              no_stock(), returns(ToolResult{.content = "shipped"})};
  CHECK(bench.handle().content == "shipped");
  CHECK(bench.script.ordinals() == std::vector{1, 2});
}

TEST_CASE("a ToolError on a never-list propagates as the exception that it is [B3, B4]", "[tool_error]") {
  Bench bench{patient.with(NeverRetry<OutOfStock>{}), ReplaySafety::repeatable, no_stock()};
  CHECK_THROWS_AS(bench.handle(), OutOfStock);
}

TEST_CASE(
    "after a request without a response a ToolError's text is the answer, and the call's outcome is listed "
    "as unknown [I3]",
    "[tool_error]") {
  Bench bench{patient, ReplaySafety::never, no_stock().dispatched().notes("req-1")};
  ToolRun run{bench.catalog};
  CHECK(run.handle(ToolCall{.id = "1", .name = "ship"}).content == "no stock in Basel");
  REQUIRE(run.unknown_outcomes().all().size() == 1);
  CHECK(run.unknown_outcomes().all()[0].request_id == "req-1");
}

TEST_CASE(
    "a ToolRetry with TellModel turns a declared tool's ToolError into its answer, and no other tool's [G5, "
    "I1]",
    "[tool_error]") {
  FakeClock clock;
  const ToolCall call{.id = "1", .name = "ship"};
  const auto fails = [](const ToolCall&) -> ToolResult { throw OutOfStock{"no stock in Basel"}; };
  const ToolRetry declared{patient, Repeatable{"ship"}, TellModel{}, clock};
  CHECK(declared.handle(call, fails) ==
        ToolResult{
            .status = ToolStatus::error, .content = "no stock in Basel", .name = "ship", .call_id = "1"});
  const ToolRetry excluded{patient, Repeatable{}, TellModel{}, clock};
  CHECK_THROWS_AS(excluded.handle(call, fails), OutOfStock);
  const ToolRetry rethrowing{patient, Repeatable{"ship"}, clock};
  CHECK_THROWS_AS(rethrowing.handle(call, fails), OutOfStock);
  const ToolRetry returning{patient, Repeatable{"ship"}, ReturnOutcome{}, clock};
  CHECK_THROWS_AS(returning.handle(call, fails), OutOfStock);
}

TEST_CASE("a filter sees the whole attempt when it is asked about a ToolError [B6]", "[tool_error]") {
  std::string seen;
  Bench bench{patient.with(RetryIf{[&](const Thrown& thrown) {
                seen = thrown.attempt().call->idempotency_key();
                return thrown.attempt().ordinal > 1;
              }}),
              ReplaySafety::repeatable, no_stock()};
  CHECK(bench.handle().content == "no stock in Basel");
  CHECK_FALSE(seen.empty());
}

TEST_CASE("only a ToolError has text for the model", "[tool_error]") {
  const auto text = [](std::exception_ptr error) {
    return tell_model({.call_name = "ship", .attempts = 1, .error = std::move(error)});
  };
  CHECK(text(nullptr) == R"(The tool "ship" failed after 1 attempt.)");
  CHECK(text(std::make_exception_ptr(17)) == R"(The tool "ship" failed after 1 attempt: int.)");
  CHECK(text(std::make_exception_ptr(TimeoutError{})) ==
        R"(The tool "ship" failed after 1 attempt: TimeoutError.)");
  CHECK(text(std::make_exception_ptr(OutOfStock{"none"})) ==
        R"(The tool "ship" failed after 1 attempt: OutOfStock. The tool says: none)");
}

}  // namespace
