// EXPECT: a RetryPolicy takes one failure strategy
#include <encore/outcome.hpp>
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::ReturnOutcome{}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::ReturnOutcome{},
                                        encore::Rethrow{}};
#endif
