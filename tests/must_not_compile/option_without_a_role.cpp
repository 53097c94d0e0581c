// EXPECT: one of these has no role in a RetryPolicy: an option names its role
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::MaxAttempts{3}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, nullptr};
#endif
