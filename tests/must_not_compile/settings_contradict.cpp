// EXPECT: the_settings_contradict_each_other
#include <encore/retry_policy.hpp>
#include <encore/retry_settings.hpp>

struct TimeoutError {};
#ifdef ENCORE_FIXED
inline constexpr encore::RetrySettings settings{.attempt_timeout = std::chrono::seconds{2},
                                                .min_attempt_time = std::chrono::seconds{2}};
#else
inline constexpr encore::RetrySettings settings{.attempt_timeout = std::chrono::seconds{1},
                                                .min_attempt_time = std::chrono::seconds{2}};
#endif
inline constexpr encore::RetryPolicy policy{encore::RetryOn<TimeoutError>{}, settings};
