// EXPECT: this policy can never retry: every exception type that its filter names is one that is never retried
// EXPECT: Timeout
#include <encore/never_retry.hpp>
#include <encore/retry_policy.hpp>

#include <stdexcept>

struct TransportError : std::runtime_error {
  using runtime_error::runtime_error;
};
struct Timeout : TransportError {
  using TransportError::TransportError;
};

#ifdef ENCORE_FIXED
// A type that is idle beside one that is not is fine.
inline const encore::RetryPolicy policy{encore::RetryOn<Timeout, std::logic_error>{},
                                        encore::NeverRetry<TransportError>{}};
#else
inline const encore::RetryPolicy policy{encore::RetryOn<Timeout>{}, encore::NeverRetry<TransportError>{}};
#endif
