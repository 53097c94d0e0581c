// What a callable must be to be retried, in words.
#pragma once
#include <encore/call.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/engine/operation.hpp>

#include <concepts>
#include <type_traits>

namespace encore ENCORE_BUILD::detail {

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

}  // namespace ENCORE_BUILD::detail
