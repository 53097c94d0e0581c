// The retries that this team has agreed to. A change of a policy that breaks one of them fails here, before a backend sees it.
#include "tools.hpp"
#include <encore/testing/retry_contract.hpp>

#include <catch2/catch_test_macros.hpp>

using namespace encore::testing;
using namespace inventory;
using encore::ToolResult, encore::ToolStatus;

namespace {

const RetryContract<ToolResult> lookup{
    .name = "inventory_lookup",
    .attempts = 3,
    .waits = Durations{250ms, 500ms},
    .mode = encore::TerminalMode::formatted,
    .success = ToolResult{ToolStatus::ok, "17 units", "inventory_lookup", "call-17"}};
const RetryContract<ToolResult> ship{.name = "ship",
                                     .attempts = 2,
                                     .waits = Durations{1s},
                                     .success = ToolResult{ToolStatus::ok, "1 shipment", "ship", "call-17"}};
const ToolResult unavailable{ToolStatus::error, "DEPENDENCY_UNAVAILABLE:inventory::TimeoutError",
                             "inventory_lookup", "call-17", encore::StopReason::retries_exhausted};

TEST_CASE("inventory_lookup: transient failures are retried, and the model is told in safe words") {
  CHECK(exhausts(reading_tools, lookup, throws<TimeoutError>("host-7 is slow"), {unavailable}));
  CHECK(exhausts(reading_tools, lookup, throws<ConnectionError>("dropped")));
  CHECK(recovers_on_the_last_attempt(reading_tools, lookup, throws<TimeoutError>("slow")));
  CHECK(recovers_too_late(reading_tools, lookup, throws<TimeoutError>("slow")));
}

TEST_CASE("inventory_lookup: what another attempt cannot mend leaves at once") {
  CHECK(is_not_retried(reading_tools, lookup, throws<InvalidSku>("blank")));
}

TEST_CASE("ship: once more with its key, and then the exception leaves") {
  CHECK(exhausts(writing_tools, ship, throws<ConnectionError>("dropped").uses_key()));
  CHECK(recovers_on_the_last_attempt(writing_tools, ship, throws<ConnectionError>("dropped").uses_key()));
  CHECK(is_not_retried(writing_tools, ship, throws<ConnectionError>("sent without a key")));
  CHECK(is_not_retried(writing_tools, ship, throws<TimeoutError>("perhaps it was shipped").uses_key()));
}

TEST_CASE("every tool that may be repeated is listed here, and no other is") {
  CHECK(reading_tools.names() == encore::ToolNames{"inventory_lookup"});
  CHECK(writing_tools.names() == encore::ToolNames{"ship"});
  CHECK(is_excluded(reading_tools, lookup, "charge_card", throws<TimeoutError>("slow")));
  CHECK(is_excluded(writing_tools, ship, "charge_card", throws<ConnectionError>("dropped").uses_key()));
}

TEST_CASE("the adapter throws what the policies know, and each attempt sends the call's id") {
  CHECK_THROWS_AS(throw_for(504), TimeoutError);
  CHECK_THROWS_AS(throw_for(503), ConnectionError);
  CHECK_THROWS_AS(throw_for(422), InvalidSku);
  CHECK_NOTHROW(throw_for(200));

  FakeClock clock;
  std::vector<std::string> ids, attempts;
  const encore::ToolCall call{.id = "call-17", .name = "inventory_lookup", .arguments = R"({"sku":"A-17"})"};
  const auto result = reading_tools.with(clock).handle(
      call, [&](const encore::ToolCall&, const encore::Attempt& attempt) -> ToolResult {
        const auto headers = headers_of(attempt);
        ids.push_back(headers.at("X-Call-Id"));
        attempts.push_back(headers.at("X-Attempt"));
        throw_for(attempt.ordinal < 3 ? 504 : 200);
        return {ToolStatus::ok, "17 units", call.name, call.id};
      });
  CHECK(result.content == "17 units");
  CHECK(ids == std::vector<std::string>{"call-17", "call-17", "call-17"});
  CHECK(attempts == std::vector<std::string>{"1", "2", "3"});
}

}  // namespace
