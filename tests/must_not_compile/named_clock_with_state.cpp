// EXPECT: this named clock or guard has state and can be copied
// EXPECT: std::ref
#include <encore/retry_policy.hpp>

#include <functional>

struct Still {
  using role = encore::role::Clock;
  encore::Duration slept{};
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
