// EXPECT: a test of returned values needs: #include <encore/returned.hpp>
#ifdef ENCORE_FIXED
#include <encore/returned.hpp>
#endif
#include <encore/retry_policy.hpp>

struct RetryWhileBusy {
  using role = encore::role::Predicate;
  static constexpr bool looks_at_values = true;
  template <class Value>
  bool matches(const encore::Returned<Value>& returned) const {
    return returned.value == 503;
  }
};

int test() {
  return encore::RetryPolicy{RetryWhileBusy{}}.run([] { return 17; });
}
