// EXPECT: co_run is for callables that return a coroutine, such as a Task<T>; use run() for others
#include <encore/async/co_run.hpp>
#include <encore/testing/task.hpp>

using encore::testing::Task;

#ifdef ENCORE_FIXED
Task<int> look_up();
#else
int look_up();
#endif
Task<void> sleep_for(encore::Duration duration);

Task<int> test() {
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}};
  co_return co_await encore::co_run(policy, look_up, sleep_for);
}
