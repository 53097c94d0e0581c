// EXPECT FIRST: a policy's type names its options, and these two differ
// EXPECT: const auto
#include <encore/retry_policy.hpp>

using namespace std::chrono_literals;

int test() {
  encore::RetryPolicy policy{encore::RetryOnEveryException{}};
#ifdef ENCORE_FIXED
  const auto hurried = policy.with(encore::TimeBudget{3s});
  policy = policy.with(encore::MaxRetries{5});
  return hurried.run([] { return 17; });
#else
  policy = policy.with(encore::TimeBudget{3s});
  return policy.run([] { return 17; });
#endif
}
