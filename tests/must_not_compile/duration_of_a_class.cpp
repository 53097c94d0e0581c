// EXPECT: a duration that is counted in a built-in number of at most 64 bits
#include <encore/hint.hpp>

struct Number {
  double value = 0;
  constexpr Number() = default;
  constexpr Number(double number) : value{number} {}
  constexpr operator double() const { return value; }
};
template <>
struct std::chrono::treat_as_floating_point<Number> : std::true_type {};

#ifdef ENCORE_FIXED
using Seconds = std::chrono::duration<double>;
#else
using Seconds = std::chrono::duration<Number>;
#endif
struct Busy {
  Seconds retry_after() const { return Seconds{0.4}; }
};
std::optional<encore::Duration> wait(const encore::Now& now) { return encore::hint_of(Busy{}, now); }
