// EXPECT: this clock does not satisfy encore::Clock: it needs `encore::TimePoint now()`
#include <encore/retry_policy.hpp>

struct GameClock {
  using role = encore::role::Clock;
  encore::TimePoint now() const { return {}; }
  encore::WallTime wall() const { return {}; }
#ifdef ENCORE_FIXED
  void sleep_for(encore::Duration, const encore::StopView&) const {}
#else
  void sleep_for(encore::Duration) const {}
#endif
};

inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, GameClock{}};
