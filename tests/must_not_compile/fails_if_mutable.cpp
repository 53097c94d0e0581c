// EXPECT FIRST: FailsIf calls its function, as const, with one argument
#include <encore/fails_if.hpp>

#ifdef ENCORE_FIXED
inline const encore::FailsIf test{[](int status) { return status >= 400; }};
#else
inline const encore::FailsIf test{[asked = 0](int status) mutable { return status >= 400 && ++asked < 3; }};
#endif
