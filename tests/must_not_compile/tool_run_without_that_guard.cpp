// EXPECT: this run has no such guard
#include <encore/agent/tool_run.hpp>

void test(const encore::ToolCatalog& catalog) {
#ifdef ENCORE_FIXED
  encore::ToolRun run{catalog, encore::SpendLimit{encore::usd(2)}};
#else
  encore::ToolRun run{catalog, encore::CallLimit{.run_limit = 20}};
#endif
  run.record(encore::usd(1));
}
