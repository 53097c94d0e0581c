// EXPECT: a ToolRun takes one RefusedTurns
#include <encore/agent/tool_run.hpp>

inline const encore::ToolCatalog tools;
#ifdef ENCORE_FIXED
inline encore::ToolRun run{tools, encore::RefusedTurns{.by_limits = 5, .passing = 9}};
#else
inline encore::ToolRun run{tools, encore::RefusedTurns{.by_limits = 5}, encore::RefusedTurns{.passing = 9}};
#endif
