// EXPECT: NeverRetryIf calls its function, as const, with one argument
#include <encore/never_retry.hpp>

#include <stdexcept>

#ifdef ENCORE_FIXED
inline const encore::NeverRetryIf never{[](const std::runtime_error&) { return true; }};
#else
inline const encore::NeverRetryIf never{[] { return true; }};
#endif
