// EXPECT FIRST: NeverRetryIf's function says yes or no: it must return a bool
#include <encore/never_retry.hpp>

#include <stdexcept>
#include <string>

#ifdef ENCORE_FIXED
inline const encore::NeverRetryIf test{
    [](const std::runtime_error& error) { return error.what()[0] == '4'; }};
#else
inline const encore::NeverRetryIf test{
    [](const std::runtime_error& error) { return std::string{error.what()}; }};
#endif
