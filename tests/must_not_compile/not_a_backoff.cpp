// EXPECT: this backoff does not satisfy encore::Backoff: it needs `encore::Duration operator()(int retry) const`
#include <encore/retry_policy.hpp>

struct Patient {
  using role = encore::role::Backoff;
#ifdef ENCORE_FIXED
  constexpr encore::Duration operator()(int retry) const { return retry * std::chrono::seconds{1}; }
#else
  constexpr encore::Duration operator()(int retry) { return retry * std::chrono::seconds{1}; }
#endif
};

inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, Patient{}};
