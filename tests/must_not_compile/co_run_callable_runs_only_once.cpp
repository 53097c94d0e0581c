// EXPECT: this callable can be invoked only once: its call operator is &&-qualified
#include <encore/async/co_run.hpp>
#include <encore/testing/task.hpp>

using encore::testing::Task;

struct LookUp {
#ifdef ENCORE_FIXED
  Task<int> operator()() const;
#else
  Task<int> operator()() &&;
#endif
};
Task<void> sleep_for(encore::Duration duration);

Task<int> test() {
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}};
  co_return co_await encore::co_run(policy, LookUp{}, sleep_for);
}
