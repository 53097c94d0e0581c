// EXPECT: this BeforeRetry returns a coroutine or future
// EXPECT: co_run
#include <encore/before_retry.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/task.hpp>

#ifdef ENCORE_FIXED
int test() {
  return encore::RetryPolicy{encore::RetryOnEveryException{}, encore::BeforeRetry{[] {}}}.run(
      [] { return 17; });
}
#else
int test() {
  const auto refresh = []() -> encore::testing::Task<void> { co_return; };
  return encore::RetryPolicy{encore::RetryOnEveryException{}, encore::BeforeRetry{refresh}}.run(
      [] { return 17; });
}
#endif
