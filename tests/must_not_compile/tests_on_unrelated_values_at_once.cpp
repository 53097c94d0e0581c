// EXPECT: one of these predicates looks at exceptions and the other at returned values
// EXPECT: join them with ||
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>

struct HttpError {
  int status;
};
inline constexpr auto is_busy = [](const HttpError& error) { return error.status == 503; };
inline constexpr auto is_negative = [](int units) { return units < 0; };

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryIf{is_busy} || encore::RetryIfResult{is_negative}};
#else
inline const encore::RetryPolicy policy{encore::RetryIf{is_busy} && encore::RetryIfResult{is_negative}};
#endif
