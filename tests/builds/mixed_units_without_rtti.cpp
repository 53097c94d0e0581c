// Built without RTTI: an exception's type is told by handlers alone.
#include "mixed_units.hpp"

#if !defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "this unit must be built with exceptions and without RTTI"
#endif

int attempts_without_rtti() {
  auto attempts = 0;
  const auto outcome = quiet_policy().run([&]() -> int {
    if (++attempts == 1) throw std::range_error{"derived from what the filter names"};
    return 7;
  });
  return outcome && *outcome == 7 ? attempts : -attempts;
}
