// EXPECT FIRST: RetryIf's function says yes or no: it must return a bool
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>

int test() {
#ifdef ENCORE_FIXED
  const auto transient = [](const auto& error) { return error.what()[0] == '5'; };
#else
  const auto transient = [](const auto& error) { static_cast<void>(error.what()); };
#endif
  const encore::RetryPolicy policy{encore::RetryIf{transient}};
  return policy.run([] { return 17; });
}
