// A small tuple. Including `<tuple>` would make up an eighth of the cost of including a policy. (P11)
#pragma once
#include <encore/detail/attributes.hpp>

#include <cstddef>
#include <utility>

namespace encore ENCORE_BUILD::detail {

/// One value of a pack. The index makes its type unique, so that a pack can hold several values of one type.
template <std::size_t I, class T>
struct Place {
  [[no_unique_address]] T value;
};
template <class Indices, class... T>
struct Places;
template <std::size_t... I, class... T>
struct Places<std::index_sequence<I...>, T...> : Place<I, T>... {};

/// An aggregate: `Pack<int, char>{{{17}, {'c'}}}`. Empty values take no space.
template <class... T>
struct Pack : Places<std::index_sequence_for<T...>, T...> {
  static constexpr std::size_t size = sizeof...(T);
};

/// Value `I` of a pack.
template <std::size_t I, class T>
constexpr T& at(Place<I, T>& place) noexcept {
  return place.value;
}
template <std::size_t I, class T>
constexpr const T& at(const Place<I, T>& place) noexcept {
  return place.value;
}

/// The concatenation of packs.
template <class... T>
constexpr Pack<T...> joined(Pack<T...>&& pack) {
  return std::move(pack);
}
template <class... A, class... B, class... Others>
constexpr auto joined(Pack<A...>&& first, [[maybe_unused]] Pack<B...>&& second, Others&&... others) {
  return [&]<std::size_t... I, std::size_t... J>(std::index_sequence<I...>, std::index_sequence<J...>) {
    return joined(Pack<A..., B...>{{{std::move(at<I>(first))}..., {std::move(at<J>(second))}...}},
                  std::move(others)...);
  }(std::index_sequence_for<A...>{}, std::index_sequence_for<B...>{});
}

}  // namespace ENCORE_BUILD::detail
