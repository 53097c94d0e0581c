// EXPECT: the_duration_is_negative_or_not_finite
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline constexpr encore::TimeBudget budget{std::chrono::seconds{5}};
#else
inline constexpr encore::TimeBudget budget{std::chrono::seconds{-5}};
#endif
