// EXPECT FIRST: a duration needs its unit: write 250ms
#include <encore/backoff.hpp>

using namespace std::chrono_literals;

#ifdef ENCORE_FIXED
inline constexpr encore::ExponentialBackoff backoff{.max_delay = 60s};
#else
inline constexpr encore::ExponentialBackoff backoff{.max_delay = 60.0};
#endif
