// `std::addressof` without the cost of including `<memory>`.
#pragma once

namespace encore::shared {

template <class T>
constexpr T* address_of(T& object) noexcept {
  return __builtin_addressof(object);  // in GCC, Clang and MSVC
}
template <class T>
void address_of(const T&&) = delete;  // a temporary has no address to keep

}  // namespace encore::shared
