// Storage for an object that may be constructed later.
#pragma once
#include <encore/detail/attributes.hpp>

#include <new>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD::detail {

/// Storage for a lazily constructed `T`. The caller destroys it.
template <class T>
struct RoomFor {
  alignas(T) unsigned char bytes[sizeof(T)];
  template <class... A>
  ENCORE_FORCE_INLINE T& make(A&&... arguments) noexcept(std::is_nothrow_constructible_v<T, A...>) {
    return *::new (static_cast<void*>(bytes)) T{std::forward<A>(arguments)...};
  }
  T& get() noexcept { return *std::launder(reinterpret_cast<T*>(bytes)); }
  const T& get() const noexcept { return *std::launder(reinterpret_cast<const T*>(bytes)); }
};

}  // namespace ENCORE_BUILD::detail
