// EXPECT: one of these has no role in a RetryPolicy
#include <encore/agent/tool_retry.hpp>

#ifdef ENCORE_FIXED
inline const encore::ToolRetry tools{encore::RetryPolicy{encore::RetryOnEveryException{}},
                                     encore::Repeatable{"lookup"}};
#else
inline const encore::RetryPolicy tools{encore::RetryOnEveryException{}, encore::Repeatable{"lookup"}};
#endif
