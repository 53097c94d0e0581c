// EXPECT FIRST: a temporary one would dangle: give it a name
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>

int test(const encore::RetryPolicy<encore::SteadyClock, encore::RetryOnEveryException>& policy) {
#ifdef ENCORE_FIXED
  encore::testing::FakeClock clock;
  const auto on_fake_time = policy.with(clock);
#else
  const auto on_fake_time = policy.with(encore::testing::FakeClock{});
#endif
  return on_fake_time.run([] { return 17; });
}
