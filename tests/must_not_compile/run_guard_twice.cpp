// EXPECT: a run takes one guard of each kind: only CallLimit may be given several times
#include <encore/agent/tool_run.hpp>

void test(const encore::ToolCatalog& catalog) {
#ifdef ENCORE_FIXED
  encore::ToolRun run{catalog, encore::CallLimit{.run_limit = 20}, encore::CallLimit{.thread_limit = 90}};
#else
  encore::ToolRun run{catalog, encore::SpendLimit{encore::usd(2)}, encore::SpendLimit{encore::usd(1)}};
#endif
  run.new_run();
}
