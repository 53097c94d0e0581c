// The smaller and the larger of two values: without the price of `<algorithm>`, and under names that no system header has
// as macros.
#pragma once

namespace encore {

/// The smaller of two values; the first if neither is. Of numbers none may be NaN.
template <class T>
constexpr T smaller_of(T first, T second) noexcept {
  return second < first ? second : first;
}

/// The larger of two values; the first if neither is. Of numbers none may be NaN.
template <class T>
constexpr T larger_of(T first, T second) noexcept {
  return first < second ? second : first;
}

}  // namespace encore
