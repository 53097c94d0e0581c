// EXPECT: a RetryPolicy takes one option of each kind, and two of these are of the same
// EXPECT: role::BeforeRetry
#include <encore/before_retry.hpp>
#include <encore/retry_policy.hpp>

void reconnect();
void refresh_token();

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::BeforeRetry{[] {
                                          reconnect();
                                          refresh_token();
                                        }}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::BeforeRetry{&reconnect},
                                        encore::BeforeRetry{&refresh_token}};
#endif
