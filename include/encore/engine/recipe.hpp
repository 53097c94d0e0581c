// Sorting ingredients into roles: what a policy is made of, in canonical order, with a default for each role not named.
#pragma once
#include <encore/already_retries.hpp>
#include <encore/backoff.hpp>
#include <encore/clock.hpp>
#include <encore/detail/pack.hpp>
#include <encore/engine/asked_kinds.hpp>
#include <encore/engine/failure_strategy.hpp>
#include <encore/engine/nested.hpp>
#include <encore/engine/server_hint.hpp>
#include <encore/ingredient.hpp>
#include <encore/jitter.hpp>
#include <encore/limits.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD::detail {

/// No predicate was named.
struct Unnamed {
  using role = encore::role::Predicate;
};

// ---- lists of types ------------------------------------------------------------------------------------------------

template <class... L>
struct join {
  using type = Plus<>;
};
template <class... A>
struct join<Plus<A...>> {
  using type = Plus<A...>;
};
template <class... A, class... B, class... L>
struct join<Plus<A...>, Plus<B...>, L...> : join<Plus<A..., B...>, L...> {};
template <class... L>
using join_t = typename join<L...>::type;

/// What plays each role that is played once where no ingredient does, in canonical order. (A1)
using Defaults = Plus<SteadyClock, Unnamed, CountLimit, NoTimeBudget, NoLeastAttemptTime, NoAttemptTimeout,
                      NothingBeforeRetry, ExponentialBackoff, ProportionalJitter, HintFromCarrier, HintCap,
                      Rethrow, UnmatchedLeave, NoSeed, NestingUnnoticed, OnThreads, AttemptsOnce,
                      FailsWithoutValue, EndsWhenRefused>;
template <class T>
struct DefaultOf {
  static T of(typename T::role);
};
template <class>
struct ByRole;
template <class... T>
struct ByRole<Plus<T...>> : DefaultOf<T>... {
  using DefaultOf<T>::of...;
  using roles = Plus<typename T::role...>;
};
template <class Role>
using default_for = decltype(ByRole<Defaults>::of(Role{}));
/// The roles that are played once, and those that may be played by many.
using SingleRoles = ByRole<Defaults>::roles;
using ManyRoles = Plus<role::Never, role::Observer, role::Guard>;

template <class Role, class List>
inline constexpr std::size_t index_in = 0;
template <class Role, class... R>
inline constexpr std::size_t index_in<Role, Plus<R...>> = [] {
  std::size_t index = 0;
  static_cast<void>(((std::same_as<Role, R> || (++index, false)) || ...));
  return index;
}();
template <class List>
inline constexpr std::size_t how_long = 0;
template <class... T>
inline constexpr std::size_t how_long<Plus<T...>> = sizeof...(T);
template <class Role>
inline constexpr bool is_single = index_in<Role, SingleRoles> < how_long<SingleRoles>;
template <class Role>
inline constexpr bool is_many = index_in<Role, ManyRoles> < how_long<ManyRoles>;

/// What is stored of an ingredient: all count limits become one type, so that the policy's type does not depend on them.
template <class T>
using stored_as = std::conditional_t<Plays<T, role::CountLimit>, CountLimit, T>;

/// The ingredients that a type stands for: itself, or the parts of a bundle.
template <class T>
struct parts_of : std::type_identity<Plus<stored_as<T>>> {};
template <class T>
  requires Plays<T, role::Settings>
struct parts_of<T> : std::type_identity<typename std::remove_cvref_t<T>::parts> {};

// A temporary that cannot be moved is refused in words, and then left out, so that no more errors follow.
template <class T>
  requires(!std::is_reference_v<T> && !std::move_constructible<T> &&
           (Plays<T, role::Clock> || Plays<T, role::Guard> || Plays<T, role::Observer>))
struct parts_of<T> : std::type_identity<Plus<>> {};

/// The ingredients given as `G&&...`, as they will be held, bundles opened.
template <class... G>
using opened_t = join_t<typename parts_of<Held<G>>::type...>;

template <class Role, class Default, class List>
struct find {
  using type = Default;
};
template <class Role, class Default, class T, class... L>
struct find<Role, Default, Plus<T, L...>>
    : std::conditional_t<Plays<T, Role>, std::type_identity<T>, find<Role, Default, Plus<L...>>> {};
template <class Role, class List>
using find_t = typename find<Role, default_for<Role>, List>::type;

template <class Role, class List>
struct all_of;
template <class Role, class... T>
struct all_of<Role, Plus<T...>> {
  using type = join_t<std::conditional_t<Plays<T, Role>, Plus<T>, Plus<>>...>;
};
template <class Role, class List>
using all_of_t = typename all_of<Role, List>::type;

template <class Role, class List>
inline constexpr int how_many = 0;
template <class Role, class... T>
inline constexpr int how_many<Role, Plus<T...>> = (0 + ... + int{Plays<T, Role>});
template <class Role, class List>
inline constexpr bool at_most_one = how_many<Role, List> <= 1;

// ---- canonical order -----------------------------------------------------------------------------------------------

template <class Role, class List>
using named_or_nothing =
    std::conditional_t<std::same_as<find_t<Role, List>, default_for<Role>>, Plus<>, Plus<find_t<Role, List>>>;

template <class List, class Roles = SingleRoles>
struct singles;
template <class List, class... Role>
struct singles<List, Plus<role::Clock, role::Predicate, Role...>> {
  using type = join_t<named_or_nothing<Role, List>...>;
};

/// Everything beyond clock and predicate, sorted; slots that hold their default are left out. In `singles` the newer come
/// first and win; of what may be many the older come first.
template <class Newer, class Older = Plus<>>
using canonical_t =
    join_t<typename singles<join_t<Newer, Older>>::type, all_of_t<role::Never, join_t<Older, Newer>>,
           all_of_t<role::Observer, join_t<Older, Newer>>, all_of_t<role::Guard, join_t<Older, Newer>>>;

/// A list without the ingredients of some roles.
template <class T, class... Role>
struct unless_played : std::conditional<(Plays<T, Role> || ...), Plus<>, Plus<T>> {};
template <class List, class... Role>
struct without;
template <class... T, class... Role>
struct without<Plus<T...>, Role...> {
  using type = join_t<typename unless_played<T, Role...>::type...>;
};

// ---- values --------------------------------------------------------------------------------------------------------

template <class T, class Role>
inline constexpr bool supplies = how_many<Role, typename parts_of<T>::type> > 0;

template <class List>
struct kept_pack;
template <class... T>
struct kept_pack<Plus<T...>> {
  using type = Pack<Kept<T>...>;
};
template <class List>
using kept_pack_t = typename kept_pack<List>::type;

/// The ingredient as a pack of one, if it plays the role; else an empty one.
template <class Role, class G>
constexpr auto as_pack([[maybe_unused]] G&& ingredient) {
  if constexpr (Plays<G, Role>)
    return Pack<Kept<Held<G>>>{{{Kept<Held<G>>{std::in_place, static_cast<G&&>(ingredient)}}}};
  else
    return Pack<>{};
}

}  // namespace ENCORE_BUILD::detail
