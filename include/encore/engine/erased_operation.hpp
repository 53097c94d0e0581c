// How a callable crosses into code that is compiled once, and what may come back from there.
#pragma once
#include <encore/attempt.hpp>
#include <encore/detail/address_of.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/engine/operation.hpp>

#include <concepts>
#include <type_traits>

namespace encore ENCORE_BUILD::detail {

/// Can a function that returns `To` return what another one returns, a `From`, and not as a reference to a temporary?
template <class From, class To>
inline constexpr bool can_be_returned_as =
    std::is_void_v<To> || std::same_as<From, To> ||
    (std::convertible_to<From, To> &&
     (!std::is_reference_v<To> ||
      (std::is_reference_v<From> &&
       std::convertible_to<std::remove_reference_t<From>*, std::remove_reference_t<To>*>)));

/// One attempt: with the attempt if the callable takes it.
template <class F, class... A>
ENCORE_FORCE_INLINE constexpr decltype(auto) invoke_attempt(F& callable, const Attempt& attempt, A&... args) {
  if constexpr (takes_attempt<F, A...>)
    return detail::invoke(callable, args..., attempt);
  else
    return detail::invoke(callable, args...);
}

/// A callable without its type: the retry loop is compiled once for each policy and result, not for each callable.
template <class R>
struct Operation {
  static constexpr bool result_is_the_value = true;  // its callable was asked
  void* callable;
  R (*invoke)(void*, const Attempt&);
  R operator()(const Attempt& attempt) const { return invoke(callable, attempt); }
};
template <class R, class F>
Operation<R> operation_of(F& callable) noexcept {
  return {address_of(callable),
          [](void* erased, const Attempt& attempt) -> R { return (*static_cast<F*>(erased))(attempt); }};
}

}  // namespace ENCORE_BUILD::detail
