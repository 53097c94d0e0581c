// EXPECT: a ToolRun takes guards that belong to a run
#include <encore/agent/tool_run.hpp>
#include <encore/guard/circuit_breaker.hpp>

void test(const encore::ToolCatalog& catalog) {
#ifdef ENCORE_FIXED
  encore::ToolRun run{catalog, encore::CallLimit{.run_limit = 20}};
#else
  encore::ToolRun run{catalog, encore::CircuitBreakerOptions{}};
#endif
  run.new_run();
}
