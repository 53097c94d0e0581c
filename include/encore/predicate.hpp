// Which failures deserve another attempt. There is no default: whoever writes a policy says so.
#pragma once
#include <encore/engine/asked_kinds.hpp>
#include <encore/engine/server_hint.hpp>
#include <encore/error_name.hpp>
#include <encore/ingredient.hpp>
#include <encore/thrown.hpp>
#include <encore/unretryable.hpp>

#include <concepts>
#include <exception>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

/// Has `P` an opinion on failures of this kind: a `Thrown`, or a `Returned<V>`?
template <class P, class Failed>
concept Judges = requires(const P& predicate, const Failed& failure) {
  { predicate.matches(failure) } -> std::convertible_to<bool>;
};
/// Has it one on exceptions?
template <class P>
concept JudgesExceptions = Judges<P, Thrown>;
/// Has it one on returned values of this type?
template <class P, class Value>
concept JudgesValues = Judges<P, Returned<Value>>;
/// Does `P` look at returned values of some type?
template <class P>
inline constexpr bool looks_at_values = requires { requires P::looks_at_values; };

/// Says of a failed attempt whether another one may help: `matches(const Thrown&)` of exceptions, `matches(const
/// Returned<V>&)` of values; a predicate may know one kind or both. Asked again for each failure, from any thread;
/// it may throw, which stops the call (B7).
template <class P>
concept Predicate = Plays<P, role::Predicate> && (JudgesExceptions<P> || looks_at_values<P>);

namespace detail {

/// Does a list of types that names `Listed` gain nothing by naming `E` too? Unless `E` is the one with a hint or a name.
template <class Listed, class E>
inline constexpr bool covers = catches<Listed, E> && (CarriesHint<Listed> || !CarriesHint<E>) &&
                               (!error_name<Listed>.empty() || error_name<E>.empty());
template <class E, class... Listed>
concept ListedOnce = (0 + ... + int{covers<Listed, E>}) == 1;

}  // namespace detail

/// Retries exactly what a `catch` clause of one of these types would catch. A type whose base is listed too does not compile,
/// unless it is the one that carries a hint or has a registered name. (B2)
template <class... E>
struct RetryOn {
  using role = encore::role::Predicate;
  static_assert((detail::ListedOnce<E, E...> && ...),
                "RetryOn names a type that another one in its list covers already, as a catch clause of its "
                "base does: leave "
                "one of them out");
  static constexpr bool types_only = true;  // reads nothing of the call
  static constexpr bool rules_out_never = (detail::never_cannot_match<E> && ...);

  // What is cheap first: a cast that finds nothing costs most.
  bool matches([[maybe_unused]] const Thrown& failure) const noexcept {
    return (failure.is_just<E>() || ...) || (failure.is<E>() || ...);
  }

  template <class Never>
  static constexpr bool can_retry = (!Never::template cover<E> || ...);

  /// The hint of the first listed type that matches and carries one. (E5)
  std::optional<Duration> hint([[maybe_unused]] const Thrown& failure, [[maybe_unused]] const Now& now) const
    requires((CarriesHint<E> || ...))
  {
    auto found = detail::no_hint;
    (look<E>(failure, now, found) || ...);
    return found;
  }
  /// The registered name of the first listed type that matches and has one.
  std::string_view name([[maybe_unused]] const Thrown& failure) const noexcept
    requires((!error_name<E>.empty() || ...))
  {
    std::string_view found;
    ((!error_name<E>.empty() && failure.is<E>() && (found = error_name<E>, true)) || ...);
    return found;
  }

 private:
  template <class X>
  static bool look(const Thrown& failure, const Now& now, std::optional<Duration>& found) {
    if constexpr (CarriesHint<X>) failure.with<X>([&](const X& error) { found = hint_of(error, now); });
    return found.has_value();
  }
};
static_assert(Predicate<RetryOn<std::exception>>);

/// Retries every exception, programming errors included: rarely what you want.
struct RetryOnEveryException {
  using role = encore::role::Predicate;
  static constexpr bool types_only = true;
  bool matches(const Thrown&) const noexcept { return true; }
};
static_assert(Predicate<RetryOnEveryException>);

namespace detail {

// What compositions hand on from their parts: hints and registered names.
template <class P>
std::optional<Duration> hint_by(const P& predicate, const Thrown& failure, const Now& now) {
  if constexpr (requires { predicate.hint(failure, now); })
    return predicate.hint(failure, now);
  else
    return no_hint;
}
template <class P>
std::string_view name_by(const P& predicate, const Thrown& failure) {
  if constexpr (requires { predicate.name(failure); })
    return predicate.name(failure);
  else
    return {};
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
struct NeverLists<Plus<List...>> {
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

/// The kinds of failure that a predicate can be asked about under a callable that returns `V`. Refuses what cannot be meant.
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
/// Refuses a test that is part of `P` and is never asked, though its author meant it to be.
template <class P, class V>
consteval void refuse_misfits_of() {
  if constexpr (requires { P::template refuse_misfit<V>(); }) P::template refuse_misfit<V>();
}

}  // namespace detail

template <class L, class R>
struct EitherPredicate;
template <class L, class R>
struct BothPredicates;
template <class P>
struct NotPredicate;

namespace detail {
// Their definitions are for who joins predicates.
template <class Combined, class... P>
constexpr auto combined(P&&... predicates) {
  constexpr bool known = requires { sizeof(Combined); };
  static_assert(known, "predicates are joined, or negated, with: #include <encore/combined_predicates.hpp>");
  if constexpr (known) return Combined{{std::move(predicates)...}};
}
}  // namespace detail

/// Retries what either would: `RetryOn<TimeoutError>{} || RetryIfResult{is_busy}`. (B6)
template <Predicate L, Predicate R>
constexpr auto operator||(L left, R right) {
  return detail::combined<EitherPredicate<L, R>>(std::move(left), std::move(right));
}
/// Retries what both would.
template <Predicate L, Predicate R>
constexpr auto operator&&(L left, R right) {
  return detail::combined<BothPredicates<L, R>>(std::move(left), std::move(right));
}
/// Retries what it has an opinion on and would not retry: `!RetryOn<InvalidArgument>{}` is every exception but these, `!RetryIf{…}`
/// what its function was asked about and said no to. (B9)
template <Predicate P>
constexpr auto operator!(P predicate) {
  return detail::combined<NotPredicate<P>>(std::move(predicate));
}

}  // namespace encore ENCORE_BUILD
