// EXPECT: one of these plays no role in a RetryPolicy: an ingredient names its role
#include <encore/retry_policy.hpp>

inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}};

#ifdef ENCORE_FIXED
inline const auto patient = policy.with(encore::TimeBudget{std::chrono::seconds{5}});
#else
inline const auto patient = policy.with(std::chrono::seconds{5});
#endif
