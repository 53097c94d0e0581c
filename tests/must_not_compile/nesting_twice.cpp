// EXPECT: a RetryPolicy takes one option of each kind, and two of these are of the same
// EXPECT: role::Nesting
#include <encore/nesting.hpp>
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::WhenNested{}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::WhenNested{},
                                        encore::WhenNested{encore::Nested::make_single}};
#endif
