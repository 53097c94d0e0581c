// EXPECT: this callable's result does not convert to what the AnyRetryPolicy returns
#include <encore/any_retry_policy.hpp>
#include <encore/retry_policy.hpp>

#include <string>

const std::string& test(const std::string& name) {
  const encore::AnyRetryPolicy<const std::string&> policy{
      encore::RetryPolicy{encore::RetryOnEveryException{}}};
#ifdef ENCORE_FIXED
  return policy.run([&]() -> const std::string& { return name; });
#else
  return policy.run([&] { return name; });
#endif
}
