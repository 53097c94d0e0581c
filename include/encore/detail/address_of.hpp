// Where an object lies, whatever its `operator&` says: `std::addressof` without the price of `<memory>`.
#pragma once

namespace encore::shared {

template <class T>
constexpr T* address_of(T& object) noexcept {
  return __builtin_addressof(object);  // of GCC, Clang and MSVC alike
}
template <class T>
void address_of(const T&&) = delete;  // a temporary has no address to keep

}  // namespace encore::shared
