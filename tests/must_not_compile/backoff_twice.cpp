// EXPECT: a RetryPolicy takes one backoff
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::ConstantBackoff{}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::ConstantBackoff{},
                                        encore::ExponentialBackoff{}};
#endif
