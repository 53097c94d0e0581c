// Sorts the arguments of a ToolRun: guards, and hooks.
#pragma once
#include <encore/agent/key_reuse.hpp>
#include <encore/agent/refused_turns.hpp>
#include <encore/agent/unknown_outcome.hpp>
#include <encore/detail/agent/run_guards.hpp>
#include <encore/engine/options.hpp>
#include <encore/option.hpp>

#include <concepts>
#include <tuple>
#include <type_traits>

namespace encore ENCORE_BUILD::detail {

/// The default hook: unknown outcomes are only listed.
struct IgnoreUnknownOutcomes {
  void operator()(const UnknownOutcome&) const noexcept {}
};

template <class>
inline constexpr bool is_unknown_outcome_hook = false;
template <class F>
inline constexpr bool is_unknown_outcome_hook<OnUnknownOutcome<F>> = true;
template <class T>
inline constexpr bool is_key_reuse_hook = shared::HasRole<T, role::KeyReuse>;

template <class Default, class... G>
struct reconciler_of : std::type_identity<Default> {};
template <class Default, class T, class... G>
struct reconciler_of<Default, T, G...>
    : std::conditional_t<is_unknown_outcome_hook<T>, std::type_identity<T>, reconciler_of<Default, G...>> {};

template <class List>
struct run_guards_of;
template <class... G>
struct run_guards_of<Options<G...>> : std::type_identity<RunGuards<G...>> {};

/// The arguments of a run, sorted by what they are for.
template <class... G>
struct RunParts {
  static_assert(
      ((RunGuard<G> || is_unknown_outcome_hook<G> || is_key_reuse_hook<G> || std::same_as<G, RefusedTurns>) &&
       ...),
      "a ToolRun takes guards that belong to a run (CallLimit, StepLimit, LoopDetector, SpendLimit, or a "
      "RunGuard of your own), RefusedTurns, OnUnknownOutcome and OnKeyReused; a circuit breaker, a retry "
      "budget or an "
      "observer belongs to a policy");
  static_assert((0 + ... + int{is_unknown_outcome_hook<G>}) <= 1, "a ToolRun takes one OnUnknownOutcome");
  static_assert((0 + ... + int{is_key_reuse_hook<G>}) <= 1, "a ToolRun takes one OnKeyReused");
  static_assert((0 + ... + int{std::same_as<G, RefusedTurns>}) <= 1, "a ToolRun takes one RefusedTurns");

  using GuardList = join_t<std::conditional_t<RunGuard<G>, Options<G>, Options<>>...>;
  using Guards = typename run_guards_of<GuardList>::type;
  using Reconciler = typename reconciler_of<IgnoreUnknownOutcomes, G...>::type;
  using KeyReuseHook = typename find<role::KeyReuse, IgnoreKeyReuse, Options<G...>>::type;

  static Guards guards(const G&... given) {
    [[maybe_unused]] const auto one = []<class T>(const T& part) {
      if constexpr (RunGuard<T>)
        return std::tie(part);
      else
        return std::tuple<>{};
    };
    return std::apply([](const auto&... guard) { return Guards{guard...}; }, std::tuple_cat(one(given)...));
  }
  template <class T>
  static T pick(const G&... given) {
    if constexpr ((std::same_as<T, G> || ...))
      return std::get<const T&>(std::tie(given...));
    else
      return {};
  }
};

}  // namespace ENCORE_BUILD::detail
