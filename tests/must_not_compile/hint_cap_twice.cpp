// EXPECT: a RetryPolicy takes one option of each kind, and two of these are of the same
// EXPECT: role::HintCap
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::HintCap{}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::HintCap{},
                                        encore::HintCap{std::chrono::seconds{5}}};
#endif
