// EXPECT FIRST: a bare number or duration does not say what it limits: MaxRetries{3}, TimeBudget{3s}
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::MaxRetries{3}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, 3};
#endif
