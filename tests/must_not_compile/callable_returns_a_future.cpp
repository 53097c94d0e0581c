// EXPECT: this callable returns a coroutine or future
// EXPECT: co_run
// EXPECT: as_value(callable)
#include <encore/as_value.hpp>
#include <encore/retry_policy.hpp>

#include <future>

#ifdef ENCORE_FIXED
int test(const encore::RetryPolicy<encore::SteadyClock, encore::RetryOnEveryException>& policy) {
  return policy.run(encore::as_value([] { return std::async(std::launch::deferred, [] { return 17; }); }))
      .get();
}
#else
int test(const encore::RetryPolicy<encore::SteadyClock, encore::RetryOnEveryException>& policy) {
  return policy.run([] { return std::async(std::launch::deferred, [] { return 17; }); }).get();
}
#endif
