// EXPECT: this test takes an exception, but this build has no exceptions
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
