// EXPECT: NeverRetry names a type that another one in its list covers already
#include <encore/never_retry.hpp>
#include <encore/retry_policy.hpp>

#include <new>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{},
                                        encore::NeverRetry<std::bad_alloc>{}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{},
                                        encore::NeverRetry<std::bad_alloc, std::bad_alloc>{}};
#endif
