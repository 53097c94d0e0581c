// EXPECT: this filter can never be asked about this callable
// EXPECT: string
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>

#include <string>

struct Response {
  int status = 503;
};

Response test() {
#ifdef ENCORE_FIXED
  const auto busy = [](const Response& response) { return response.status == 503; };
#else
  const auto busy = [](const std::string& body) { return body == "busy"; };
#endif
  const encore::RetryPolicy policy{encore::RetryIfResult{busy}};
  return policy.run([] { return Response{}; });
}
