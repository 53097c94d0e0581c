// The core compiles and works without exceptions and without run-time type information. (L3)
#include <encore/version.hpp>

#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "this test must be built without exceptions and without RTTI"
#endif

int main() { return encore::version >= encore::Version{0, 1, 0} ? 0 : 1; }
