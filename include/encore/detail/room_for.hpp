// Room for what may be made later.
#pragma once
#include <encore/detail/attributes.hpp>

#include <new>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD::detail {

/// Room for a `T` that is made later, if at all. Whoever made it destroys it, where that is needed.
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
