// EXPECT: a RetryPolicy takes one predicate: join two with ||
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>

struct TimeoutError {};
constexpr bool is_busy(int status) { return status == 503; }

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOn<TimeoutError>{} || encore::RetryIfResult{&is_busy}};
#else
inline const encore::RetryPolicy policy{encore::RetryOn<TimeoutError>{}, encore::RetryIfResult{&is_busy}};
#endif
