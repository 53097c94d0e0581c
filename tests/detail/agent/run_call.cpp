#include <encore/agent/tool_run.hpp>
#include <encore/detail/agent/run_call.hpp>
#include <encore/detail/agent/run_parts.hpp>
#include <encore/on_failure.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/matchers.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>

#include <chrono>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace encore;
using namespace encore::testing;
using encore::detail::RunCall;
using encore::detail::RunCaller;
using encore::detail::RunState;
using encore::detail::TurnCall;

struct TimeoutError : std::runtime_error {
  TimeoutError() : runtime_error{"no answer, key=secret"} {}
};
const Refusal loop{.reason = StopReason::loop_detected, .to_model = "Stop that."};

/// One tool of a run, played from a script, and whatever is heard of it.
struct Bench {
  FakeClock clock{};
  Recorder trace{};
  ToolCatalog catalog{};
  RunState state{};
  std::vector<UnknownOutcome> heard{};
  std::vector<std::string> reused{};
  std::vector<std::string> keys{};  // given by the run
  Scripted<ToolResult> script;

  explicit Bench(ReplaySafety replay, auto&&... steps) : script{std::move(steps)...} {
    const RetryPolicy policy{RetryOn<TimeoutError>{}, MaxRetries{1}, NoJitter{}, clock, trace};
    catalog.add("ship", replay, policy,
                [this](const ToolCall&, const Attempt& attempt) { return script(attempt); });
    catalog.alias("Ship", "ship");
  }
  ToolResult answer(const ToolCall& call, const std::optional<Refusal>& refusal = {}, const Call& with = {}) {
    const OnUnknownOutcome hears{[this](const UnknownOutcome& outcome) { heard.push_back(outcome); }};
    const OnKeyReused reports{[this](const KeyReuse& reuse) { reused.emplace_back(reuse.key); }};
    return answer(call, refusal, with, RunCaller{state, hears, reports});
  }
  template <class Caller>
  ToolResult answer(const ToolCall& call, const std::optional<Refusal>& refusal, const Call& with,
                    const Caller& caller) {
    const auto run_call = RunCall::of(catalog, call);
    auto& open = state.pending_calls().issue(call.id, CallSignature{run_call.issued}, state.scope());
    keys.push_back(open.key);
    TurnCall turn_call{.run_call = run_call, .refusal = refusal, .open = &open};
    return caller.answer(turn_call, with);
  }
};
ToolCall ship(std::string id, std::string arguments = "A") {
  return {.id = std::move(id), .name = "ship", .arguments = std::move(arguments)};
}
auto sent() { return returns(ToolResult{.content = "sent"}).uses_key(); }

TEST_CASE("a call is issued under its tool's own name, whichever alias the model used", "[run_call]") {
  Bench bench{ReplaySafety::never};
  const ToolCall alias{.id = "1", .name = "Ship", .arguments = "A"};
  const ToolCall unknown{.id = "1", .name = "shop"};
  CHECK(RunCall::of(bench.catalog, alias).issued.name == "ship");
  CHECK(RunCall::of(bench.catalog, alias).issued.arguments == "A");
  CHECK(RunCall::of(bench.catalog, alias).known);
  CHECK_FALSE(RunCall::of(bench.catalog, unknown).known);
  CHECK(RunCall::of(bench.catalog, unknown).issued.name == "shop");
}

TEST_CASE(
    "a refused call is answered with the guard's text, is reported to observers, and is not run [F1, G4]",
    "[run_call]") {
  Bench bench{ReplaySafety::repeatable};
  CHECK(bench.answer(ship("1"), loop) == ToolResult{.status = ToolStatus::error,
                                                    .content = "Stop that.",
                                                    .name = "ship",
                                                    .call_id = "1",
                                                    .reason = StopReason::loop_detected});
  CHECK_THAT(bench.trace,
             RefusedOnEntry("1", StopReason::loop_detected) && EndedIn(TerminalMode::error_result));
  CHECK(bench.script.calls() == 0);
  CHECK(bench.answer(ToolCall{.id = "2", .name = "shop"}, loop).content == "Stop that.");
}

TEST_CASE("in a run a deadline that has passed comes before every other reason [D5]", "[run_call]") {
  Bench bench{ReplaySafety::repeatable};
  CHECK(bench.answer(ship("1"), loop, {.deadline = bench.clock.now()}).content ==
        R"(The tool "ship" was not called: expired_on_entry.)");
  CHECK_THAT(bench.trace, RefusedOnEntry("1", StopReason::expired_on_entry));
  CHECK(bench.script.calls() == 0);
}

TEST_CASE(
    "a call refused for its deadline is not run, even if the clock is set back before the next reading [D7, "
    "H2]",
    "[run_call]") {
  struct SetBack {
    using role = encore::role::Clock;
    SetBack() = default;
    SetBack(const SetBack&) = delete;
    mutable int readings = 0;
    TimePoint now() const { return TimePoint{std::chrono::seconds{readings++ == 0 ? 10 : 1}}; }
    WallTime wall() const { return {}; }
    void sleep_for(Duration, const StopView&) const {}
  };
  SetBack clock;
  Bench bench{ReplaySafety::never};
  bench.catalog.add("pay", ReplaySafety::never, RetryPolicy{RetryOn<TimeoutError>{}, clock},
                    [](const ToolCall&) { return "paid"; });
  const auto answer = bench.answer(ToolCall{.id = "1", .name = "pay"}, loop,
                                   {.deadline = TimePoint{std::chrono::seconds{5}}});
  CHECK(answer.content == R"(The tool "pay" was not called: loop_detected.)");
  CHECK(answer.reason == StopReason::loop_detected);
}

TEST_CASE("idempotency keys have the run's scope, whatever scope the caller names [I2]", "[run_call]") {
  Bench bench{ReplaySafety::repeatable_with_key, sent()};
  const Scope other{1, 2};
  bench.answer(ship("call_0"), {}, {.scope = &other});
  CHECK(bench.script.keys() == bench.keys);
  CHECK(bench.keys.front().starts_with(bench.state.scope().text() + "/call_0/1~"));
}

TEST_CASE("a model that reuses an id, for the same or other arguments, gets a new key each time [I2]",
          "[run_call]") {
  Bench bench{ReplaySafety::repeatable_with_key, sent(), sent(), sent(), sent()};
  for (const auto* arguments : {"A", "B", "A", "B"}) bench.answer(ship("call_0", arguments));
  CHECK(bench.script.keys() == bench.keys);
  CHECK(std::set<std::string>(bench.keys.begin(), bench.keys.end()).size() == 4);
  CHECK(bench.reused.empty());
}

TEST_CASE("a refused call's key belongs to it alone, and no attempt gets it [I2]", "[run_call]") {
  std::string shown;
  Bench bench{ReplaySafety::repeatable_with_key, sent()};
  const Observe looks{[&](const Event& event) { shown = event.current->idempotency_key(); }};
  bench.catalog.add("pay", ReplaySafety::repeatable_with_key, RetryPolicy{RetryOn<TimeoutError>{}, looks},
                    [](const ToolCall&) { return "paid"; });
  bench.answer(ToolCall{.id = "call_0", .name = "pay"}, loop);
  CHECK(shown == bench.keys[0]);
  bench.answer(ship("call_0"));
  CHECK(bench.script.keys() == std::vector{bench.keys[1]});
  CHECK(bench.keys[0] != bench.keys[1]);
}

TEST_CASE("the caller's operation key is never changed, only reported when it is used for two calls [I2]",
          "[run_call]") {
  Bench bench{ReplaySafety::repeatable_with_key, sent(), sent()};
  for (const auto* arguments : {"A", "B"})
    bench.answer(ship("call_0", arguments), {}, {.operation_key = "order-7"});
  CHECK(bench.script.keys() == std::vector<std::string>{"order-7", "order-7"});
  CHECK(bench.reused == std::vector<std::string>{"order-7"});
}

TEST_CASE("calls without an id have keys of their own, and are answered without one [A4, I2]", "[run_call]") {
  Bench bench{ReplaySafety::repeatable_with_key, sent(), throws<TimeoutError>().uses_key(),
              throws<TimeoutError>().uses_key()};
  CHECK(bench.answer(ship("")).call_id.empty());
  CHECK(bench.answer(ship("", "B")).call_id.empty());
  const auto keys = bench.script.keys();
  CHECK_FALSE(keys[0] == keys[1]);
  CHECK(keys[1] == keys[2]);
  CHECK(bench.reused.empty());
  CHECK(bench.trace.events().call_ids().size() == 2);
  CHECK_FALSE(bench.trace.events().back().call_id.empty());
}

TEST_CASE("an unknown outcome is listed and reported, with the key that its attempts sent [I3]",
          "[run_call]") {
  Bench bench{ReplaySafety::repeatable_with_key,
              throws<TimeoutError>().uses_key().dispatched().notes("req-1"),
              throws<TimeoutError>().uses_key()};
  CHECK(bench.answer(ToolCall{.id = "call-17", .name = "Ship"}).is_error());
  REQUIRE(bench.heard.size() == 1);
  CHECK(bench.state.unknown_outcomes().all() == bench.heard);
  CHECK(bench.heard[0].error != nullptr);
  bench.heard[0].error = nullptr;
  CHECK(bench.heard[0] == UnknownOutcome{.call_id = "call-17",
                                         .call_name = "Ship",
                                         .resolved_name = "ship",
                                         .idempotency_key = bench.keys[0],
                                         .request_id = "req-1",
                                         .signature = CallSignature{{.name = "ship"}}.text(),
                                         .attempts = 2,
                                         .error_type = "TimeoutError"});
}

TEST_CASE("unknown outcomes of one id are distinguished by request id and signature, saved ones too [I3]",
          "[run_call]") {
  Bench bench{ReplaySafety::never, throws<TimeoutError>().dispatched().notes("req-1"),
              throws<TimeoutError>().dispatched().notes("req-2"),
              throws<TimeoutError>().dispatched().notes("req-3")};
  for (const auto* arguments : {"A", "A", "B"}) bench.answer(ship("call_0", arguments));
  const auto signature = [](std::string_view arguments) {
    return CallSignature{{.name = "ship", .arguments = arguments}}.text();
  };
  UnknownOutcomes restored;
  restored.restore(bench.state.unknown_outcomes().save());
  const auto all = restored.all();
  REQUIRE(all.size() == 3);
  CHECK((all[0].request_id == "req-1" && all[0].signature == signature("A")));
  CHECK((all[1].request_id == "req-2" && all[1].signature == signature("A")));
  CHECK((all[2].request_id == "req-3" && all[2].signature == signature("B")));
}

TEST_CASE(
    "a later request that did not run does not settle an unknown outcome in a run either [I3] (fault 61)",
    "[run_call]") {
  Bench bench{ReplaySafety::repeatable_with_key, throws<TimeoutError>().uses_key().dispatched().notes("cut"),
              throws<TimeoutError>().uses_key().dispatched().notes("turned-away").not_run()};
  CHECK(bench.answer(ship("1")).is_error());
  REQUIRE(bench.heard.size() == 1);
  CHECK(bench.heard[0].request_id == "cut");
  CHECK(bench.heard[0].attempts == 2);
}

TEST_CASE("a call whose exception propagates may have an unknown outcome as well [B4, I3]", "[run_call]") {
  Bench bench{ReplaySafety::never, throws<Cancelled>().dispatched()};
  CHECK_THROWS_AS(bench.answer(ship("1")), Cancelled);
  REQUIRE(bench.heard.size() == 1);
  CHECK(bench.heard[0].error_type == "encore::Cancelled");
  CHECK(bench.heard[0].idempotency_key.empty());
}

TEST_CASE("outcomes that are known, or of calls safe to repeat, are not listed as unknown [I3]",
          "[run_call]") {
  Bench answered{ReplaySafety::never, throws<TimeoutError>().dispatched().answered()};
  answered.answer(ship("1"));
  CHECK(answered.heard.empty());
  Bench before{ReplaySafety::never, throws<TimeoutError>()};
  before.answer(ship("1"));
  CHECK(before.heard.empty());
  Bench harmless{ReplaySafety::repeatable, times(2, throws<TimeoutError>().dispatched())};
  harmless.answer(ship("1"));
  CHECK(harmless.heard.empty());
  Bench settled{ReplaySafety::repeatable_with_key, throws<TimeoutError>().uses_key().dispatched(), sent()};
  CHECK(settled.answer(ship("1")).content == "sent");
  CHECK(settled.heard.empty());
}

TEST_CASE("a formatter whose answer reads like a success does not hide an unknown outcome [I3, G3]",
          "[run_call]") {
  ToolCatalog catalog;
  const RetryPolicy reassuring{RetryOn<TimeoutError>{}, MaxRetries{0}, FormatFailure{[](const Failure&) {
                                 return ToolResult{.content = "on its way"};
                               }}};
  catalog.add("ship", ReplaySafety::never, reassuring,
              [](const ToolCall&, const Attempt& attempt) -> std::string {
                attempt.mark_dispatched();
                throw TimeoutError{};
              });
  ToolRun run{catalog};
  CHECK(run.handle(ship("1")).content == "on its way");
  CHECK(run.unknown_outcomes().all().size() == 1);
}

TEST_CASE("an on_unknown_outcome hook that throws hides no unknown outcome, and changes no answer [F3]",
          "[run_call]") {
  Bench bench{ReplaySafety::never, throws<TimeoutError>().dispatched()};
  const OnUnknownOutcome broken{[](const UnknownOutcome&) { throw std::logic_error{"desk is closed"}; }};
  const encore::detail::IgnoreKeyReuse nobody;
  CHECK(bench.answer(ship("1"), {}, {}, RunCaller{bench.state, broken, nobody}).is_error());
  CHECK(bench.state.unknown_outcomes().all().size() == 1);
}

}  // namespace
