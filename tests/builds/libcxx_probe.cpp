// Compiles where libc++ is there; see CMakeLists.txt.
#include <version>
static_assert(_LIBCPP_VERSION > 0);
