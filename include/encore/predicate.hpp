// Which failures are retried. There is no default: every policy must say.
#pragma once
#include <encore/engine/asked_kinds.hpp>
#include <encore/engine/server_hint.hpp>
#include <encore/error_name.hpp>
#include <encore/option.hpp>
#include <encore/thrown.hpp>
#include <encore/unretryable.hpp>

#include <concepts>
#include <exception>
#include <optional>
#include <string_view>
#include <type_traits>

namespace encore ENCORE_BUILD {

/// Whether `P` has an opinion on failures of this kind: a `Thrown`, or a `Returned<V>`.
template <class P, class Failed>
concept Judges = requires(const P& predicate, const Failed& failure) {
  { predicate.matches(failure) } -> std::convertible_to<bool>;
};
/// Whether it has an opinion on exceptions.
template <class P>
concept JudgesExceptions = Judges<P, Thrown>;
/// Whether it has an opinion on returned values of this type.
template <class P, class Value>
concept JudgesValues = Judges<P, Returned<Value>>;
/// Whether `P` looks at returned values of some type.
template <class P>
inline constexpr bool looks_at_values = requires { requires P::looks_at_values; };

/// Decides whether a failed attempt may be retried: `matches(const Thrown&)` for exceptions, `matches(const Returned<V>&)` for
/// values; a predicate has one or both. Called for each failure, from any thread. If it throws, the call stops. (B7)
template <class P>
concept Predicate = shared::HasRole<P, role::Predicate> && (JudgesExceptions<P> || looks_at_values<P>);

namespace detail {

/// Whether `E` is redundant in a list that names `Listed`. It is not if only `E` carries a hint or has a registered name.
template <class Listed, class E>
inline constexpr bool covers = catches<Listed, E> && (CarriesHint<Listed> || !CarriesHint<E>) &&
                               (!error_name<Listed>.empty() || error_name<E>.empty());
template <class E, class... Listed>
concept ListedOnce = (0 + ... + int{covers<Listed, E>}) == 1;

}  // namespace detail

/// Retries exactly what a `catch` clause of one of these types would catch. Listing a type together with its base does not
/// compile, unless only the derived type carries a hint or has a registered name. (B2)
template <class... E>
struct RetryOn {
  using role = encore::role::Predicate;
  static_assert((detail::ListedOnce<E, E...> && ...),
                "RetryOn names a type that another one in its list covers already, as a catch clause of its "
                "base does: leave "
                "one of them out");
  static constexpr bool types_only = true;  // does not depend on the call
  static constexpr bool rules_out_never = (detail::never_cannot_match<E> && ...);

  // The cheapest test first: a cast that finds nothing is the most expensive.
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

/// Retries every exception, programming errors included: rarely the right choice.
struct RetryOnEveryException {
  using role = encore::role::Predicate;
  static constexpr bool types_only = true;
  bool matches(const Thrown&) const noexcept { return true; }
};
static_assert(Predicate<RetryOnEveryException>);

}  // namespace encore ENCORE_BUILD

#include <encore/engine/joined_predicates.hpp>  // `||`, `&&` and `!`
