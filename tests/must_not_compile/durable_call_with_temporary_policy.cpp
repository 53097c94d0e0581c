// EXPECT: a DurableCall only refers to its policy: give the policy a name, so that it outlives the call
#include <encore/durable/durable_call.hpp>
#include <encore/retry_policy.hpp>

void test() {
#ifdef ENCORE_FIXED
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}};
  encore::DurableCall call{policy, {.id = "job-7"}};
#else
  encore::DurableCall call{encore::RetryPolicy{encore::RetryOnEveryException{}}, {.id = "job-7"}};
#endif
  static_cast<void>(call.begin());
}
