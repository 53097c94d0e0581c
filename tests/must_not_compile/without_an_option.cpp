// EXPECT: `without` takes roles, not options: policy.without<encore::role::Jitter>()
#include <encore/retry_policy.hpp>

inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::NoJitter{}};

#ifdef ENCORE_FIXED
inline const auto plain = policy.without<encore::role::Jitter>();
#else
inline const auto plain = policy.without<encore::NoJitter>();
#endif
