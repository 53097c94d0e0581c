// EXPECT: a RetryPolicy takes one clock
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::SteadyClock{}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::SteadyClock{},
                                        encore::SteadyClock{}};
#endif
