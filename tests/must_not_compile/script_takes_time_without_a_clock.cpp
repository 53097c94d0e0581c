// EXPECT: a step takes() time, so the script needs a clock: Scripted<T>{clock, steps...}
#include <encore/testing/scripted.hpp>

using namespace encore::testing;

void test() {
#ifdef ENCORE_FIXED
  FakeClock clock;
  Scripted<int> tool{clock, returns(17).takes(std::chrono::seconds{1})};
#else
  Scripted<int> tool{returns(17).takes(std::chrono::seconds{1})};
#endif
}
