// EXPECT: without exceptions a refusal cannot be thrown
// EXPECT: add ReturnOutcome{} or FormatFailure{...}
// FLAGS: -fno-exceptions -fno-rtti
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>

int test(const encore::Call& call) {
  const encore::RetryPolicy policy{encore::RetryIfResult{[](int status) { return status == 503; }}};
#ifdef ENCORE_FIXED
  static_cast<void>(policy.run([] { return 503; }));
  return *policy.with(encore::ReturnOutcome{}).run(call, [] { return 200; });
#else
  return policy.run(call, [] { return 200; });
#endif
}
