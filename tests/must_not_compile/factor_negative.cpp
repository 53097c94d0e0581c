// EXPECT: the_setting_is_negative_or_not_finite
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline constexpr encore::ExponentialBackoff backoff{.factor = 2.0};
#else
inline constexpr encore::ExponentialBackoff backoff{.factor = -2.0};
#endif
