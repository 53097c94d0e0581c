// What every consumer project here builds: the library's umbrella, and fmt through it.
#include <encore/version.hpp>

#include <fmt/core.h>

int main() {
  fmt::print("encore {}.{}.{}\n", encore::version.major_number, encore::version.minor_number,
             encore::version.patch_number);
}
