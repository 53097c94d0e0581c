// EXPECT FIRST: NeverRetryIf calls its function, as const, with one argument
#include <encore/never_retry.hpp>

#include <stdexcept>

#ifdef ENCORE_FIXED
inline const encore::NeverRetryIf test{[](const std::runtime_error&) { return true; }};
#else
inline const encore::NeverRetryIf test{[](std::runtime_error&) { return true; }};
#endif
