// EXPECT: a RetryPolicy takes one option of each kind, and two of these are of the same
// EXPECT: role::Backoff
#include <encore/retry_policy.hpp>
#include <encore/retry_settings.hpp>

inline const encore::RetrySettings settings{.max_retries = 4};

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, settings};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, settings,
                                        encore::ExponentialBackoff{}};
#endif
