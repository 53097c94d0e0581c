// EXPECT FIRST: a call's id stands in a Call, before the callable: run({.id = "call-17"}, callable)
#include <encore/retry_policy.hpp>

#include <string>

int test(const encore::RetryPolicy<encore::SteadyClock, encore::RetryOnEveryException>& policy,
         const std::string& id) {
#ifdef ENCORE_FIXED
  return policy.run({.id = id}, [] { return 17; });
#else
  return policy.run(id, [] { return 17; });
#endif
}
