// EXPECT: this test does not apply to what the callable returns, which only holds the test's parameter
// EXPECT: Response
// A test on the value inside an optional: it would never be asked. (B9)
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>

#include <optional>

struct Response {
  int status = 503;
};

std::optional<Response> test() {
#ifdef ENCORE_FIXED
  const auto busy = [](const std::optional<Response>& response) {
    return response && response->status == 503;
  };
#else
  const auto busy = [](const Response& response) { return response.status == 503; };
#endif
  const encore::RetryPolicy policy{encore::RetryIf{busy}};
  return policy.run([] { return std::optional<Response>{}; });
}
