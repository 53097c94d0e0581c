// EXPECT: a RetryPolicy takes one option of each kind, and two of these are of the same
// EXPECT: role::Fibers
#include <encore/nesting.hpp>
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::OnFibers{}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::OnFibers{},
                                        encore::OnFibers{.on = false}};
#endif
