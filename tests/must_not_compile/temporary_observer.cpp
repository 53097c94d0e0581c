// EXPECT FIRST: a temporary one would dangle: give it a name
#include <encore/observer.hpp>
#include <encore/retry_policy.hpp>

#include <atomic>

struct Counter {
  mutable std::atomic<int> events = 0;  // so it can be neither copied nor moved
  void operator()(const encore::Event&) const noexcept { ++events; }
};

int test() {
#ifdef ENCORE_FIXED
  Counter counter;
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, counter};
#else
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, Counter{}};
#endif
  return policy.run([] { return 17; });
}
