// EXPECT: this observer returns a coroutine or future that nobody awaits
#include <encore/observer.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/task.hpp>

#ifdef ENCORE_FIXED
int test() {
  return encore::RetryPolicy{encore::RetryOnEveryException{}, [](const encore::Event&) {}}.run(
      [] { return 17; });
}
#else
int test() {
  const auto log = [](const encore::Event&) -> encore::testing::Task<void> { co_return; };
  return encore::RetryPolicy{encore::RetryOnEveryException{}, log}.run([] { return 17; });
}
#endif
