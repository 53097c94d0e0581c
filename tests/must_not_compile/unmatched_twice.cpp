// EXPECT: a RetryPolicy takes one HandleUnmatched
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::HandleUnmatched{}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::HandleUnmatched{},
                                        encore::HandleUnmatched{}};
#endif
