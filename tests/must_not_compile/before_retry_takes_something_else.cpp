// EXPECT: BeforeRetry calls its function, as const, with `const encore::Attempt&` or with nothing
#include <encore/before_retry.hpp>
#include <encore/retry_policy.hpp>

int test() {
#ifdef ENCORE_FIXED
  const auto reconnect = [](const encore::Attempt&) {};
#else
  const auto reconnect = [](int) {};
#endif
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::BeforeRetry{reconnect}};
  return policy.run([] { return 17; });
}
