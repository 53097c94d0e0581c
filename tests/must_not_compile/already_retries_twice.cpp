// EXPECT: a RetryPolicy takes one option of each kind, and two of these are of the same
// EXPECT: role::InnerAttempts
#include <encore/already_retries.hpp>
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::AlreadyRetries{3}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::AlreadyRetries{3},
                                        encore::AlreadyRetries{4}};
#endif
