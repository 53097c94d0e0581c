// EXPECT: a RetryPolicy takes one option of each kind, and two of these are of the same
// EXPECT: role::AttemptTimeout
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{},
                                        encore::AttemptTimeout{std::chrono::seconds{1}}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{},
                                        encore::AttemptTimeout{std::chrono::seconds{1}},
                                        encore::AttemptTimeout{std::chrono::seconds{2}}};
#endif
