// EXPECT: this filter can never be asked about this callable
// EXPECT: RetryOn<
// FLAGS: -fno-exceptions -fno-rtti
#include <encore/encore.hpp>

struct Timeout : std::exception {};

int test() {
#ifdef ENCORE_FIXED
  const encore::RetryPolicy policy{encore::RetryOn<Timeout>{} ||
                                   encore::RetryIfResult{[](int status) { return status == 503; }}};
#else
  const encore::RetryPolicy policy{encore::RetryOn<Timeout>{}};
#endif
  return policy.run([] { return 503; });
}
