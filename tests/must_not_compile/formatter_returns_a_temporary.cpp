// EXPECT: FormatFailure must return what the call returns, or something that converts to it
#include <encore/on_failure.hpp>
#include <encore/retry_policy.hpp>

#include <string>

const std::string& test(const std::string& name, const std::string& unknown) {
#ifdef ENCORE_FIXED
  const auto format = [&](const encore::Failure&) -> const std::string& { return unknown; };
#else
  const auto format = [&](const encore::Failure&) { return unknown; };
#endif
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::FormatFailure{format}};
  return policy.run([&]() -> const std::string& { return name; });
}
