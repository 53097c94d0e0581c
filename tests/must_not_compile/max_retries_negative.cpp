// EXPECT: the_setting_is_negative
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline constexpr encore::MaxRetries limit{0};
#else
inline constexpr encore::MaxRetries limit{-1};
#endif
