// EXPECT: this test does not apply to what the callable returns, which only holds the test's parameter
#include <encore/fails_if.hpp>
#include <encore/retry_policy.hpp>

#include <memory>

struct Response {
  int status = 403;
};

std::shared_ptr<Response> test() {
#ifdef ENCORE_FIXED
  const encore::FailsIf refused{
      [](const std::shared_ptr<Response>& response) { return response->status == 403; }};
#else
  const encore::FailsIf refused{[](const Response& response) { return response.status == 403; }};
#endif
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, refused};
  return policy.run([] { return std::make_shared<Response>(); });
}
