// EXPECT: a RetryPolicy takes one RetrySettings
#include <encore/retry_policy.hpp>
#include <encore/retry_settings.hpp>

inline const encore::RetrySettings settings{.max_retries = 4};
inline const encore::RetrySettings reloaded{.max_retries = 5};

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy =
    encore::RetryPolicy{encore::RetryOnEveryException{}, settings}.with(reloaded);
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, settings, reloaded};
#endif
