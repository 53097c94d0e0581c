// EXPECT: a ToolRetry calls `callable(call, attempt)` or `callable(call)`, with your own call as a const lvalue
#include <encore/agent/tool_retry.hpp>

inline const encore::ToolRetry tools{encore::RetryPolicy{encore::RetryOnEveryException{}},
                                     encore::Repeatable{"lookup"}};
void test(const encore::ToolCall& call) {
#ifdef ENCORE_FIXED
  tools.handle(call, [](const encore::ToolCall&) {});
#else
  tools.handle(call, [](encore::ToolCall&) {});
#endif
}
