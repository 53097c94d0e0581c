// EXPECT: co_run needs a result that can be moved
#include <encore/async/co_run.hpp>
#include <encore/testing/task.hpp>

using encore::testing::Task;

/// A coroutine whose value is made where it is awaited.
template <class T>
struct InPlace {
  struct promise_type {
    InPlace get_return_object();
    std::suspend_always initial_suspend() noexcept;
    std::suspend_always final_suspend() noexcept;
    void unhandled_exception();
    template <class... U>
    void return_value(U&&... result);
  };
  bool await_ready();
  void await_suspend(std::coroutine_handle<> awaiter);
  T await_resume();
};

struct Connection {
  Connection() = default;
#ifdef ENCORE_FIXED
  Connection(Connection&&) = default;
#else
  Connection(Connection&&) = delete;
#endif
};
InPlace<Connection> connect();
Task<void> sleep_for(encore::Duration duration);

InPlace<Connection> test() {
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}};
  return encore::co_run(policy, connect, sleep_for);
}
