// EXPECT FIRST: RetryIf calls its function, as const, with one argument
#include <encore/retry_if.hpp>

#include <stdexcept>

#ifdef ENCORE_FIXED
inline const encore::RetryIf predicate{[](const std::runtime_error&) { return true; }};
#else
inline const encore::RetryIf predicate{
    [asked = 0](const std::runtime_error&) mutable { return ++asked < 3; }};
#endif
