// EXPECT FIRST: a bare number or duration does not say what it limits: MaxRetries{3}, TimeBudget{3s}
#include <encore/retry_policy.hpp>

inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}};

#ifdef ENCORE_FIXED
inline const auto patient = policy.with(encore::TimeBudget{std::chrono::seconds{5}});
#else
inline const auto patient = policy.with(std::chrono::seconds{5});
#endif
