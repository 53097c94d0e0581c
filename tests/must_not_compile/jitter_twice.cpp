// EXPECT: a RetryPolicy takes one jitter
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::NoJitter{}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::NoJitter{},
                                        encore::FullJitter{}};
#endif
