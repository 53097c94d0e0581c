// EXPECT FIRST: FormatFailure calls its function, as const, with `const encore::Failure&`
#include <encore/on_failure.hpp>
#include <encore/retry_policy.hpp>

#include <string>

int test() {
#ifdef ENCORE_FIXED
  const auto format = [](const encore::Failure&) { return 0; };
#else
  const auto format = [](const std::string&) { return 0; };
#endif
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::FormatFailure{format}};
  return policy.run([] { return 17; });
}
