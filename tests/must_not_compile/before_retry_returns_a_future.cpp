// EXPECT: this BeforeRetry returns a coroutine or future
// EXPECT: co_run
#include <encore/before_retry.hpp>
#include <encore/retry_policy.hpp>

#include <future>

#ifdef ENCORE_FIXED
int test() {
  return encore::RetryPolicy{encore::RetryOnEveryException{}, encore::BeforeRetry{[] {
                               std::async(std::launch::deferred, [] { return 17; }).wait();
                             }}}
      .run([] { return 17; });
}
#else
int test() {
  return encore::RetryPolicy{encore::RetryOnEveryException{}, encore::BeforeRetry{[] {
                               return std::async(std::launch::deferred, [] { return 17; });
                             }}}
      .run([] { return 17; });
}
#endif
