// EXPECT: a RetryPolicy takes one option of each kind, and two of these are of the same
// EXPECT: role::Unmatched
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::HandleUnmatched{}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::HandleUnmatched{},
                                        encore::HandleUnmatched{}};
#endif
