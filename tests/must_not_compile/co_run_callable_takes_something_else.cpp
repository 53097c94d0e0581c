// EXPECT: this callable can be invoked neither with these arguments nor with them and `const encore::Attempt&`
#include <encore/async/co_run.hpp>
#include <encore/testing/task.hpp>

using encore::testing::Task;

#ifdef ENCORE_FIXED
Task<int> look_up(const encore::Attempt& attempt);
#else
Task<int> look_up(int item);
#endif
Task<void> sleep_for(encore::Duration duration);

Task<int> test() {
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}};
  co_return co_await encore::co_run(policy, {.id = "call-17"}, look_up, sleep_for);
}
