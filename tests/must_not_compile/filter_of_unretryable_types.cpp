// EXPECT: this policy can never retry: every exception type that its filter names is one that is never retried
#include <encore/combined_predicates.hpp>
#include <encore/retry_on_nested.hpp>
#include <encore/retry_policy.hpp>
#include <encore/unretryable.hpp>

struct QuotaSpent : encore::Unretryable {
  using Unretryable::Unretryable;
};

#ifdef ENCORE_FIXED
inline const encore::RetryPolicy policy{encore::RetryOnNested<QuotaSpent>{} || encore::RetryOn<int>{}};
#else
inline const encore::RetryPolicy policy{encore::RetryOnNested<QuotaSpent>{}};
#endif
