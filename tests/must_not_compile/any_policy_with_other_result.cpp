// EXPECT: this callable's result does not convert to what the AnyRetryPolicy returns
#include <encore/any_retry_policy.hpp>
#include <encore/retry_policy.hpp>

#include <string>

struct Units {
  int count;
};

std::string test() {
  const encore::AnyRetryPolicy<std::string> policy{encore::RetryPolicy{encore::RetryOnEveryException{}}};
#ifdef ENCORE_FIXED
  return policy.run([] { return "17"; });
#else
  return policy.run([] { return Units{17}; });
#endif
}
