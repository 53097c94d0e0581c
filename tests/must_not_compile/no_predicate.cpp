// EXPECT: a RetryPolicy needs to be told what to retry: add RetryOn<YourError>{}
#include <encore/retry_policy.hpp>

#include <stdexcept>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOn<std::runtime_error>{}, encore::MaxRetries{2}};
#else
inline const encore::RetryPolicy policy{encore::MaxRetries{2}};
#endif
