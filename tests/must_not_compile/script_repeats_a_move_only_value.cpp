// EXPECT: a step that is played more than once must return a value that can be copied
#include <encore/testing/scripted.hpp>

#include <memory>

using namespace encore::testing;

void test() {
#ifdef ENCORE_FIXED
  Scripted<std::unique_ptr<int>> tool{times(2, does([] { return std::make_unique<int>(17); }))};
#else
  Scripted<std::unique_ptr<int>> tool{times(2, returns(std::make_unique<int>(17)))};
#endif
}
