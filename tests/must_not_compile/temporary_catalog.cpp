// EXPECT: deleted
#include <encore/agent/tool_run.hpp>

void test() {
#ifdef ENCORE_FIXED
  const encore::ToolCatalog catalog;
  encore::ToolRun run{catalog, encore::CallLimit{.run_limit = 20}};
#else
  encore::ToolRun run{encore::ToolCatalog{}, encore::CallLimit{.run_limit = 20}};
#endif
  run.new_run();
}
