// EXPECT: a RetryPolicy takes one backoff, and RetrySettings is one
#include <encore/retry_policy.hpp>
#include <encore/retry_settings.hpp>

inline const encore::RetrySettings settings{.max_retries = 4};

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, settings};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, settings,
                                        encore::ExponentialBackoff{}};
#endif
