// EXPECT: TellModelWith takes a function of `const Failure&` that returns text
#include <encore/agent/tool_retry.hpp>

#ifdef ENCORE_FIXED
inline const encore::TellModelWith strategy{[](const encore::Failure&) { return "unavailable"; }};
#else
inline const encore::TellModelWith strategy{[](const encore::Failure& failure) { return failure.attempts; }};
#endif
inline const encore::ToolRetry tools{encore::RetryPolicy{encore::RetryOnEveryException{}},
                                     encore::Repeatable{"lookup"}, strategy};
encore::ToolResult test(const encore::ToolCall& call) {
  return tools.handle(call, [](const encore::ToolCall&) { return encore::ToolResult{}; });
}
