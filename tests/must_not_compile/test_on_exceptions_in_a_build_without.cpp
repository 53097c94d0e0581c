// EXPECT: this test is asked about exceptions, and this build has none
// EXPECT: Timeout
// FLAGS: -fno-exceptions -fno-rtti
#include <encore/encore.hpp>

struct Timeout : std::exception {};

int test() {
  const encore::RetryIfResult busy{[](int status) { return status == 503; }};
#ifdef ENCORE_FIXED
  const encore::RetryPolicy policy{busy};
#else
  const encore::RetryPolicy policy{busy || encore::RetryIf{[](const Timeout&) { return true; }}};
#endif
  return policy.run([] { return 503; });
}
