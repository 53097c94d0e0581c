// EXPECT: an observer is called with `const Event&` from a const policy: give a mutable one a name
#include <encore/observer.hpp>

#include <functional>

struct Count {
  int events = 0;
  void operator()(const encore::Event&) { ++events; }
};

void test(const encore::Event& event) {
#ifdef ENCORE_FIXED
  Count count;
  const encore::Observe observe{std::ref(count)};
#else
  const encore::Observe observe{Count{}};
#endif
  observe(event);
}
