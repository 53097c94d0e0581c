// What a setting or a saved text that is invalid says of itself.
#pragma once
#include <stdexcept>
#include <string>

namespace encore_tests {

/// The text of the `std::invalid_argument` that `make` throws.
std::string refusal_of(const auto& make) {
  try {
    static_cast<void>(make());
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "not refused";
}

/// Can a lambda without captures be evaluated at compile time? One that makes an invalid setting cannot. (C3)
template <class Make, int = (static_cast<void>(Make{}()), 0)>
constexpr bool is_a_constant(Make) {
  return true;
}
constexpr bool is_a_constant(...) { return false; }

}  // namespace encore_tests
