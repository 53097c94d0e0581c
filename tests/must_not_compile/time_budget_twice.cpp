// EXPECT: a RetryPolicy takes one option of each kind, and two of these are of the same
// EXPECT: role::TimeBudget
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{},
                                        encore::TimeBudget{std::chrono::seconds{5}}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{},
                                        encore::TimeBudget{std::chrono::seconds{5}},
                                        encore::TimeBudget{std::chrono::seconds{9}}};
#endif
