// How a callable is invoked: with its attempt if it takes one, always as an lvalue.
#pragma once
#include <encore/attempt.hpp>
#include <encore/detail/attributes.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace encore {
struct Call;
}

namespace encore ENCORE_BUILD::detail {

/// Does the callable take the attempt after its arguments? (A6)
template <class F, class... A>
inline constexpr bool takes_attempt = std::is_invocable_v<F&, A&..., const Attempt&>;

/// Can it be invoked more than once, with the same arguments each time? (A5)
template <class F, class... A>
inline constexpr bool can_be_repeated = takes_attempt<F, A...> || std::is_invocable_v<F&, A&...>;
template <class F, class... A>
inline constexpr bool runs_only_once =
    !can_be_repeated<F, A...> &&
    (std::is_invocable_v<F&&, A&&..., const Attempt&> || std::is_invocable_v<F&&, A&&...>);

template <class F>
concept IsNoText = !std::is_convertible_v<F, const char*> && !requires(const F& text) {
  { text.data() } -> std::convertible_to<const char*>;
};
template <class... A>
concept NoCallAmong = !(std::same_as<std::remove_cvref_t<A>, Call> || ...);

/// Says in words why a callable cannot be retried.
template <class F, class... A>
struct RepeatedCallable {
  static_assert(IsNoText<F>,
                "a call's id stands in a Call, before the callable: run({.id = \"call-17\"}, callable)");
  static_assert(NoCallAmong<A...> || !IsNoText<F>,
                "the call comes first, before the callable: run({.id = \"call-17\"}, callable)");
  static_assert(
      !runs_only_once<F, A...>,
      "this callable can be invoked only once: its call operator is &&-qualified, or it takes an argument by "
      "rvalue reference, so a retry would see what the first attempt left");
  static_assert(
      !IsNoText<F> || !NoCallAmong<A...> || runs_only_once<F, A...> || can_be_repeated<F, A...>,
      "this callable can be invoked neither with these arguments nor with them and `const encore::Attempt&`");
};
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
