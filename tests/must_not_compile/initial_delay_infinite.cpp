// EXPECT: the_duration_is_negative_or_not_finite
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline constexpr encore::ExponentialBackoff backoff{.initial_delay = std::chrono::duration<double>{0.25}};
#else
inline constexpr encore::ExponentialBackoff backoff{
    .initial_delay = std::chrono::duration<double>{std::numeric_limits<double>::infinity()}};
#endif
