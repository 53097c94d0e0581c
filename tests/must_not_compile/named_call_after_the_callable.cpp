// EXPECT FIRST: the call comes first, before the callable: run({.id = "call-17"}, callable)
#include <encore/retry_policy.hpp>

int test(const encore::RetryPolicy<encore::SteadyClock, encore::RetryOnEveryException>& policy) {
  const encore::Call call{.id = "call-17"};
  const auto lookup = [] { return 17; };
#ifdef ENCORE_FIXED
  return policy.run(call, lookup);
#else
  return policy.run(lookup, call);
#endif
}
