// EXPECT: a RetryPolicy takes one least attempt time
#include <encore/retry_policy.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{},
                                        encore::MinAttemptTime{std::chrono::seconds{1}}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{},
                                        encore::MinAttemptTime{std::chrono::seconds{1}},
                                        encore::MinAttemptTime{std::chrono::seconds{2}}};
#endif
