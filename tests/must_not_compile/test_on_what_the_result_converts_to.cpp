// EXPECT: or converts to it: let the test take the returned type itself
// EXPECT: string
// Nothing is converted for a test, as nothing is for a catch clause: asked beside a filter or not. (B9)
#include <encore/never_retry.hpp>
#include <encore/predicate.hpp>
#include <encore/retry_policy.hpp>

#include <string>

const char* test() {
#ifdef ENCORE_FIXED
  const encore::NeverRetryIf closed{[](const char* text) { return text[0] == 'c'; }};
#else
  const encore::NeverRetryIf closed{[](const std::string& text) { return text == "closed"; }};
#endif
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, closed};
  return policy.run([] { return "closed"; });
}
