// EXPECT: this BeforeRetry returns a future, which co_run cannot await
#include <encore/async/co_run.hpp>
#include <encore/before_retry.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/task.hpp>

#include <future>

#ifdef ENCORE_FIXED
using encore::testing::Task;

auto test() {
  const auto prepare = []() -> Task<void> { co_return; };
  return encore::co_run(
      encore::RetryPolicy{encore::RetryOnEveryException{}, encore::BeforeRetry{prepare}},
      []() -> Task<int> { co_return 17; }, [](encore::Duration) -> Task<void> { co_return; });
}
#else
using encore::testing::Task;

auto test() {
  const auto prepare = [] { return std::async(std::launch::deferred, [] { return 17; }); };
  return encore::co_run(
      encore::RetryPolicy{encore::RetryOnEveryException{}, encore::BeforeRetry{prepare}},
      []() -> Task<int> { co_return 17; }, [](encore::Duration) -> Task<void> { co_return; });
}
#endif
