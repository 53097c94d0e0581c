// EXPECT: this sleeper returns nothing that can be awaited: a coroutine must not block its thread
#include <encore/async/co_run.hpp>
#include <encore/testing/task.hpp>

using encore::testing::Task;

Task<int> look_up();

#ifdef ENCORE_FIXED
Task<void> sleep_for(encore::Duration duration);
#else
void sleep_for(encore::Duration duration);
#endif

Task<int> test() {
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}};
  co_return co_await encore::co_run(policy, look_up, sleep_for);
}
