// EXPECT: this callable can be invoked neither with these arguments nor with them and `const encore::Attempt&`
#include <encore/retry_policy.hpp>

int test() {
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}};
  const auto lookup = [](int shelf) { return shelf; };
#ifdef ENCORE_FIXED
  return policy.run(lookup, 17);
#else
  return policy.run(lookup, 17, 18);
#endif
}
