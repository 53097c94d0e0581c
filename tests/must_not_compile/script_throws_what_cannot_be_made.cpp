// EXPECT: throws<E>(arguments...): E cannot be constructed from these arguments
#include <encore/testing/scripted.hpp>

#include <stdexcept>

using namespace encore::testing;

void test() {
#ifdef ENCORE_FIXED
  Scripted<int> tool{throws<std::runtime_error>("slow")};
#else
  Scripted<int> tool{throws<std::runtime_error>()};
#endif
}
