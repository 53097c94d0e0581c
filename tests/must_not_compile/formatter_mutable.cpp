// EXPECT FIRST: FormatFailure calls its function, as const, with `const encore::Failure&`
#include <encore/on_failure.hpp>
#include <encore/retry_policy.hpp>

int test() {
#ifdef ENCORE_FIXED
  const auto format = [](const encore::Failure& failure) { return -failure.attempts; };
#else
  const auto format = [formatted = 0](const encore::Failure&) mutable { return ++formatted; };
#endif
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::FormatFailure{format}};
  return policy.run([] { return 17; });
}
