// EXPECT: FormatFailure must return what the call returns, or something that converts to it
#include <encore/on_failure.hpp>
#include <encore/retry_policy.hpp>

#include <string>

int test() {
#ifdef ENCORE_FIXED
  const auto format = [](const encore::Failure& failure) { return -failure.attempts; };
#else
  const auto format = [](const encore::Failure& failure) { return failure.call_name; };
#endif
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::FormatFailure{format}};
  return policy.run([] { return 17; });
}
