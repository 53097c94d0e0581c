// EXPECT: this clock's sleep_for returns a coroutine or future that nobody awaits
// EXPECT: co_run
#include <encore/retry_policy.hpp>
#include <encore/testing/task.hpp>

#ifdef ENCORE_FIXED
struct Loop {
  using role = encore::role::Clock;
  static encore::TimePoint now() { return {}; }
  static encore::WallTime wall() { return {}; }
  static void sleep_for(encore::Duration, const encore::StopView&) { return; }
};

int test() {
  return encore::RetryPolicy{encore::RetryOnEveryException{}, Loop{}}.run([] { return 17; });
}
#else
struct Loop {
  using role = encore::role::Clock;
  static encore::TimePoint now() { return {}; }
  static encore::WallTime wall() { return {}; }
  static encore::testing::Task<void> sleep_for(encore::Duration, const encore::StopView&) { co_return; }
};

int test() {
  return encore::RetryPolicy{encore::RetryOnEveryException{}, Loop{}}.run([] { return 17; });
}
#endif
