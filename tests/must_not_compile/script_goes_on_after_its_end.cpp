// EXPECT: always() never ends, so it must be the last step of a script
#include <encore/testing/scripted.hpp>

using namespace encore::testing;

void test() {
#ifdef ENCORE_FIXED
  Scripted<int> tool{returns(18), always(returns(17))};
#else
  Scripted<int> tool{always(returns(17)), returns(18)};
#endif
}
