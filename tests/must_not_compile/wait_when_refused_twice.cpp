// EXPECT: a RetryPolicy takes one option of each kind, and two of these are of the same
// EXPECT: role::WhenRefused
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::WaitWhenRefused{}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::WaitWhenRefused{},
                                        encore::WaitWhenRefused{}};
#endif
