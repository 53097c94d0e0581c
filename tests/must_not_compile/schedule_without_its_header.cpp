// EXPECT: a policy's schedule needs: #include <encore/schedule.hpp>
#include <encore/retry_policy.hpp>
#ifdef ENCORE_FIXED
#include <encore/schedule.hpp>
#endif

inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}};
inline const auto worst = [] { return policy.schedule().total(); };
