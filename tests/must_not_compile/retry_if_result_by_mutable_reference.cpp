// EXPECT FIRST: RetryIfResult calls its function, as const, with one argument
#include <encore/retry_if.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryIfResult test{[](const int& status) { return status == 503; }};
#else
inline const encore::RetryIfResult test{[](int& status) { return status == 503; }};
#endif
