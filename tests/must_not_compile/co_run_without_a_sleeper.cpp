// EXPECT: the last argument of co_run is a sleeper: it is called with an encore::Duration
#include <encore/async/co_run.hpp>
#include <encore/testing/task.hpp>

#include <string>

using encore::testing::Task;

Task<int> look_up();
Task<void> sleep_for(encore::Duration duration);
Task<void> log(std::string line);

Task<int> test() {
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}};
#ifdef ENCORE_FIXED
  co_return co_await encore::co_run(policy, look_up, sleep_for);
#else
  co_return co_await encore::co_run(policy, look_up, log);
#endif
}
