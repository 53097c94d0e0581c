// EXPECT: a RetryPolicy takes one option of each kind, and two of these are of the same
// EXPECT: role::HintSource
#include <encore/hint.hpp>
#include <encore/retry_policy.hpp>

struct Busy {
  int seconds = 1;
};
struct Throttled {
  int seconds = 1;
};
inline constexpr auto of_busy = [](const Busy& busy) { return std::chrono::seconds{busy.seconds}; };
inline constexpr auto of_throttled = [](const Throttled& it) { return std::chrono::seconds{it.seconds}; };

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOn<Busy>{}, encore::HintFrom{of_busy}};
#else
inline const encore::RetryPolicy policy{encore::RetryOn<Busy, Throttled>{}, encore::HintFrom{of_busy},
                                        encore::HintFrom{of_throttled}};
#endif
