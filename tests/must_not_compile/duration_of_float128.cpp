// EXPECT: a duration that is counted in a built-in number of at most 64 bits
// FLAGS: -std=gnu++20
#include <encore/limits.hpp>

#ifdef ENCORE_FIXED
using Count = double;
#else
__extension__ using Count = __float128;
#endif
inline const encore::TimeBudget budget{std::chrono::duration<Count>{Count{5}}};
