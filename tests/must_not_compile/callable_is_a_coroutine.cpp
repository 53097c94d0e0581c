// EXPECT: this callable returns a coroutine or future
// EXPECT: co_run
#include <encore/as_value.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/task.hpp>

#ifdef ENCORE_FIXED
bool test(const encore::RetryPolicy<encore::SteadyClock, encore::RetryOnEveryException>& policy) {
  return policy.run(encore::as_value([]() -> encore::testing::Task<int> { co_return 17; })).done();
}
#else
bool test(const encore::RetryPolicy<encore::SteadyClock, encore::RetryOnEveryException>& policy) {
  return policy.run([]() -> encore::testing::Task<int> { co_return 17; }).done();
}
#endif
