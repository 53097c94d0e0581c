// EXPECT FIRST: RetryIf's function says yes or no: it must return a bool
#include <encore/retry_if.hpp>

#include <stdexcept>

#ifdef ENCORE_FIXED
inline const encore::RetryIf test{[](const std::runtime_error& error) { return error.what()[0] == '5'; }};
#else
inline const encore::RetryIf test{[](const std::runtime_error& error) { static_cast<void>(error.what()); }};
#endif
