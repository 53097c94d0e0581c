// EXPECT: the_setting_is_too_small
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline constexpr encore::MaxAttempts limit{1};
#else
inline constexpr encore::MaxAttempts limit{0};
#endif
