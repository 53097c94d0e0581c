// EXPECT: a RetryPolicy takes one option of each kind, and two of these are of the same
// EXPECT: role::Jitter
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::NoJitter{}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::NoJitter{},
                                        encore::FullJitter{}};
#endif
