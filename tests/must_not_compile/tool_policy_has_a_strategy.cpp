// EXPECT: this policy already has a failure strategy: leave it out of the policy, and give TellModel{}
#include <encore/agent/tool_retry.hpp>
#include <encore/outcome.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::ReturnOutcome{}};
#endif
inline const encore::ToolRetry tools{policy, encore::Repeatable{"lookup"}, encore::TellModel{}};
