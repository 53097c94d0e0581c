// EXPECT: predicates are joined, or negated, with: #include <encore/combined_predicates.hpp>
#include <encore/retry_policy.hpp>
#ifdef ENCORE_FIXED
#include <encore/combined_predicates.hpp>
#endif

struct Busy {};
struct Slow {};
inline const encore::RetryPolicy policy{encore::RetryOn<Busy>{} || encore::RetryOn<Slow>{}};
