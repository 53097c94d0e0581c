// EXPECT: this test does not apply to what the callable returns, which only holds the test's parameter or converts to it
#include <encore/agent/tool_retry.hpp>

inline const encore::RetryPolicy every_failure{encore::RetryOnEveryException{}};
#ifdef ENCORE_FIXED
inline const encore::ErrorResultIf none_left{[](int units) { return units < 0; }};
#else
inline const encore::ErrorResultIf none_left{[](bool well) { return !well; }};
#endif
inline const encore::ToolRetry tools{every_failure, encore::Repeatable{"lookup"}, none_left};
inline const int units =
    tools.handle(encore::ToolCall{.name = "lookup"}, [](const encore::ToolCall&) { return 0; });
