#include <encore/agent/refused_turns.hpp>
#include <encore/agent/tool_catalog.hpp>
#include <encore/agent/tool_run.hpp>

#include <catch2/catch_test_macros.hpp>

#include <stdexcept>

namespace {

using encore::RefusedTurns;
using encore::ToolCall;
using encore::UnlimitedTurns;

/// After how many turns with nothing but a call of a tool that does not exist a run is over; 1,000: it is not.
int turns_until_over(const RefusedTurns& limits) {
  encore::ToolCatalog catalog;
  encore::ToolRun run{catalog, limits};
  int turns = 0;
  for (; !run.over() && turns < 1'000; ++turns)
    static_cast<void>(run.handle_batch({ToolCall{.id = "call_0", .name = "no such tool"}}));
  return turns;
}

TEST_CASE("the number of refused turns that end a run can be set, and unlimited has a name [A1, H9]",
          "[refused_turns]") {
  CHECK(turns_until_over({}) == 3);
  CHECK(turns_until_over({.by_limits = 1}) == 1);
  CHECK(turns_until_over({.by_limits = 7}) == 7);
  CHECK(turns_until_over({.by_limits = UnlimitedTurns{}}) == 1'000);
}

TEST_CASE("a limit of refused turns below one is invalid [C3, H9]", "[refused_turns]") {
  CHECK_THROWS_AS(RefusedTurns{.by_limits = 0}, std::invalid_argument);
  CHECK_THROWS_AS(RefusedTurns{.passing = -1}, std::invalid_argument);
}

}  // namespace
