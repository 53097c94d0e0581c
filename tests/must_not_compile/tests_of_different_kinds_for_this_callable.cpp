// EXPECT: for this callable one of these predicates is asked about exceptions and the other about returned values
// EXPECT: join them with ||
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>

struct TimeoutError {};
struct Response {
  int status = 503;
};
constexpr auto is_busy = [](const Response& response) { return response.status == 503; };

Response test() {
#ifdef ENCORE_FIXED
  const encore::RetryPolicy policy{encore::RetryOn<TimeoutError>{} || encore::RetryIf{is_busy}};
#else
  const encore::RetryPolicy policy{encore::RetryOn<TimeoutError>{} && encore::RetryIf{is_busy}};
#endif
  return policy.run([] { return Response{}; });
}
