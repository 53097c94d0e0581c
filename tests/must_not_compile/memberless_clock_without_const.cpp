// EXPECT: give it a name, and if it can be copied, give
// EXPECT: std::ref
#include <encore/retry_policy.hpp>

#include <functional>

struct Still {
  using role = encore::role::Clock;
  encore::TimePoint now() { return {}; }
  encore::WallTime wall() { return {}; }
  void sleep_for(encore::Duration, const encore::StopView&) {}
};

int test() {
  Still it;
#ifdef ENCORE_FIXED
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, std::ref(it)};
#else
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, it};
#endif
  return policy.run([] { return 17; });
}
