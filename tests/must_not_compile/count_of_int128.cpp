// EXPECT: max_retries
// EXPECT: deleted
// FLAGS: -std=gnu++20
#include <encore/limits.hpp>

#ifdef ENCORE_FIXED
using Number = long long;
#else
__extension__ using Number = __int128;
#endif
inline const encore::MaxRetries retries{Number{3}};
