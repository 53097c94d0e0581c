// EXPECT FIRST: the call comes first, before the callable: run({.id = "call-17"}, callable)
#include <encore/retry_policy.hpp>

int test(const encore::RetryPolicy<encore::SteadyClock, encore::RetryOnEveryException>& policy) {
#ifdef ENCORE_FIXED
  return policy.run({.id = "call-17"}, [] { return 17; });
#else
  return policy.run([] { return 17; }, {.id = "call-17"});
#endif
}
