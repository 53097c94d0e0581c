// EXPECT: ToolRetry::with changes the policy only: make another ToolRetry for other declarations
#include <encore/agent/tool_retry.hpp>

inline const encore::ToolRetry tools{encore::RetryPolicy{encore::RetryOnEveryException{}},
                                     encore::Repeatable{"lookup"}};
#ifdef ENCORE_FIXED
inline const auto changed = tools.with(encore::MaxRetries{1});
#else
inline const auto changed = tools.with(encore::Repeatable{"ship"});
#endif
