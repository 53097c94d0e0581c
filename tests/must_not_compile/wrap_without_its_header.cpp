// EXPECT: a wrapped callable needs: #include <encore/wrapped.hpp>
#include <encore/retry_policy.hpp>
#ifdef ENCORE_FIXED
#include <encore/wrapped.hpp>
#endif

inline const encore::RetryPolicy patient{encore::RetryOnEveryException{}};
inline const auto wrapped = [] { return patient.wrap("lookup", [] { return 17; })(); };
