// EXPECT: a RetryPolicy takes one option of each kind, and two of these are of the same
// EXPECT: role::OnFailure
#include <encore/outcome.hpp>
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::ReturnOutcome{}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::ReturnOutcome{},
                                        encore::Rethrow{}};
#endif
