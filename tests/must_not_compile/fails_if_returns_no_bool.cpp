// EXPECT FIRST: FailsIf's function says yes or no: it must return a bool
#include <encore/fails_if.hpp>

#ifdef ENCORE_FIXED
inline const encore::FailsIf test{[](int status) { return status >= 400; }};
#else
inline const encore::FailsIf test{[](int status) { static_cast<void>(status >= 400); }};
#endif
