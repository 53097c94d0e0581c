// How a callable is invoked: with its attempt if it takes one, always as an lvalue.
#pragma once
#include <encore/attempt.hpp>
#include <encore/detail/attributes.hpp>

#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD::detail {

/// Does the callable take the attempt after its arguments? (A6)
template <class F, class... A>
inline constexpr bool takes_attempt = std::is_invocable_v<F&, A&..., const Attempt&>;

/// Can it be invoked more than once, with the same arguments each time? (A5)
template <class F, class... A>
inline constexpr bool can_be_repeated = takes_attempt<F, A...> || std::is_invocable_v<F&, A&...>;

/// What a refused callable returns: it converts to anything, so that the words above are the only error.
struct NoResult {
  template <class T>
  operator T() const;
};

template <class F, class... A>
struct raw_result : std::type_identity<NoResult> {};
template <class F, class... A>
  requires takes_attempt<F, A...>
struct raw_result<F, A...> : std::invoke_result<F&, A&..., const Attempt&> {};
template <class F, class... A>
  requires(!takes_attempt<F, A...> && can_be_repeated<F, A...>)
struct raw_result<F, A...> : std::invoke_result<F&, A&...> {};

/// What the callable returns.
template <class F, class... A>
using raw_t = typename raw_result<std::remove_reference_t<F>, std::remove_reference_t<A>...>::type;
/// What `run` returns for it.
template <class Strategy, class F, class... A>
using result_t = typename Strategy::template result<raw_t<F, A...>>;

/// `std::invoke` for lvalues, without the price of `<functional>`.
template <class M, class C, class Object, class... A>
constexpr decltype(auto) invoke_member(M C::* member, Object& object, A&... args) {
  if constexpr (std::is_convertible_v<Object&, const volatile C&>) {
    using Target = std::conditional_t<std::is_base_of_v<C, std::remove_cv_t<Object>>, Object, C>;
    auto& target = static_cast<Target&>(object);
    if constexpr (std::is_function_v<M>)
      return (target.*member)(args...);
    else
      return (target.*member);
  } else {
    if constexpr (std::is_function_v<M>)
      return ((*object).*member)(args...);
    else
      return ((*object).*member);
  }
}
template <class F, class... A>
ENCORE_FORCE_INLINE constexpr decltype(auto) invoke(F& callable, A&... args) {
  if constexpr (std::is_member_pointer_v<std::remove_cv_t<F>>)
    return invoke_member(callable, args...);
  else
    return callable(args...);
}

}  // namespace ENCORE_BUILD::detail
