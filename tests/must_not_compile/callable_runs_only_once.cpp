// EXPECT: this callable can be invoked only once: its call operator is &&-qualified
#include <encore/retry_policy.hpp>

struct Send {
#ifdef ENCORE_FIXED
  int operator()() const { return 17; }
#else
  int operator()() && { return 17; }
#endif
};

int test() {
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}};
  return policy.run(Send{});
}
