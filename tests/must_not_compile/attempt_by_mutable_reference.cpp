// EXPECT: this callable can be invoked neither with these arguments nor with them and `const encore::Attempt&`
#include <encore/retry_policy.hpp>

int test() {
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}};
#ifdef ENCORE_FIXED
  return policy.run([](const encore::Attempt& attempt) { return attempt.ordinal; });
#else
  return policy.run([](encore::Attempt& attempt) { return attempt.ordinal; });
#endif
}
