// EXPECT FIRST: ReturnOutcome needs: #include <encore/outcome.hpp>
#include <encore/retry_policy.hpp>
#ifdef ENCORE_FIXED
#include <encore/outcome.hpp>
#endif

int test() {
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::ReturnOutcome{}};
  return policy.run([] { return 17; }).value_or(0);
}
