// EXPECT: or it takes an argument by rvalue reference, so a retry would see what the first attempt left
#include <encore/retry_policy.hpp>

#include <string>
#include <utility>

int test(std::string text) {
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}};
#ifdef ENCORE_FIXED
  const auto send = [](const std::string& body) { return static_cast<int>(body.size()); };
#else
  const auto send = [](std::string&& body) { return static_cast<int>(std::string{std::move(body)}.size()); };
#endif
  return policy.run(send, std::move(text));
}
