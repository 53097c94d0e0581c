// EXPECT FIRST: a duration needs its unit: write 250ms
#include <encore/backoff.hpp>

using namespace std::chrono_literals;

#ifdef ENCORE_FIXED
inline constexpr encore::ExponentialBackoff backoff{.initial_delay = 250ms};
#else
inline constexpr encore::ExponentialBackoff backoff{.initial_delay = 250};
#endif
