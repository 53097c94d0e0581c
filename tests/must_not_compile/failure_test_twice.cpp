// EXPECT: a RetryPolicy takes one option of each kind, and two of these are of the same
// EXPECT: role::FailureTest
#include <encore/fails_if.hpp>
#include <encore/retry_policy.hpp>

inline constexpr auto refused = [](int status) { return status == 403; };
inline constexpr auto missing = [](int status) { return status == 404; };

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::FailsIf{[](int status) {
                                          return refused(status) || missing(status);
                                        }}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::FailsIf{refused},
                                        encore::FailsIf{missing}};
#endif
