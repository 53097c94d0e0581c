// EXPECT: this jitter does not satisfy encore::Jitter: it needs `encore::Duration operator()(const encore::JitterInput&) const`
#include <encore/retry_policy.hpp>

struct Coin {
  using role = encore::role::Jitter;
#ifdef ENCORE_FIXED
  constexpr encore::Duration operator()(const encore::JitterInput& input) const { return input.delay; }
#else
  constexpr encore::Duration operator()(encore::Duration delay, double) const { return delay; }
#endif
};

inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, Coin{}};
