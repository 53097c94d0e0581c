// EXPECT: the_setting_is_not_between_0_and_1
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline constexpr encore::ProportionalJitter jitter{.ratio = 0.25};
#else
inline constexpr encore::ProportionalJitter jitter{.ratio = 2.0};
#endif
