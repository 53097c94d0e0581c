#include <encore/agent/tool_description.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <limits>
#include <sstream>
#include <string>

namespace {

using namespace std::chrono_literals;
using encore::ReplaySafety;
using encore::TerminalMode;
using encore::ToolDescription;
using encore::ToolDescriptions;

const ToolDescriptions tools{{.name = "charge_card"},
                             {.name = "inventory_lookup",
                              .replay = ReplaySafety::repeatable,
                              .max_attempts = 3,
                              .inner_attempts = 4,
                              .worst_wait = 750ms,
                              .policy = "RetryOn<TimeoutError>"},
                             {.name = "ship now",
                              .replay = ReplaySafety::repeatable_with_key,
                              .max_attempts = {},
                              .worst_wait = {},
                              .on_failure = TerminalMode::formatted,
                              .policy = "RetryOnEveryException"}};

TEST_CASE("a catalog's table has a line for each tool, and its columns line up", "[tool_description]") {
  CHECK(tools.table() ==
        "tool              replay               attempts   requests   worst wait  on failure    policy\n"
        "charge_card       never                1          1          0 s         error_result  none stated\n"
        "inventory_lookup  repeatable           3          12         0.75 s      error_result  "
        "RetryOn<TimeoutError>\n"
        "\"ship now\"        repeatable_with_key  unlimited  unlimited  unlimited   formatted     "
        "RetryOnEveryException\n");
  CHECK(ToolDescriptions{}.table() == "tool  replay  attempts  requests  worst wait  on failure  policy\n");
}

TEST_CASE("a catalog's description as JSON has the same in numbers, and null for what is unlimited",
          "[tool_description]") {
  CHECK(
      tools.json() ==
      R"([{"tool":"charge_card","replay":"never","max_attempts":1,"max_requests":1,"worst_wait_s":0,)"
      R"("on_failure":"error_result","policy":"none stated"},)"
      "\n "
      R"({"tool":"inventory_lookup","replay":"repeatable","max_attempts":3,"max_requests":12,"worst_wait_s":0.75,)"
      R"("on_failure":"error_result","policy":"RetryOn<TimeoutError>"},)"
      "\n "
      R"({"tool":"ship now","replay":"repeatable_with_key","max_attempts":null,"max_requests":null,)"
      R"("worst_wait_s":null,"on_failure":"formatted","policy":"RetryOnEveryException"}])"
      "\n");
  CHECK(ToolDescriptions{}.json() == "[]\n");
}

TEST_CASE("a tool name with any bytes breaks neither the table's line nor the JSON", "[tool_description]") {
  const ToolDescriptions odd{{.name = "a\n\"b\"\x1B"}};
  CHECK(odd.table().find("\"a\\n\\\"b\\\"\\u001b\"  never") != std::string::npos);
  CHECK(odd.json().find(R"("tool":"a\n\"b\"\u001b",)") != std::string::npos);
}

TEST_CASE("the maximum of requests is attempts times those of the layer inside, without overflow [J1]",
          "[tool_description]") {
  CHECK(ToolDescription{.max_attempts = 4, .inner_attempts = 3}.max_requests() == 12);
  CHECK(ToolDescription{.max_attempts = {}, .inner_attempts = 3}.max_requests() == std::nullopt);
  constexpr auto most = std::numeric_limits<int>::max();
  CHECK(ToolDescription{.max_attempts = most, .inner_attempts = most}.max_requests() ==
        std::int64_t{most} * std::int64_t{most});
}

TEST_CASE("tool descriptions compare as a whole, and a failing test prints the table", "[tool_description]") {
  auto changed = tools;
  CHECK(changed == tools);
  changed[1].max_attempts = 4;
  CHECK_FALSE(changed == tools);
  std::ostringstream printed;
  printed << tools;
  CHECK(printed.str() == tools.table());
}

}  // namespace
