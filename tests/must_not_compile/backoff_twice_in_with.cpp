// EXPECT: a RetryPolicy takes one option of each kind, and two of these are of the same
// EXPECT: role::Backoff
#include <encore/retry_policy.hpp>

inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}};

#ifdef ENCORE_FIXED
inline const auto slower = policy.with(encore::ConstantBackoff{});
#else
inline const auto slower = policy.with(encore::ConstantBackoff{}, encore::ExponentialBackoff{});
#endif
