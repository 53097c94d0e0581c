// EXPECT FIRST: RetryIfResult's function says yes or no: it must return a bool
#include <encore/retry_if.hpp>

#include <string>

#ifdef ENCORE_FIXED
inline const encore::RetryIfResult test{[](int status) { return status == 503; }};
#else
inline const encore::RetryIfResult test{[](int status) { return std::to_string(status); }};
#endif
