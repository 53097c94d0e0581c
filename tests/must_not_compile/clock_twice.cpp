// EXPECT: a RetryPolicy takes one option of each kind, and two of these are of the same
// EXPECT: role::Clock
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::SteadyClock{}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::SteadyClock{},
                                        encore::SteadyClock{}};
#endif
