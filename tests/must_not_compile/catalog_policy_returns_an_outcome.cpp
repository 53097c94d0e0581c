// EXPECT: the failure strategy of a tool in a catalog must return a ToolResult: give its policy TellModel{}
#include <encore/agent/tool_catalog.hpp>
#include <encore/outcome.hpp>

void test(encore::ToolCatalog& catalog) {
#ifdef ENCORE_FIXED
  const encore::TellModel strategy;
#else
  const encore::ReturnOutcome strategy;
#endif
  catalog.add("lookup", encore::RetryPolicy{encore::RetryOnEveryException{}, strategy},
              [](const encore::ToolCall&) { return "17 units"; });
}
