// EXPECT: a tool returns a ToolResult, text or nothing
#include <encore/agent/tool_catalog.hpp>

void test(encore::ToolCatalog& catalog) {
#ifdef ENCORE_FIXED
  catalog.add("lookup", [](const encore::ToolCall&) { return std::to_string(17); });
#else
  catalog.add("lookup", [](const encore::ToolCall&) { return 17; });
#endif
}
