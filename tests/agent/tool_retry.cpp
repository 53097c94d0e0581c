#include "../attempts.hpp"
#include "../csv.hpp"
#include <encore/agent/tool_retry.hpp>
#include <encore/combined_predicates.hpp>
#include <encore/nesting.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/durations.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/matchers.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>

#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace {

using namespace encore::testing;
using encore::Attempt;
using encore::EventKind;
using encore::Repeatable;
using encore::RepeatableIf;
using encore::RepeatableWithKey;
using encore::ReplaySafety;
using encore::RetryOn;
using encore::RetryPolicy;
using encore::Scope;
using encore::StopReason;
using encore::TellModel;
using encore::TerminalMode;
using encore::ToolCall;
using encore::ToolResult;
using encore::ToolRetry;
using encore::ToolStatus;

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};
struct ControlFlow : encore::Unretryable {
  using Unretryable::Unretryable;
};

ToolCall lookup(std::string id = "call-17") {
  return {.id = std::move(id), .name = "inventory_lookup", .arguments = R"({"sku":"A-17"})"};
}
ToolCall charge(std::string id = "call-18") {
  return {.id = std::move(id), .name = "charge", .arguments = R"({"usd":20})"};
}
ToolResult done(const ToolCall& call) { return {.content = "done", .name = call.name, .call_id = call.id}; }

/// Two retries for timeouts, on fake time.
struct Bench {
  FakeClock clock{};
  Recorder trace{};
  auto policy() {
    return RetryPolicy{RetryOn<TimeoutError>{},
                       encore::MaxRetries{2},
                       encore::NoJitter{},
                       encore::ExponentialBackoff{.initial_delay = 10ms},
                       clock,
                       trace};
  }
};

// ---- as in LangChain ---------------------------------------------------------------------------------------------------

TEST_CASE("the rows of attempts.csv hold for a declared tool: counts, waits and ends [A1, A7, C1, G1, G3]",
          "[tool_retry]") {
  encore_tests::check_attempts([](const auto& policy, const encore::Call& call, auto& script) -> std::string {
    const ToolRetry tools{policy.template without<encore::role::OnFailure>(), Repeatable{"row"},
                          policy.failure_strategy()};
    return tools.handle(ToolCall{.id = std::string{call.id}, .name = "row"},
                        [&](const ToolCall&) { return script(); });
  });
}

TEST_CASE("parallel tool calls have budgets of their own: row A14 [A3]", "[tool_retry][threads]") {
  Bench bench;
  const ToolRetry tools{bench.policy(), Repeatable{"failing_tool", "working_tool"}, TellModel{}};
  const ToolCall failing{.id = "1", .name = "failing_tool"};
  const ToolCall working{.id = "2", .name = "working_tool"};
  Scripted<ToolResult> fails{always(throws<TimeoutError>("slow"))};
  Scripted<ToolResult> works{returns(done(working))};
  ToolResult first;
  std::thread other{
      [&] { first = tools.handle(failing, [&](const ToolCall&, const Attempt& a) { return fails(a); }); }};
  CHECK(tools.handle(working, [&](const ToolCall&, const Attempt& a) { return works(a); }) == done(working));
  other.join();
  CHECK(first.status == ToolStatus::error);
  CHECK(first.content == R"(The tool "failing_tool" failed after 3 attempts: TimeoutError.)");
  CHECK_THAT(bench.trace, Attempted("1", 3) && Attempted("2", 1));
}

TEST_CASE("a wrapper outside the tool layer sees one call, one inside sees every attempt: row A28",
          "[tool_retry]") {
  Bench bench;
  const ToolRetry tools{bench.policy(), Repeatable{"inventory_lookup"}, TellModel{}};
  int outside = 0;
  int inside = 0;
  const auto logged = [&](const ToolCall& call) {
    ++outside;
    return tools.handle(call, [&](const ToolCall& same) {
      if (++inside < 3) throw TimeoutError{"slow"};
      return done(same);
    });
  };
  CHECK(logged(lookup()) == done(lookup()));
  CHECK(outside == 1);
  CHECK(inside == 3);
}

TEST_CASE(
    "a control-flow exception propagates at once, and the other call's result is kept: row A34 (fault 25: "
    "langchain #38722) [B4]",
    "[tool_retry]") {
  Bench bench;
  const ToolRetry tools{bench.policy().with(encore::RetryOnEveryException{}), Repeatable{"inventory_lookup"},
                        TellModel{}};
  int attempts = 0;
  CHECK_THROWS_AS(tools.handle(lookup("1"),
                               [&](const ToolCall&) -> ToolResult {
                                 ++attempts;
                                 throw ControlFlow{"ask a person"};
                               }),
                  ControlFlow);
  CHECK(tools.handle(lookup("2"), done) == done(lookup("2")));
  CHECK(attempts == 1);
  CHECK_THAT(bench.trace, Attempted("1", 1) && Attempted("2", 1));
}

TEST_CASE(
    "a tool that is not declared runs once, and its exception propagates as the same object: row B6 (fault "
    "38: PraisonAI #4256, composio #3654) [B3, F1, G1, I1]",
    "[tool_retry]") {
  Bench bench;
  const ToolRetry tools{bench.policy(), Repeatable{"inventory_lookup"}, TellModel{}};
  const auto thrown = std::make_exception_ptr(TimeoutError{"slow"});
  int attempts = 0;
  std::exception_ptr caught;
  try {
    tools.handle(charge(), [&](const ToolCall&) -> ToolResult {
      ++attempts;
      std::rethrow_exception(thrown);
    });
  } catch (const TimeoutError&) {
    caught = std::current_exception();
  }
  CHECK(attempts == 1);
  CHECK(caught == thrown);
  CHECK(bench.clock.sleeps().empty());
  CHECK(bench.trace.events().without_times() == Recording{{.kind = EventKind::attempt_started,
                                                           .call_id = "call-18",
                                                           .call_name = "charge",
                                                           .ordinal = 1,
                                                           .max_attempts = 1},
                                                          {.kind = EventKind::attempt_failed,
                                                           .call_id = "call-18",
                                                           .call_name = "charge",
                                                           .ordinal = 1,
                                                           .max_attempts = 1,
                                                           .error_type = "TimeoutError",
                                                           .reason = StopReason::excluded_tool},
                                                          {.kind = EventKind::call_finished,
                                                           .call_id = "call-18",
                                                           .call_name = "charge",
                                                           .ordinal = 1,
                                                           .max_attempts = 1,
                                                           .error_type = "TimeoutError",
                                                           .reason = StopReason::excluded_tool,
                                                           .mode = TerminalMode::exception}});
}

TEST_CASE("two call ids get three attempts each: row B8 [A3, A4]", "[tool_retry]") {
  Bench bench;
  const ToolRetry tools{bench.policy(), Repeatable{"inventory_lookup"}, TellModel{}};
  std::vector<std::string> seen;
  for (const auto* id : {"17", "22"})
    tools.handle(lookup(id), [&](const ToolCall& call, const Attempt& attempt) -> ToolResult {
      seen.push_back(call.id + ":" + std::to_string(attempt.ordinal));
      throw TimeoutError{"slow"};
    });
  CHECK(seen == std::vector<std::string>{"17:1", "17:2", "17:3", "22:1", "22:2", "22:3"});
  CHECK_THAT(bench.trace, Attempted("17", 3) && Attempted("22", 3));
}

// ---- what may be repeated --------------------------------------------------------------------------------------------

TEST_CASE("tool names match exactly, and a layer without a list retries no tool [I1]", "[tool_retry]") {
  Bench bench;
  const auto attempts = [&](const auto& tools, std::string name) {
    int count = 0;
    try {
      tools.handle(ToolCall{.id = "1", .name = std::move(name)}, [&](const ToolCall&) {
        ++count;
        throw TimeoutError{"slow"};
      });
    } catch (const TimeoutError&) {}
    return count;
  };
  const ToolRetry some{bench.policy(), Repeatable{"search"}};
  CHECK(attempts(some, "search") == 3);
  CHECK(attempts(some, "Search") == 1);
  CHECK(attempts(some, "search ") == 1);
  CHECK(attempts(some, "") == 1);
  CHECK(attempts(ToolRetry{bench.policy(), Repeatable{}}, "search") == 1);
  const ToolRetry by_prefix{bench.policy(),
                            RepeatableIf{[](std::string_view n) { return n.starts_with("get_"); }}};
  CHECK(attempts(by_prefix, "get_weather") == 3);
  CHECK(attempts(by_prefix, "send_mail") == 1);
}

TEST_CASE("a tool layer uses the most careful declaration, rejects contradictions and knows all names [I1]",
          "[tool_retry]") {
  Bench bench;
  const ToolRetry tools{bench.policy(), Repeatable{"lookup"}, RepeatableWithKey{"ship"},
                        RepeatableIf{[](std::string_view) { return true; }}};
  CHECK(tools.safety_of({.name = "lookup"}) == ReplaySafety::repeatable);
  CHECK(tools.safety_of({.name = "ship"}) == ReplaySafety::repeatable_with_key);
  CHECK(tools.names() == encore::ToolNames{"lookup", "ship"});
  CHECK_THROWS_AS((ToolRetry{bench.policy(), Repeatable{"ship"}, RepeatableWithKey{"ship"}}),
                  std::invalid_argument);
}

TEST_CASE(
    "an excluded tool that succeeds is a success, and its result is passed through untouched [F1, G6, I1]",
    "[tool_retry]") {
  Bench bench;
  const ToolRetry tools{bench.policy(), Repeatable{}, TellModel{}};
  const ToolResult own{.content = "as it is"};
  CHECK(tools.handle(charge(), [&](const ToolCall&) { return own; }) == own);
  CHECK_THAT(bench.trace, EndedBecause(StopReason::succeeded) && EndedIn(TerminalMode::result));
}

TEST_CASE(
    "an excluded tool's error result is passed through untouched, even where the predicate would retry it "
    "[B8, I1]",
    "[tool_retry]") {
  Bench bench;
  const auto policy = bench.policy().with(RetryOn<TimeoutError>{} || encore::RetryIfErrorResult{});
  const ToolRetry tools{policy, Repeatable{}, TellModel{}};
  const ToolResult declined{.status = ToolStatus::error, .content = "card declined"};
  Scripted<ToolResult> tool{returns(declined)};
  CHECK(tools.handle(charge(), [&](const ToolCall&, const Attempt& a) { return tool(a); }) == declined);
  CHECK_THAT(bench.trace, Attempted("call-18", 1) && EndedBecause(StopReason::excluded_tool) &&
                              EndedIn(TerminalMode::result));
}

TEST_CASE("an excluded tool's exception propagates even where unmatched failures are handled [B3, I1]",
          "[tool_retry]") {
  Bench bench;
  const ToolRetry tools{bench.policy(), Repeatable{"inventory_lookup"}, encore::HandleUnmatched{},
                        TellModel{}};
  const auto bug = [](const ToolCall&) -> ToolResult { throw std::logic_error{"bug"}; };
  CHECK(tools.handle(lookup(), bug).is_error());
  CHECK_THROWS_AS(tools.handle(charge(), bug), std::logic_error);
}

TEST_CASE(
    "an excluded tool whose outcome is unknown is handled, so that nobody takes it for failed (fault 39: "
    "langchain #40688) [I3]",
    "[tool_retry]") {
  Bench bench;
  std::vector<encore::UnknownOutcome> lost;
  const ToolRetry tools{
      bench.policy(), Repeatable{"inventory_lookup"}, TellModel{},
      encore::OnUnknownOutcome{[&](const encore::UnknownOutcome& one) { lost.push_back(one); }}};
  Scripted<ToolResult> tool{throws<TimeoutError>("read timeout").dispatched()};
  const auto answer = tools.handle(charge(), [&](const ToolCall&, const Attempt& a) { return tool(a); });
  CHECK(tool.calls() == 1);
  CHECK(answer.content ==
        R"(The tool "charge" was called 1 time, and it is unknown whether it had an effect: TimeoutError.)");
  CHECK_THAT(bench.trace, EndedBecause(StopReason::unknown_outcome));
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].call_id == "call-18");
}

TEST_CASE("a tool that is repeatable with a key is retried only if it asked for its key [I1, I2]",
          "[tool_retry]") {
  Bench bench;
  const Scope run{1, 2, [] { return std::uint64_t{7}; }};
  const ToolRetry tools{bench.policy(), RepeatableWithKey{"charge"}, TellModel{}};
  const auto handle = [&](Scripted<ToolResult>& tool) {
    return tools.handle(charge(), {.scope = &run},
                        [&](const ToolCall&, const Attempt& a) { return tool(a); });
  };
  Scripted<ToolResult> keyed{throws<TimeoutError>("slow").uses_key(), returns(done(charge())).uses_key()};
  CHECK(handle(keyed) == done(charge()));
  CHECK(keyed.keys() == std::vector(2, run.text() + "/call-18/0000000000000007"));

  Scripted<ToolResult> keyless{throws<TimeoutError>("slow")};
  CHECK(handle(keyless).is_error());
  CHECK_THAT(bench.trace, EndedBecause(StopReason::not_repeatable) || Attempted("call-18", 3));
  CHECK(bench.trace.events().back().reason == StopReason::not_repeatable);
}

TEST_CASE(
    "the caller's operation key outlives the id that the model generates each turn (fault 38: agno #10366) "
    "[I2]",
    "[tool_retry]") {
  Bench bench;
  const ToolRetry tools{bench.policy(), RepeatableWithKey{"charge"}, TellModel{}};
  Scripted<ToolResult> tool{times(3, returns(ToolResult{}).uses_key())};
  const auto play = [&](const ToolCall&, const Attempt& a) { return tool(a); };
  auto own = charge("call_91");
  own.operation_key = "order-7";
  tools.handle(charge("call_1"), {.operation_key = "order-7"}, play);
  tools.handle(own, play);
  tools.handle(own, {.operation_key = "order-8"}, play);  // what is said of this one call is nearer
  CHECK(tool.keys() == std::vector<std::string>{"order-7", "order-7", "order-8"});
}

TEST_CASE("one key used for different arguments is reported before anything runs [I2]", "[tool_retry]") {
  Bench bench;
  std::vector<std::string> reported;
  const ToolRetry tools{bench.policy(), Repeatable{"inventory_lookup"}, RepeatableWithKey{"charge"},
                        encore::OnKeyReused{[&](const encore::KeyReuse& reuse) {
                          reported.push_back(std::string{reuse.call_name} + " " + std::string{reuse.key});
                        }}};
  const auto call = [&](ToolCall its, const char* arguments) {
    its.arguments = arguments;
    its.operation_key = "order-7";
    tools.handle(its, [&](const ToolCall&) {});
  };
  call(charge(), "20");
  call(charge("other"), "20");
  call(lookup(), "30");
  CHECK(reported.empty());
  call(charge(), "21");
  CHECK(reported == std::vector<std::string>{"charge order-7"});
}

// ---- the caller's own call -------------------------------------------------------------------------------------------

/// The shape of llama.cpp's common_chat_tool_call.
struct ChatToolCall {
  std::string name;
  std::string arguments;
  std::string id;
};

TEST_CASE(
    "the caller's own call object reaches the function, the same one on each attempt (fault 33: Azure #1712) "
    "[A5]",
    "[tool_retry]") {
  Bench bench;
  const ToolRetry tools{bench.policy(), Repeatable{"inventory_lookup"}};
  const ChatToolCall call{.name = "inventory_lookup", .arguments = "{}", .id = "call-17"};
  std::vector<const ChatToolCall*> seen;
  const int units = tools.handle(call, [&](const ChatToolCall& its, const Attempt& attempt) {
    seen.push_back(&its);
    if (attempt.ordinal < 3) throw TimeoutError{"slow"};
    return 17;
  });
  CHECK(units == 17);
  CHECK(seen == std::vector(3, &call));
  CHECK_THAT(bench.trace, Attempted("call-17", 3));
}

TEST_CASE(
    "adapting a handler of an MCP server, json(const json&, const std::string& session), takes one lambda",
    "[tool_retry]") {
  using json = std::map<std::string, std::string>;
  Bench bench;
  const std::string session = "session-3";
  int attempts = 0;
  const auto handler = [&](const json& arguments, const std::string& its_session) -> json {
    if (++attempts == 1) throw TimeoutError{"slow"};
    return {{"sku", arguments.at("raw")}, {"session", its_session}, {"isError", "true"}};
  };
  const ToolRetry tools{bench.policy(), Repeatable{"inventory_lookup"},
                        encore::ErrorResultIf{[](const json& answer) { return answer.contains("isError"); }}};
  const json answer = tools.handle(
      lookup(), [&](const ToolCall& call) { return handler(json{{"raw", call.arguments}}, session); });
  CHECK(answer.at("session") == session);
  CHECK(answer.at("sku") == lookup().arguments);
  CHECK(attempts == 2);
  CHECK(bench.trace.events().back().error_result);
}

TEST_CASE("adapting a handler of ai-sdk-cpp, (args, context{tool_call_id}), takes one lambda",
          "[tool_retry]") {
  struct Context {
    std::string tool_call_id;
  };
  Bench bench;
  const ToolRetry tools{bench.policy(), Repeatable{"inventory_lookup"}};
  const auto execute = [](const std::string& args, const Context& context) {
    return context.tool_call_id + args;
  };
  CHECK(tools.handle(lookup(), [&](const ToolCall& call) {
    return execute(call.arguments, Context{call.id});
  }) == "call-17" + lookup().arguments);
}

TEST_CASE(
    "a tool layer returns any result: void, a reference, a move-only one, and one that cannot be moved [A6]",
    "[tool_retry]") {
  struct Pinned {
    explicit Pinned(int v) : value{v} {}
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    int value;
  };
  Bench bench;
  const ToolRetry tools{bench.policy(), Repeatable{"inventory_lookup"}};
  int attempts = 0;
  tools.handle(lookup(), [&](const ToolCall&) {
    if (++attempts < 3) throw TimeoutError{"slow"};
  });
  CHECK(attempts == 3);
  int& reference = tools.handle(lookup(), [&](const ToolCall&) -> int& { return attempts; });
  CHECK(&reference == &attempts);
  CHECK(*tools.handle(lookup(), [](const ToolCall&) { return std::make_unique<int>(17); }) == 17);
  CHECK(tools.handle(lookup(), [](const ToolCall&) { return Pinned{17}; }).value == 17);
  const ToolResult kept = done(lookup());
  const auto& same = tools.handle(lookup(), [&](const ToolCall&) -> const ToolResult& { return kept; });
  CHECK(&same == &kept);
}

// ---- returned errors -------------------------------------------------------------------------------------------------

TEST_CASE("a tool's returned error is a success that observers can count, and is not retried [B8, F1]",
          "[tool_retry]") {
  Bench bench;
  const ToolRetry tools{bench.policy(), Repeatable{"inventory_lookup"}, TellModel{}};
  const ToolResult gone{.status = ToolStatus::error, .content = "no such sku"};
  CHECK(tools.handle(lookup(), [&](const ToolCall&) { return gone; }) == gone);
  CHECK(bench.trace.events().without_times() == Recording{{.kind = EventKind::attempt_started,
                                                           .call_id = "call-17",
                                                           .call_name = "inventory_lookup",
                                                           .ordinal = 1,
                                                           .max_attempts = 3},
                                                          {.kind = EventKind::attempt_succeeded,
                                                           .call_id = "call-17",
                                                           .call_name = "inventory_lookup",
                                                           .ordinal = 1,
                                                           .max_attempts = 3,
                                                           .error_result = true,
                                                           .reason = StopReason::succeeded},
                                                          {.kind = EventKind::call_finished,
                                                           .call_id = "call-17",
                                                           .call_name = "inventory_lookup",
                                                           .ordinal = 1,
                                                           .max_attempts = 3,
                                                           .error_result = true,
                                                           .reason = StopReason::succeeded,
                                                           .mode = TerminalMode::result}});
}

TEST_CASE("a bool and an optional are error results only where the layer is configured so [B8]",
          "[tool_retry]") {
  Bench bench;
  const auto marked = [&](const auto& tools, auto result) {
    bench.trace.clear();
    static_cast<void>(tools.handle(lookup(), [&](const ToolCall&) { return result; }));
    return bench.trace.events().back().error_result;
  };
  const ToolRetry plain{bench.policy(), Repeatable{"inventory_lookup"}};
  CHECK_FALSE(marked(plain, false));
  CHECK_FALSE(marked(plain, std::optional<int>{}));
  const ToolRetry told{bench.policy(), Repeatable{"inventory_lookup"},
                       encore::ErrorResultIf{[](std::same_as<bool> auto ok) { return !ok; }}};
  CHECK(marked(told, false));
  CHECK_FALSE(marked(told, true));
  CHECK_FALSE(marked(told, 0));
}

TEST_CASE("the error mark belongs to its attempt: a retry that succeeds has none [B8]", "[tool_retry]") {
  Bench bench;
  const ToolRetry tools{bench.policy().with(encore::RetryIfErrorResult{}), Repeatable{"inventory_lookup"}};
  Scripted<ToolResult> tool{returns(ToolResult{.status = ToolStatus::error}), returns(done(lookup()))};
  CHECK(tools.handle(lookup(), [&](const ToolCall&, const Attempt& a) { return tool(a); }) == done(lookup()));
  std::vector<bool> marks;
  for (const auto& event : bench.trace.events())
    if (event.kind != EventKind::attempt_started) marks.push_back(event.error_result);
  CHECK(marks == std::vector{true, false, false});
}

TEST_CASE("a result test that throws does not make the tool run again [B7]", "[tool_retry]") {
  Bench bench;
  const ToolRetry tools{bench.policy(), Repeatable{"inventory_lookup"},
                        encore::ErrorResultIf{[](int) -> bool { throw TimeoutError{"unreadable"}; }}};
  int runs = 0;
  CHECK(tools.handle(lookup(), [&](const ToolCall&) { return ++runs; }) == 1);
  CHECK(runs == 1);
}

// ---- names, layers, locks --------------------------------------------------------------------------------------------

TEST_CASE("events have the name that the model used and the name it resolves to, which must be declared [F2]",
          "[tool_retry]") {
  Bench bench;
  const ToolRetry tools{bench.policy(), Repeatable{"inventory_lookup"}, TellModel{}};
  const ToolCall call{.id = "1", .name = "Inventory.Lookup"};
  const auto answer = tools.handle(call, {.resolved_name = "inventory_lookup"},
                                   [](const ToolCall&) -> ToolResult { throw TimeoutError{"slow"}; });
  CHECK(answer.name == "Inventory.Lookup");
  CHECK(answer.content == R"(The tool "Inventory.Lookup" failed after 3 attempts: TimeoutError.)");
  for (const auto& event : bench.trace.events()) {
    CHECK(event.call_name == "Inventory.Lookup");
    CHECK(event.resolved_name == "inventory_lookup");
  }
  // An alias of a tool that may not be repeated does not become repeatable by its name.
  const ToolRetry careless{bench.policy(), Repeatable{"lookup"}};
  CHECK_THROWS_AS(careless.handle(ToolCall{.id = "2", .name = "lookup"}, {.resolved_name = "charge"},
                                  [](const ToolCall&) { throw TimeoutError{"slow"}; }),
                  TimeoutError);
  CHECK_THAT(bench.trace, Attempted("2", 1));
}

TEST_CASE("a tool call brings its own deadline, refusal and stop [D2, F1, G4]", "[tool_retry]") {
  Bench bench;
  const ToolRetry tools{bench.policy(), Repeatable{"inventory_lookup"}, TellModel{}};
  int runs = 0;
  const auto tool = [&](const ToolCall&) -> ToolResult {
    ++runs;
    throw TimeoutError{"slow"};
  };
  CHECK(tools.handle(lookup("1"), {.deadline = bench.clock.now()}, tool).content ==
        R"(The tool "inventory_lookup" was not called: expired_on_entry.)");
  CHECK(tools.handle(lookup("2"), {.refused = StopReason::call_limit_reached}, tool).content ==
        R"(The tool "inventory_lookup" was not called: call_limit_reached.)");
  CHECK(runs == 0);
  CHECK_THAT(bench.trace, RefusedOnEntry("1", StopReason::expired_on_entry) &&
                              RefusedOnEntry("2", StopReason::call_limit_reached));
  tools.handle(lookup("3"), {.deadline = bench.clock.now() + 15ms}, tool);
  CHECK_THAT(bench.trace, Attempted("3", 2) && EndedBecause("3", StopReason::deadline));
}

TEST_CASE(
    "a retry layer inside a tool is detected and named in its events: 4 x 3 requests (fault 40: livekit "
    "#5335, nanobot #2759) [J1]",
    "[tool_retry]") {
  Bench bench;
  Recorder inner_trace;
  const RetryPolicy client{RetryOn<TimeoutError>{}, encore::MaxRetries{2}, bench.clock, inner_trace,
                           encore::WhenNested{encore::Nested::report}};
  const ToolRetry tools{bench.policy(), Repeatable{"inventory_lookup"}, TellModel{}, encore::MaxRetries{3}};
  int requests = 0;
  const auto tool = [&](const auto& policy) {
    return tools.handle(lookup(), [&](const ToolCall&) -> ToolResult {
      return policy.run({.id = "GET /stock"}, [&]() -> ToolResult {
        ++requests;
        throw TimeoutError{"slow"};
      });
    });
  };
  CHECK(tool(client).is_error());
  CHECK(requests == 12);
  CHECK(inner_trace.events().back().outer_id == "call-17");

  requests = 0;
  CHECK(tool(client.with(encore::WhenNested{encore::Nested::make_single})).is_error());
  CHECK(requests == 4);
  CHECK(inner_trace.events().back().reason == StopReason::nested_made_single);
}

TEST_CASE("a tool layer reports by default that it runs inside another's attempt [J1]", "[tool_retry]") {
  Bench bench;
  const ToolRetry inner{bench.policy(), Repeatable{"inventory_lookup"}, TellModel{}};
  const RetryPolicy outer{RetryOn<TimeoutError>{}, encore::WhenNested{}, bench.clock};
  outer.run({.id = "turn-1"}, [&] {
    return inner.handle(lookup(), [](const ToolCall&) -> ToolResult { throw TimeoutError{"slow"}; });
  });
  CHECK(bench.trace.events().back().outer_id == "turn-1");
}

TEST_CASE("on another thread nesting is detected through the attempt that is passed on [J2]",
          "[tool_retry][threads]") {
  Bench bench;
  const ToolRetry tools{bench.policy(), Repeatable{"inventory_lookup"}, TellModel{}};
  const RetryPolicy outer{RetryOn<TimeoutError>{}, encore::WhenNested{}, bench.clock};
  outer.run({.id = "turn-1"}, [&](const Attempt& attempt) {
    std::thread{[&] {
      const auto slow = [](const ToolCall&) -> ToolResult { throw TimeoutError{"slow"}; };
      tools.handle(lookup("with"), {.outer = &attempt}, slow);
      tools.handle(lookup("without"), slow);
    }}.join();
  });
  CHECK(bench.trace.of("with").back().outer_id == "turn-1");
  CHECK(bench.trace.of("without").back().outer_id.empty());
}

TEST_CASE("no lock of the host is held while a tool call waits", "[tool_retry]") {
  Bench bench;
  std::mutex host;
  int free_while_waiting = 0;
  for (const auto when : {5ms, 15ms})  // in the waits of 10 ms and 20 ms
    bench.clock.after(when, [&] {
      std::thread{[&] { free_while_waiting += host.try_lock() ? (host.unlock(), 1) : 0; }}.join();
    });
  const ToolRetry tools{bench.policy(), Repeatable{"inventory_lookup"}, TellModel{}};
  tools.handle(lookup(), [&](const ToolCall&) -> ToolResult {
    const std::lock_guard lock{host};
    throw TimeoutError{"slow"};
  });
  CHECK(bench.clock.sleeps() == Durations{10ms, 20ms});
  CHECK(free_while_waiting == 2);
}

TEST_CASE("a layer used inside its own tool keeps both calls' counts (fault 34: tenacity #478) [A3]",
          "[tool_retry]") {
  Bench bench;
  const ToolRetry tools{bench.policy(), Repeatable{"inventory_lookup"}, TellModel{}};
  int inner = 0;
  int outer = 0;
  tools.handle(lookup("outer"), [&](const ToolCall&) -> ToolResult {
    ++outer;
    tools.handle(lookup("inner-" + std::to_string(outer)), [&](const ToolCall&) -> ToolResult {
      ++inner;
      throw TimeoutError{"slow"};
    });
    throw TimeoutError{"slow"};
  });
  CHECK(outer == 3);
  CHECK(inner == 9);
}

TEST_CASE(
    "every failure strategy makes the same attempts of a tool for the same script (fault 12: failsafe-go "
    "#22) [A7]",
    "[tool_retry]") {
  Bench bench;
  const auto attempts = [&](const auto&... strategy) {
    const ToolRetry tools{bench.policy(), Repeatable{"inventory_lookup"}, strategy...};
    int count = 0;
    try {
      static_cast<void>(tools.handle(lookup(), [&](const ToolCall&) -> ToolResult {
        ++count;
        throw TimeoutError{"slow"};
      }));
    } catch (const TimeoutError&) {}
    return count;
  };
  CHECK(attempts() == 3);
  CHECK(attempts(TellModel{}) == 3);
  CHECK(attempts(encore::TellModelWith{[](const encore::Failure&) { return "unavailable"; }}) == 3);
  CHECK(attempts(encore::FormatFailure{[](const encore::Failure&) { return ToolResult{}; }}) == 3);
  CHECK(attempts(encore::ReturnOutcome{}) == 3);
}

TEST_CASE("a tool layer with other options keeps its declarations", "[tool_retry]") {
  FakeClock clock;
  Recorder trace;
  const ToolRetry tools{RetryPolicy{RetryOn<TimeoutError>{}}, Repeatable{"inventory_lookup"}, TellModel{}};
  const auto in_test = tools.with(clock, trace, encore::NoJitter{}, encore::MaxRetries{1});
  in_test.handle(lookup(), [](const ToolCall&) -> ToolResult { throw TimeoutError{"slow"}; });
  CHECK(clock.sleeps() == Durations{1s});
  CHECK(in_test.safety_of({.name = "charge"}) == ReplaySafety::excluded);
}

TEST_CASE("call ids and tool names of any kind do no harm: empty, huge, with any bytes", "[tool_retry]") {
  Bench bench;
  const std::string odd{"\0\n\"\xFF", 4};
  const ToolRetry tools{bench.policy(), Repeatable{odd, std::string(100'000, 'x'), ""}, TellModel{}};
  const auto slow = [](const ToolCall&) -> ToolResult { throw TimeoutError{"slow"}; };
  for (const auto& text : {odd, std::string(100'000, 'x'), std::string{}}) {
    bench.trace.clear();
    const auto answer = tools.handle(ToolCall{.id = text, .name = text, .arguments = text}, slow);
    CHECK(answer.name == text);
    CHECK(answer.call_id == (text.empty() ? bench.trace.events().back().call_id : text));
    CHECK_THAT(bench.trace, Attempted(3));
    CHECK_FALSE(bench.trace.events().back().call_id.empty());
  }
}

TEST_CASE("many threads can use one tool layer [L1]", "[tool_retry][threads]") {
  Bench bench;
  std::atomic<int> reuses{0};
  const ToolRetry tools{bench.policy(), Repeatable{"inventory_lookup"}, RepeatableWithKey{"charge"},
                        TellModel{}, encore::OnKeyReused{[&](const encore::KeyReuse&) { ++reuses; }}};
  std::atomic<int> runs{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const auto slow = [&](const ToolCall&) -> ToolResult {
          ++runs;
          throw TimeoutError{"slow"};
        };
        tools.handle(lookup(std::to_string(t) + "-" + std::to_string(i)), slow);
        auto same = charge("one");
        same.operation_key = "order-7";
        same.arguments = std::to_string(t);
        tools.handle(same, slow);
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(runs == 4 * 50 * (3 + 1));
  CHECK(reuses == 3 * 50);
}

}  // namespace
