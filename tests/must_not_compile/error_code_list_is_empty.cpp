// EXPECT: RetryOnErrorCode takes the error codes or conditions to retry, at least one
#include <encore/retry_on_error_code.hpp>

#ifdef ENCORE_FIXED
inline constexpr encore::RetryOnErrorCode predicate{std::errc::timed_out};
#else
inline constexpr encore::RetryOnErrorCode predicate{};
#endif
