// Sorts the arguments of a tool layer: its own parts, and those of its policy.
#pragma once
#include <encore/agent/error_result.hpp>
#include <encore/agent/key_reuse.hpp>
#include <encore/detail/agent/declarations.hpp>
#include <encore/engine/options.hpp>
#include <encore/engine/policy_parts.hpp>
#include <encore/nesting.hpp>
#include <encore/option.hpp>

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD::detail {

template <class G>
inline constexpr bool is_tool_part =
    shared::HasRole<G, role::Replay> || shared::HasRole<G, role::ErrorResult> ||
    shared::HasRole<G, role::KeyReuse>;

/// The parts of a tool layer, as values, in the order given.
template <class... G>
using tool_parts_t =
    join_t<std::conditional_t<is_tool_part<G>, Options<std::remove_cvref_t<G>>, Options<>>...>;

/// The arguments that are such parts, or those that are not.
template <bool ToolPart, class... G>
constexpr auto forward_parts(G&&... given) {
  [[maybe_unused]] const auto one = []<class One>(One&& part) {
    if constexpr (is_tool_part<One> == ToolPart)
      return std::tuple<One&&>{std::forward<One>(part)};
    else
      return std::tuple<>{};
  };
  return std::tuple_cat(one(std::forward<G>(given))...);
}

/// The layer's policy: with the options among the arguments, and noticing nested retries unless they say otherwise. (J1)
template <class Policy, class... G>
constexpr auto tool_policy(const Policy& policy, G&&... given) {
  auto changed =
      std::apply([&](auto&&... option) { return policy.with(std::forward<decltype(option)>(option)...); },
                 forward_parts<false>(std::forward<G>(given)...));
  if constexpr (PartsOf<decltype(changed)>::notices_nesting)
    return changed;
  else
    return changed.with(WhenNested{Nested::report});
}
template <class Policy, class... G>
using tool_policy_t = decltype(tool_policy(std::declval<const Policy&>(), std::declval<G>()...));

template <class List>
struct declarations_of;
template <class... D>
struct declarations_of<Options<D...>> {
  using type = Declarations<D...>;

  /// From a tuple of parts that includes the declarations.
  template <class Parts>
  static type from(const Parts& parts) {
    return type{std::tuple<D...>{std::get<D>(parts)...}};
  }
};

/// The parts of a tool layer, sorted by their roles.
template <class Parts>
struct ToolParts;
template <class... Part>
struct ToolParts<Options<Part...>> {
  template <class Role, class Default>
  using one = typename find<Role, Default, Options<Part...>>::type;

  using Declared = declarations_of<all_of_t<role::Replay, Options<Part...>>>;
  using ErrorTest = one<role::ErrorResult, ErrorResultByType>;
  using KeyReuseHook = one<role::KeyReuse, IgnoreKeyReuse>;

  typename Declared::type declarations;
  [[no_unique_address]] ErrorTest error_test;
  [[no_unique_address]] KeyReuseHook key_reuse;

  explicit ToolParts(const std::tuple<Part...>& parts)
      : declarations{Declared::from(parts)},
        error_test{pick<ErrorTest>(parts)},
        key_reuse{pick<KeyReuseHook>(parts)} {
    static_assert(how_many<role::Replay, Options<Part...>> != 0,
                  "a ToolRetry must be told which tools may be repeated: add Repeatable{\"...\"}, "
                  "RepeatableWithKey{\"...\"} or RepeatableIf{...}; Repeatable{} means no tool");
    static_assert(TakesOne<role::ErrorResult, Options<Part...>>, "a ToolRetry takes one ErrorResultIf");
    static_assert(TakesOne<role::KeyReuse, Options<Part...>>, "a ToolRetry takes one OnKeyReused");
  }

 private:
  template <class T>
  static T pick(const std::tuple<Part...>& parts) {
    if constexpr ((std::same_as<T, Part> || ...))
      return std::get<T>(parts);
    else
      return {};
  }
};

}  // namespace ENCORE_BUILD::detail
