// What the engine, and predicates that are made of others, ask of a predicate beside `matches`.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/engine/asked_kinds.hpp>
#include <encore/engine/server_hint.hpp>
#include <encore/option.hpp>
#include <encore/predicate.hpp>
#include <encore/thrown.hpp>
#include <encore/unretryable.hpp>

#include <optional>
#include <type_traits>

namespace encore ENCORE_BUILD {

namespace detail {

// What compositions hand on from their parts.
template <class P>
std::optional<Duration> hint_by(const P& predicate, const Thrown& failure, const Now& now) {
  if constexpr (requires { predicate.hint(failure, now); })
    return predicate.hint(failure, now);
  else
    return no_hint;
}
template <class P>
inline constexpr bool types_only = requires { requires P::types_only; };

// No exception that such a predicate matches is one of those that are never retried, if it was caught as `std::exception`.
template <class P>
inline constexpr bool rules_out_never = !JudgesExceptions<P> || requires { requires P::rules_out_never; };

/// How deep a predicate looks: into what it is given, or into what is nested in it too.
struct Outermost {
  template <class Look>
  static void look_into(const Thrown& failure, Look&& look) {
    look(failure);
  }
};
template <class P>
struct depth : std::type_identity<Outermost> {};
template <class P>
  requires requires { typename P::Depth; }
struct depth<P> : std::type_identity<typename P::Depth> {};
template <class P>
using depth_of = typename depth<P>::type;

/// Does it match an exception itself, whatever is nested in that?
template <class P>
bool matches_by_itself(const P& predicate, const Thrown& failure) {
  if constexpr (requires { predicate.matches_by_itself(failure); })
    return predicate.matches_by_itself(failure);
  else if constexpr (JudgesExceptions<P>)
    return predicate.matches(failure);
  else
    return false;
}
/// Does a part of it name this very error, as a list of codes does?
template <class P, class Failed>
bool names_failure(const P& predicate, const Failed& failure) {
  if constexpr (requires { predicate.names_failure(failure); })
    return predicate.names_failure(failure);
  else
    return false;
}

/// What a policy never retries, whatever its filter says: `Unretryable`, and the types in its lists.
template <class List, class E>
inline constexpr bool is_never_by = false;
template <class List, class E>
  requires requires { List::template covers<E>; }
inline constexpr bool is_never_by<List, E> = List::template covers<E>;
template <class Lists>
struct NeverLists;
template <class... List>
struct NeverLists<Options<List...>> {
  template <class E>
  static constexpr bool cover = catches<Unretryable, E> || (is_never_by<std::remove_cvref_t<List>, E> || ...);
};
/// Can a predicate match anything else?
template <class P, class Never>
inline constexpr bool can_retry = true;
template <class P, class Never>
  requires requires { P::template can_retry<Never>; }
inline constexpr bool can_retry<P, Never> = P::template can_retry<Never>;
template <class Filter, class Lists>
concept CanRetry = can_retry<Filter, NeverLists<Lists>>;

/// The kinds of failure that a predicate can be asked about under a callable that returns `V`. A combination that makes no sense does not compile.
template <class P, class V>
consteval Kinds kinds_of() {
  if constexpr (requires { P::template kinds<V>(); }) {
    return P::template kinds<V>();
  } else {
    Kinds kinds{.exceptions = exceptions_exist && JudgesExceptions<P>};
    if constexpr (!std::is_void_v<V>) kinds.values = JudgesValues<P, V>;
    return kinds;
  }
}
/// A test in `P` that is never asked does not compile.
template <class P, class V>
consteval void refuse_misfits_of() {
  if constexpr (requires { P::template refuse_misfit<V>(); }) P::template refuse_misfit<V>();
}

}  // namespace detail

}  // namespace encore ENCORE_BUILD
