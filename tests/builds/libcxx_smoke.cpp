// encore compiles and works with libc++, fmt included, without Catch2. (L4)
#include <encore/version.hpp>

#include <fmt/core.h>

#include <version>

static_assert(_LIBCPP_VERSION > 0, "this test must be built with libc++");

int main() {
  const auto text = fmt::format("{}.{}", encore::version.major_number, encore::version.minor_number);
  return text == "0.1" ? 0 : 1;
}
