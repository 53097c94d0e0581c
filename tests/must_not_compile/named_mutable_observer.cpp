// EXPECT: this named observer can be copied, but changes as it is called
// EXPECT: std::ref
#include <encore/observer.hpp>
#include <encore/retry_policy.hpp>

#include <functional>

struct Count {
  int events = 0;
  void operator()(const encore::Event&) { ++events; }
};

int test() {
  Count it;
#ifdef ENCORE_FIXED
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, std::ref(it)};
#else
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, it};
#endif
  return policy.run([] { return 17; });
}
