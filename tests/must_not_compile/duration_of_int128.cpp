// EXPECT: a duration that is counted in a built-in number of at most 64 bits
// FLAGS: -std=gnu++20
#include <encore/limits.hpp>

#ifdef ENCORE_FIXED
using Count = long long;
#else
__extension__ using Count = __int128;
#endif
inline const encore::TimeBudget budget{std::chrono::duration<Count, std::nano>{5}};
