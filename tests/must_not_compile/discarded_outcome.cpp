// EXPECT: an Outcome may hold a failure
// FLAGS: -Werror
#include <encore/outcome.hpp>
#include <encore/retry_policy.hpp>

void test() {
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::ReturnOutcome{}};
#ifdef ENCORE_FIXED
  const auto outcome = policy.run([] { return 17; });
  static_cast<void>(outcome.has_value());
#else
  policy.run([] { return 17; });
#endif
}
