#include <encore/agent.hpp>

#include <catch2/catch_test_macros.hpp>

#include <stdexcept>
#include <string>

using namespace encore;

namespace {
struct Slow : std::runtime_error {
  using std::runtime_error::runtime_error;
};
}  // namespace

TEST_CASE("an agent's run, its tools and its limits are available from one include", "[agent]") {
  ToolCatalog catalog;
  catalog.add("look_up", ReplaySafety::repeatable, RetryPolicy{RetryOn<Slow>{}},
              [](const std::string& arguments) { return "seventeen of " + arguments; });
  ToolRun run{catalog, CallLimit{.run_limit = 1}, StepLimit{.run_limit = 3}, LoopDetector{},
              SpendLimit{usd(2)}};
  CHECK(run.handle(ToolCall{.id = "1", .name = "look_up", .arguments = "A-17"}).content ==
        "seventeen of A-17");
  CHECK(run.handle(ToolCall{.id = "2", .name = "look_up", .arguments = "A-17"}).is_error());
}
