// EXPECT: a Retrying only refers to its policy: give the policy a name, so that it outlives the call
#include <encore/retry_policy.hpp>
#include <encore/retrying.hpp>

void test() {
#ifdef ENCORE_FIXED
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}};
  encore::Retrying retrying{policy, {.id = "job-7"}};
#else
  encore::Retrying retrying{encore::RetryPolicy{encore::RetryOnEveryException{}}, {.id = "job-7"}};
#endif
  static_cast<void>(retrying.begin());
}
