// EXPECT: this predicate does not satisfy encore::Predicate: it needs `bool matches(const encore::Thrown&) const`
#include <encore/retry_policy.hpp>

struct Transient {
  using role = encore::role::Predicate;
#ifdef ENCORE_FIXED
  bool matches(const encore::Thrown& failure) const { return failure.error() != nullptr; }
#else
  bool operator()(const encore::Thrown& failure) const { return failure.error() != nullptr; }
#endif
};

inline const encore::RetryPolicy policy{Transient{}};
