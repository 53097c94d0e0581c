// Minimum and maximum without the cost of including `<algorithm>`, and with names that no system header defines as macros.
#pragma once

namespace encore::shared {

/// The smaller of two values, the first if they are equal. No value may be NaN.
template <class T>
constexpr T smaller_of(T first, T second) noexcept {
  return second < first ? second : first;
}

/// The larger of two values, the first if they are equal. No value may be NaN.
template <class T>
constexpr T larger_of(T first, T second) noexcept {
  return first < second ? second : first;
}

}  // namespace encore::shared
