// EXPECT: TellModel returns an encore::ToolResult, which does not convert to what this callable returns
#include <encore/agent/tool_retry.hpp>

inline const encore::ToolRetry tools{encore::RetryPolicy{encore::RetryOnEveryException{}},
                                     encore::Repeatable{"lookup"}, encore::TellModel{}};
#ifdef ENCORE_FIXED
encore::ToolResult test(const encore::ToolCall& call) {
  return tools.handle(call, [](const encore::ToolCall&) { return encore::ToolResult{}; });
}
#else
int test(const encore::ToolCall& call) {
  return tools.handle(call, [](const encore::ToolCall&) { return 17; });
}
#endif
