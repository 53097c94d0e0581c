// EXPECT: a RetryPolicy takes one option of each kind, and two of these are of the same
// EXPECT: role::Seed
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::Seed{17}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::Seed{17}, encore::Seed{18}};
#endif
