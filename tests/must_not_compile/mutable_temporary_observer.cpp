// EXPECT: a temporary one would dangle: give it a name
#include <encore/observer.hpp>
#include <encore/retry_policy.hpp>

#include <functional>

struct Count {
  int events = 0;
  void operator()(const encore::Event&) { ++events; }
};

int test() {
#ifdef ENCORE_FIXED
  Count count;
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, std::ref(count)};
#else
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, Count{}};
#endif
  return policy.run([] { return 17; });
}
