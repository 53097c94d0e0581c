// Sorting options into roles: what a policy is made of, in canonical order, with a default for each role not named.
#pragma once
#include <encore/backoff.hpp>
#include <encore/clock.hpp>
#include <encore/detail/pack.hpp>
#include <encore/engine/asked_kinds.hpp>
#include <encore/engine/failure_strategy.hpp>
#include <encore/engine/nested.hpp>
#include <encore/engine/server_hint.hpp>
#include <encore/jitter.hpp>
#include <encore/limits.hpp>
#include <encore/option.hpp>

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
  using type = Options<>;
};
template <class... A>
struct join<Options<A...>> {
  using type = Options<A...>;
};
template <class... A, class... B, class... L>
struct join<Options<A...>, Options<B...>, L...> : join<Options<A..., B...>, L...> {};
template <class... L>
using join_t = typename join<L...>::type;

/// What each single role has where no option has it, in canonical order. (A1) A new single option has its role, its type and its
/// default in a header of its own; the default is named here; and who acts on it asks the policy's parts for `get<role::New>()`.
using Defaults = Options<SteadyClock, Unnamed, CountLimit, NoTimeBudget, NoMinAttemptTime, NoAttemptTimeout,
                         NothingBeforeRetry, ExponentialBackoff, ProportionalJitter, HintFromCarrier, HintCap,
                         Rethrow, UnmatchedPropagate, NoSeed, NestingUnnoticed, OnThreads, AttemptsOnce,
                         FailsWithoutValue, EndsWhenRefused>;
template <class T>
struct DefaultOf {
  static T of(typename T::role);
};
template <class>
struct ByRole;
template <class... T>
struct ByRole<Options<T...>> : DefaultOf<T>... {
  using DefaultOf<T>::of...;
  using roles = Options<typename T::role...>;
};
template <class Role>
using default_for = decltype(ByRole<Defaults>::of(Role{}));
/// The roles that one option has, and those that many may have.
using SingleRoles = ByRole<Defaults>::roles;
using ManyRoles = Options<role::Never, role::Observer, role::Guard>;

template <class Role, class List>
inline constexpr std::size_t index_in = 0;
template <class Role, class... R>
inline constexpr std::size_t index_in<Role, Options<R...>> = [] {
  std::size_t index = 0;
  static_cast<void>(((std::same_as<Role, R> || (++index, false)) || ...));
  return index;
}();
template <class List>
inline constexpr std::size_t how_long = 0;
template <class... T>
inline constexpr std::size_t how_long<Options<T...>> = sizeof...(T);
template <class Role>
inline constexpr bool is_single = index_in<Role, SingleRoles> < how_long<SingleRoles>;
template <class Role>
inline constexpr bool is_many = index_in<Role, ManyRoles> < how_long<ManyRoles>;

/// What is stored of an option: all count limits become one type, so that the policy's type does not depend on them.
template <class T>
using stored_as = std::conditional_t<shared::HasRole<T, role::CountLimit>, CountLimit, T>;

/// The options that a type stands for: itself, or the parts of a bundle.
template <class T>
struct parts_of : std::type_identity<Options<stored_as<T>>> {};
template <class T>
  requires shared::HasRole<T, role::Settings>
struct parts_of<T> : std::type_identity<typename std::remove_cvref_t<T>::parts> {};

// A temporary that cannot be moved is refused in words, and then left out, so that no more errors follow.
template <class T>
  requires(!std::is_reference_v<T> && !std::move_constructible<T> &&
           (shared::HasRole<T, role::Clock> || shared::HasRole<T, role::Guard> ||
            shared::HasRole<T, role::Observer>))
struct parts_of<T> : std::type_identity<Options<>> {};

/// The options given as `G&&...`, as they will be stored, with bundles opened.
template <class... G>
using opened_t = join_t<typename parts_of<shared::StoredOf<G>>::type...>;

template <class Role, class Default, class List>
struct find {
  using type = Default;
};
template <class Role, class Default, class T, class... L>
struct find<Role, Default, Options<T, L...>>
    : std::conditional_t<shared::HasRole<T, Role>, std::type_identity<T>,
                         find<Role, Default, Options<L...>>> {};
template <class Role, class List>
using find_t = typename find<Role, default_for<Role>, List>::type;

template <class Role, class List>
struct all_of;
template <class Role, class... T>
struct all_of<Role, Options<T...>> {
  using type = join_t<std::conditional_t<shared::HasRole<T, Role>, Options<T>, Options<>>...>;
};
template <class Role, class List>
using all_of_t = typename all_of<Role, List>::type;

template <class Role, class List>
inline constexpr int how_many = 0;
template <class Role, class... T>
inline constexpr int how_many<Role, Options<T...>> = (0 + ... + int{shared::HasRole<T, Role>});
template <class Role, class List>
concept TakesOne = how_many<Role, List> <= 1;

// ---- canonical order -----------------------------------------------------------------------------------------------

template <class Role, class List>
using named_or_nothing = std::conditional_t<std::same_as<find_t<Role, List>, default_for<Role>>, Options<>,
                                            Options<find_t<Role, List>>>;

template <class List, class Roles = SingleRoles>
struct singles;
template <class List, class... Role>
struct singles<List, Options<role::Clock, role::Predicate, Role...>> {
  using type = join_t<named_or_nothing<Role, List>...>;
};

/// Everything beyond clock and predicate, sorted; slots that hold their default are left out. In `singles` the newer come
/// first and win; of what may be many the older come first.
template <class Newer, class Older = Options<>>
using canonical_t =
    join_t<typename singles<join_t<Newer, Older>>::type, all_of_t<role::Never, join_t<Older, Newer>>,
           all_of_t<role::Observer, join_t<Older, Newer>>, all_of_t<role::Guard, join_t<Older, Newer>>>;

/// A list without the options of some roles.
template <class T, class... Role>
struct unless_in_role : std::conditional<(shared::HasRole<T, Role> || ...), Options<>, Options<T>> {};
template <class List, class... Role>
struct without;
template <class... T, class... Role>
struct without<Options<T...>, Role...> {
  using type = join_t<typename unless_in_role<T, Role...>::type...>;
};

// ---- values --------------------------------------------------------------------------------------------------------

template <class T, class Role>
inline constexpr bool supplies = how_many<Role, typename parts_of<T>::type> > 0;

template <class List>
struct storage_pack;
template <class... T>
struct storage_pack<Options<T...>> {
  using type = Pack<Storage<T>...>;
};
template <class List>
using storage_pack_t = typename storage_pack<List>::type;

/// The option as a pack of one, if it has the role; else an empty one.
template <class Role, class G>
constexpr auto as_pack([[maybe_unused]] G&& option) {
  if constexpr (shared::HasRole<G, Role>)
    return Pack<Storage<shared::StoredOf<G>>>{
        {{Storage<shared::StoredOf<G>>{std::in_place, static_cast<G&&>(option)}}}};
  else
    return Pack<>{};
}

}  // namespace ENCORE_BUILD::detail
