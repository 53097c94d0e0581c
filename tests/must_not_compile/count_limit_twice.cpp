// EXPECT: a RetryPolicy takes one option of each kind, and two of these are of the same
// EXPECT: role::CountLimit
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::MaxRetries{2}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::MaxRetries{2},
                                        encore::MaxAttempts{3}};
#endif
