// EXPECT: a ToolRetry must be told which tools may be repeated: add Repeatable{
#include <encore/agent/tool_retry.hpp>

inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}};
#ifdef ENCORE_FIXED
inline const encore::ToolRetry tools{policy, encore::Repeatable{}, encore::TellModel{}};
#else
inline const encore::ToolRetry tools{policy, encore::TellModel{}};
#endif
