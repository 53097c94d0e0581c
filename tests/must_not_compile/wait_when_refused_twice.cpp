// EXPECT: a RetryPolicy takes one WaitWhenRefused
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::WaitWhenRefused{}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::WaitWhenRefused{},
                                        encore::WaitWhenRefused{}};
#endif
