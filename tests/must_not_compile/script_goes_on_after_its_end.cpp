// EXPECT: always() goes on for ever, so no step of a script comes after it
#include <encore/testing/scripted.hpp>

using namespace encore::testing;

void test() {
#ifdef ENCORE_FIXED
  Scripted<int> tool{returns(18), always(returns(17))};
#else
  Scripted<int> tool{always(returns(17)), returns(18)};
#endif
}
