// EXPECT: a timeout is asked for in whole units
#include <encore/attempt.hpp>

#ifdef ENCORE_FIXED
using Unit = std::chrono::milliseconds;
#else
using Unit = std::chrono::duration<double>;
#endif
Unit timeout(const encore::Attempt& attempt) { return attempt.timeout_or<Unit>(std::chrono::seconds{10}); }
