// EXPECT: the_duration_is_negative_or_not_finite
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline constexpr encore::ExponentialBackoff backoff{.initial_delay = std::chrono::milliseconds{1}};
#else
inline constexpr encore::ExponentialBackoff backoff{.initial_delay = std::chrono::milliseconds{-1}};
#endif
