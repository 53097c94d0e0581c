// EXPECT FIRST: RetryIfResult calls its function, as const, with one argument
#include <encore/retry_if.hpp>

#ifdef ENCORE_FIXED
inline const encore::RetryIfResult test{[](int status) { return status == 503; }};
#else
inline const encore::RetryIfResult test{
    [asked = 0](int status) mutable { return status == 503 && ++asked < 3; }};
#endif
