// EXPECT: co_run copies its callable into the coroutine's frame: move one that cannot be copied, std::move(callable)
#include <encore/async/co_run.hpp>
#include <encore/testing/task.hpp>

#include <memory>
#include <utility>

using encore::testing::Task;

Task<void> sleep_for(encore::Duration duration);

Task<int> test() {
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}};
  auto look_up = [item = std::make_unique<int>(17)]() -> Task<int> { co_return *item; };
#ifdef ENCORE_FIXED
  co_return co_await encore::co_run(policy, std::move(look_up), sleep_for);
#else
  co_return co_await encore::co_run(policy, look_up, sleep_for);
#endif
}
