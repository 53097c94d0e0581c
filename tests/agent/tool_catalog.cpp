#include "../empty_permit.hpp"
#include <encore/agent/call_signature.hpp>
#include <encore/agent/tool_catalog.hpp>
#include <encore/agent/tool_retry.hpp>
#include <encore/guard/guard.hpp>
#include <encore/on_failure.hpp>
#include <encore/retry_policy.hpp>
#include <encore/telemetry/counters.hpp>
#include <encore/testing/durations.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/matchers.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::Attempt;
using encore::Counters;
using encore::Failure;
using encore::FormatFailure;
using encore::MaxRetries;
using encore::Repeatable;
using encore::RepeatableWithKey;
using encore::ReplaySafety;
using encore::RetryOn;
using encore::RetryOnEveryException;
using encore::RetryPolicy;
using encore::Scope;
using encore::StopReason;
using encore::TellModel;
using encore::TellModelWith;
using encore::TerminalMode;
using encore::ToolCall;
using encore::ToolCatalog;
using encore::ToolDescriptions;
using encore::ToolNames;
using encore::ToolResult;
using encore::ToolStatus;

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};
struct ConnectionError : std::runtime_error {
  using runtime_error::runtime_error;
};

/// A warehouse's tools, on fake time.
struct Warehouse {
  FakeClock clock{};
  Recorder trace{};
  int runs = 0;
  ToolCatalog catalog{};

  Warehouse() {
    const RetryPolicy lookups{RetryOn<TimeoutError, ConnectionError>{},
                              encore::MaxRetries{2},
                              encore::NoJitter{},
                              encore::ExponentialBackoff{.initial_delay = 250ms, .max_delay = 2s},
                              clock,
                              trace};
    const auto slow = [this](const ToolCall&) -> ToolResult {
      ++runs;
      throw TimeoutError{"db-1 is slow"};
    };
    catalog.add("inventory_lookup", ReplaySafety::repeatable, lookups, slow);
    catalog.add("ship", ReplaySafety::repeatable_with_key, lookups.with(encore::MaxRetries{1}),
                [this](const ToolCall&, const Attempt& attempt) -> std::string {
                  ++runs;
                  if (attempt.ordinal == 1) {
                    static_cast<void>(attempt.idempotency_key());
                    throw TimeoutError{"slow"};
                  }
                  return attempt.idempotency_key();
                });
    catalog.add("charge_card", lookups, slow);
    catalog.add("send_mail", slow);
  }
  ToolResult call(std::string name, const encore::Call& with = {}) {
    runs = 0;
    return catalog.handle(ToolCall{.id = "call-17", .name = std::move(name), .arguments = "{}"}, with);
  }
};

// ---- the contract test that every user should have -------------------------------------------------------------------

TEST_CASE("every tool of a catalog has the policy that was agreed on", "[tool_catalog]") {
  CHECK("\n" + Warehouse{}.catalog.describe().table() == R"(
tool              replay               attempts  requests  worst wait  on failure    policy
charge_card       never                1         1         0 s         error_result  RetryOn<TimeoutError, ConnectionError>
inventory_lookup  repeatable           3         3         0.75 s      error_result  RetryOn<TimeoutError, ConnectionError>
send_mail         never                1         1         0 s         error_result  none stated
ship              repeatable_with_key  2         2         0.25 s      error_result  RetryOn<TimeoutError, ConnectionError>
)");
}

TEST_CASE("catalog descriptions are comparable values: a new tool or a wider filter makes them differ",
          "[tool_catalog]") {
  Warehouse warehouse;
  const auto agreed = warehouse.catalog.describe();
  CHECK(agreed ==
        ToolDescriptions{{.name = "charge_card", .policy = "RetryOn<TimeoutError, ConnectionError>"},
                         {.name = "inventory_lookup",
                          .replay = ReplaySafety::repeatable,
                          .max_attempts = 3,
                          .worst_wait = 750ms,
                          .policy = "RetryOn<TimeoutError, ConnectionError>"},
                         {.name = "send_mail"},
                         {.name = "ship",
                          .replay = ReplaySafety::repeatable_with_key,
                          .max_attempts = 2,
                          .worst_wait = 250ms,
                          .policy = "RetryOn<TimeoutError, ConnectionError>"}});
  warehouse.catalog.add("new_tool", [](const ToolCall&) {});
  CHECK_FALSE(warehouse.catalog.describe() == agreed);
}

// ---- running a call --------------------------------------------------------------------------------------------------

TEST_CASE("a catalog runs a call by name, under that tool's policy", "[tool_catalog]") {
  Warehouse warehouse;
  CHECK(warehouse.call("inventory_lookup") ==
        ToolResult{.status = ToolStatus::error,
                   .content = R"(The tool "inventory_lookup" failed after 3 attempts: TimeoutError.)",
                   .name = "inventory_lookup",
                   .call_id = "call-17",
                   .reason = StopReason::retries_exhausted});
  CHECK(warehouse.runs == 3);
  CHECK(warehouse.clock.sleeps() == Durations{250ms, 500ms});
}

TEST_CASE(
    "a tool declared never repeatable, or not declared, runs once, and the strategy answers (fault 38: "
    "PraisonAI #4256, composio #3654) [I1]",
    "[tool_catalog]") {
  Warehouse warehouse;
  CHECK(warehouse.call("charge_card").content ==
        R"(The tool "charge_card" failed after 1 attempt: TimeoutError.)");
  CHECK(warehouse.runs == 1);
  CHECK_THAT(warehouse.trace,
             Attempted(1) && EndedBecause(StopReason::not_repeatable) && EndedIn(TerminalMode::error_result));
}

TEST_CASE("a tool that runs once has at most one attempt, wherever that is reported [F2, I1]",
          "[tool_catalog]") {
  Warehouse warehouse;
  std::vector<std::optional<int>> told;
  const RetryPolicy policy{RetryOn<TimeoutError>{}, encore::MaxRetries{2}, warehouse.clock, warehouse.trace,
                           encore::TellModelWith{[&](const encore::Failure& failure) {
                             told.push_back(failure.max_attempts);
                             return std::string{};
                           }}};
  const auto fail = [](const ToolCall&) -> std::string { throw TimeoutError{"slow"}; };
  const auto work = [](const ToolCall&) { return "done"; };
  warehouse.catalog.add("fails_once", policy, fail);
  warehouse.catalog.add("works_once", policy, work);
  warehouse.catalog.add("fails", ReplaySafety::repeatable_with_key, policy, fail);
  const auto most_attempts = [&](const std::string& name) {
    warehouse.trace.clear();
    static_cast<void>(warehouse.call(name));
    std::set<std::optional<int>> most;
    for (const auto& event : warehouse.trace.events()) most.insert(event.max_attempts);
    return most;
  };
  CHECK(most_attempts("fails_once") == std::set<std::optional<int>>{1});
  CHECK(most_attempts("works_once") == std::set<std::optional<int>>{1});
  CHECK(most_attempts("fails") == std::set<std::optional<int>>{3});
  CHECK(told == std::vector<std::optional<int>>{1, 3});
}

TEST_CASE("a tool without a policy runs once and takes over no other tool's policy [I1]", "[tool_catalog]") {
  Warehouse warehouse;
  CHECK(warehouse.call("send_mail").content ==
        R"(The tool "send_mail" failed after 1 attempt: TimeoutError.)");
  CHECK(warehouse.runs == 1);
  CHECK(warehouse.clock.sleeps().empty());
  CHECK(warehouse.trace.events().empty());
}

TEST_CASE("a tool that is repeatable with a key is repeated with one key, which is the call's own [I2]",
          "[tool_catalog]") {
  Warehouse warehouse;
  const Scope run{1, 2, [] { return std::uint64_t{7}; }};
  CHECK(warehouse.call("ship", {.scope = &run}).content == run.text() + "/call-17/0000000000000007");
  CHECK(warehouse.runs == 2);
  CHECK(warehouse.call("ship", {.operation_key = "order-7"}).content == "order-7");
}

TEST_CASE(
    "a read timeout on a charge is an unknown outcome: it is not retried, and is reported as such without "
    "advice (fault 39: langchain #40688) [I3]",
    "[tool_catalog]") {
  Warehouse warehouse;
  const RetryPolicy policy{RetryOn<TimeoutError>{}, warehouse.clock, warehouse.trace};
  Scripted<ToolResult> charge{throws<TimeoutError>("read timeout").dispatched()};
  warehouse.catalog.add("charge", policy,
                        [&](const ToolCall&, const Attempt& attempt) { return charge(attempt); });
  CHECK(warehouse.call("charge").content ==
        R"(The tool "charge" was called 1 time, and it is unknown whether it had an effect: TimeoutError.)");
  CHECK_THAT(warehouse.trace, EndedBecause(StopReason::unknown_outcome));
}

TEST_CASE("a call of an unknown tool is answered with an error, whatever its name contains",
          "[tool_catalog]") {
  Warehouse warehouse;
  CHECK(warehouse.call("inventory_lookup2") ==
        ToolResult{.status = ToolStatus::error,
                   .content = R"(There is no tool "inventory_lookup2".)",
                   .name = "inventory_lookup2",
                   .call_id = "call-17",
                   .reason = StopReason::unknown_tool});
  CHECK(warehouse.call("Inventory_lookup").is_error());
  CHECK(warehouse.call("").content == R"(There is no tool "".)");
  CHECK(warehouse.call("a\n\x1B[31m\"").content == R"(There is no tool "a\n\u001b[31m\"".)");
  CHECK(warehouse.call(std::string(1'000'000, 'x')).is_error());
}

TEST_CASE(
    "a call of a tool that does not exist is an event, and counters have one name for all such calls [F1, "
    "H9]",
    "[tool_catalog]") {
  Warehouse warehouse;
  Counters counters;
  warehouse.catalog.for_unknown_tools(
      RetryPolicy{RetryOnEveryException{}, warehouse.clock, warehouse.trace, counters,
                  TellModelWith{[](const Failure& failure) { return "no " + failure.call_name; }}});
  CHECK(warehouse.call("inventory_lookup2").content == "no inventory_lookup2");
  CHECK(warehouse.call("inventory_lookup3").reason == StopReason::unknown_tool);
  CHECK_THAT(warehouse.trace, RefusedOnEntry("call-17", StopReason::unknown_tool));
  const auto last = warehouse.trace.events().back();
  CHECK(last.call_name == "inventory_lookup3");
  CHECK(last.resolved_name == encore::unknown_tool_name);
  const auto tools = counters.snapshot().tools();
  REQUIRE(tools.size() == 1);
  CHECK(tools[0].tool == encore::unknown_tool_name);
  CHECK(tools[0].ended_because(StopReason::unknown_tool) == 2);
  CHECK(tools[0].refused() == 2);
}

TEST_CASE("an answer says why the tool did not answer itself, even where a formatter omits it [G7, H9]",
          "[tool_catalog]") {
  Warehouse warehouse;
  warehouse.catalog.add(
      "formatted", ReplaySafety::repeatable,
      RetryPolicy{RetryOn<TimeoutError>{}, MaxRetries{0}, warehouse.clock,
                  FormatFailure{[](const Failure&) { return ToolResult{.content = "sorry"}; }}},
      [](const ToolCall&) -> std::string { throw TimeoutError{"slow"}; });
  CHECK(warehouse.call("formatted") ==
        ToolResult{.content = "sorry", .reason = StopReason::retries_exhausted});
  warehouse.catalog.add("fine", [](const ToolCall&) { return std::string{"17"}; });
  CHECK(warehouse.call("fine").reason == StopReason::none);
}

TEST_CASE("a failure that no policy of a catalog matches propagates unchanged [B3]", "[tool_catalog]") {
  Warehouse warehouse;
  const RetryPolicy policy{RetryOn<TimeoutError>{}, warehouse.clock};
  warehouse.catalog.add("buggy", ReplaySafety::repeatable, policy,
                        [](const ToolCall&) -> ToolResult { throw std::logic_error{"bug"}; });
  CHECK_THROWS_AS(warehouse.call("buggy"), std::logic_error);
}

TEST_CASE(
    "returned errors of a catalog's tools are reported to observers, and retried only where the policy says "
    "so [B8]",
    "[tool_catalog]") {
  Warehouse warehouse;
  const RetryPolicy policy{RetryOn<TimeoutError>{}, warehouse.clock, warehouse.trace};
  int runs = 0;
  const auto busy = [&](const ToolCall&) {
    ++runs;
    return ToolResult{.status = ToolStatus::error, .content = "busy"};
  };
  warehouse.catalog.add("once", ReplaySafety::repeatable, policy, busy);
  CHECK(warehouse.call("once").content == "busy");
  CHECK(runs == 1);
  CHECK(warehouse.trace.events().back().error_result);
  warehouse.catalog.add("again", ReplaySafety::repeatable, policy.with(encore::RetryIfErrorResult{}), busy);
  CHECK(warehouse.call("again").content ==
        R"(The tool "again" failed after 3 attempts. The tool says: busy)");
  CHECK(runs == 4);
}

TEST_CASE("a policy's own formatter writes the answers in a catalog too [G3]", "[tool_catalog]") {
  Warehouse warehouse;
  const RetryPolicy policy{RetryOn<TimeoutError>{}, warehouse.clock,
                           encore::TellModelWith{[](const encore::Failure&) { return "UNAVAILABLE"; }}};
  warehouse.catalog.add("lookup", policy, [](const ToolCall&) { throw TimeoutError{"slow"}; });
  CHECK(warehouse.call("lookup").content == "UNAVAILABLE");
  CHECK(warehouse.catalog.describe()[2].on_failure == TerminalMode::formatted);
}

// ---- names -----------------------------------------------------------------------------------------------------------

TEST_CASE("an alias resolves to the same tool, and events have both names [F2]", "[tool_catalog]") {
  Warehouse warehouse;
  warehouse.catalog.alias("Inventory.Lookup", "inventory_lookup");
  warehouse.catalog.alias("lookup", "Inventory.Lookup");
  CHECK(warehouse.call("lookup").content == R"(The tool "lookup" failed after 3 attempts: TimeoutError.)");
  for (const auto& event : warehouse.trace.events()) {
    CHECK(event.call_name == "lookup");
    CHECK(event.resolved_name == "inventory_lookup");
  }
  CHECK(warehouse.catalog.describe().size() == 4);
}

/// A guard that remembers which name it was asked about.
struct NameHearing {
  using role = encore::role::Guard;
  static constexpr auto refusal = StopReason::refused_by_guard;
  using Permit = encore_tests::EmptyPermit;
  std::vector<std::string> names{};
  NameHearing() = default;
  NameHearing(const NameHearing&) = delete;
  std::optional<Permit> admit(const encore::AdmissionRequest& request) {
    names.emplace_back(request.call_name);
    return Permit{};
  }
};

TEST_CASE("guards see a tool's own name, whichever alias the model used: no alias evades a breaker",
          "[tool_catalog]") {
  Warehouse warehouse;
  NameHearing guard;
  const RetryPolicy policy{RetryOn<TimeoutError>{}, warehouse.clock, guard};
  warehouse.catalog.add("weather", policy, [](const ToolCall&) {});
  warehouse.catalog.alias("Weather", "weather");
  warehouse.call("Weather");
  warehouse.call("weather");
  CHECK(guard.names == std::vector<std::string>{"weather", "weather"});
}

TEST_CASE("aliases that resolve to no tool, or to two, are invalid", "[tool_catalog]") {
  Warehouse warehouse;
  const auto why = [&](const auto& change) -> std::string {
    try {
      change(warehouse.catalog);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "not refused";
  };
  const auto nothing = [](const ToolCall&) {};
  CHECK(why([&](auto& c) { c.add("", nothing); }) == "encore: name = \"\" is invalid: a tool needs a name");
  CHECK(why([&](auto& c) { c.add("ship", nothing); }) ==
        "encore: name = \"ship\" is invalid: there is already a tool of this name");
  CHECK(why([&](auto& c) { c.alias("ship", "send_mail"); }) ==
        "encore: name = \"ship\" is invalid: there is already a tool of this name");
  CHECK(why([&](auto& c) { c.alias("a", "b"); }) == "encore: name = \"b\" is invalid: there is no such tool");
  CHECK(why([&](auto& c) {
          c.add("x", ReplaySafety::excluded, RetryPolicy{encore::RetryOnEveryException{}}, nothing);
        }) == "encore: replay = excluded is invalid: it must be repeatable, repeatable_with_key or never");
  CHECK(warehouse.catalog.describe().size() == 4);
}

TEST_CASE("declarations of tools that a catalog does not have are reported [I1]", "[tool_catalog]") {
  Warehouse warehouse;
  warehouse.catalog.alias("lookup", "inventory_lookup");
  const encore::ToolRetry tools{RetryPolicy{RetryOn<TimeoutError>{}},
                                Repeatable{"inventory_lookup", "lookup", "wether"},
                                RepeatableWithKey{"ship", "Ship"}};
  CHECK(warehouse.catalog.unknown_names(tools) == ToolNames{"Ship", "wether"});
  CHECK(warehouse.catalog.unknown_names(Repeatable{"ship"}).empty());
}

// ---- values and threads ----------------------------------------------------------------------------------------------

TEST_CASE("a catalog accepts a tool function that is move-only or has mutable state", "[tool_catalog]") {
  ToolCatalog catalog;
  catalog.add("count",
              [n = std::make_unique<int>(0)](const ToolCall&) mutable { return std::to_string(++*n); });
  const ToolCatalog copy = catalog;
  const ToolCall call{.id = "1", .name = "count"};
  CHECK(catalog.handle(call).content == "1");
  CHECK(copy.handle(call).content == "2");
}

TEST_CASE("a catalog accepts the caller's own type of call", "[tool_catalog]") {
  struct ChatToolCall {
    std::string_view name;
    const char* arguments;
    std::string id;
    std::string operation_key;
  };
  ToolCatalog catalog;
  catalog.add("echo", [](const ToolCall& call, const Attempt& attempt) {
    return call.arguments + " " + attempt.idempotency_key();
  });
  CHECK(catalog.handle(
            ChatToolCall{.name = "echo", .arguments = "A-17", .id = "call-1", .operation_key = "order-7"}) ==
        ToolResult{.content = "A-17 order-7", .name = "echo", .call_id = "call-1"});
}

TEST_CASE("many threads can use a filled catalog [L1]", "[tool_catalog][threads]") {
  Warehouse warehouse;
  std::atomic<int> runs{0};
  const RetryPolicy policy{RetryOn<TimeoutError>{}, encore::MaxRetries{1}, warehouse.clock};
  warehouse.catalog.add("shared", ReplaySafety::repeatable, policy, [&](const ToolCall&) -> ToolResult {
    ++runs;
    throw TimeoutError{"slow"};
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        warehouse.catalog.handle(ToolCall{.id = "1", .name = "shared"});
        static_cast<void>(warehouse.catalog.describe());
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(runs == 400);
}

}  // namespace
