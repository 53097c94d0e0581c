// EXPECT: RetryOn names a type that another one in its list covers already
// EXPECT: Timeout
// A catch clause of the base takes it anyhow: whoever lists it means another list. (B9)
#include <encore/retry_policy.hpp>

#include <stdexcept>

struct TransportError : std::runtime_error {
  using runtime_error::runtime_error;
};
struct Timeout : TransportError {
  using TransportError::TransportError;
};

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOn<TransportError>{}};
#else
inline const encore::RetryPolicy policy{encore::RetryOn<Timeout, TransportError>{}};
#endif
