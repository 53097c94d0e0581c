// Which failures deserve another attempt. There is no default: whoever writes a policy says so.
#pragma once
#include <encore/error_name.hpp>
#include <encore/failure.hpp>
#include <encore/hint.hpp>
#include <encore/ingredient.hpp>
#include <encore/unretryable.hpp>

#include <concepts>
#include <exception>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace encore {

/// Has `P` an opinion on exceptions?
template <class P>
concept JudgesExceptions = requires(const P& predicate, const Thrown& failure) {
  { predicate.matches(failure) } -> std::convertible_to<bool>;
};
/// Has `P` an opinion on returned values of this type?
template <class P, class Value>
concept JudgesValues = requires(const P& predicate, const Returned<Value>& failure) {
  { predicate.matches(failure) } -> std::convertible_to<bool>;
};
/// Does `P` look at returned values of some type? Then a result that it cannot look at is refused at compile time.
template <class P>
inline constexpr bool looks_at_values = requires { requires P::looks_at_values; };

/// Says of a failed attempt whether another one may help: `matches(const Thrown&)` of exceptions, `matches(const
/// Returned<V>&)` of values; a predicate may know one kind or both. Asked again for each failure, from any thread;
/// it may throw, which stops the call (B7).
template <class P>
concept Predicate = Plays<P, role::Predicate> && (JudgesExceptions<P> || looks_at_values<P>);

/// Retries exactly what a `catch` clause of one of these types would catch. (B2)
template <class... E>
struct RetryOn {
  using role = encore::role::Predicate;
  static constexpr bool types_only = true;  // reads nothing of the call
  static constexpr bool rules_out_never = (detail::never_cannot_match<E> && ...);

  // What is cheap first: the very types, then the bases of other listed ones. A cast that finds nothing costs most.
  bool matches([[maybe_unused]] const Thrown& failure) const noexcept {
    return (failure.is_just<E>() || ...) || ((widens<E> && failure.is<E>()) || ...) ||
           ((!widens<E> && failure.is<E>()) || ...);
  }

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
  static constexpr bool widens = ((std::derived_from<E, X> && !std::same_as<E, X>) || ...);
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

template <class L, class R>
struct Joined {
  using role = encore::role::Predicate;
  static constexpr bool looks_at_values = encore::looks_at_values<L> || encore::looks_at_values<R>;
  static constexpr bool types_only = detail::types_only<L> && detail::types_only<R>;
  static constexpr bool rules_out_never = detail::rules_out_never<L> && detail::rules_out_never<R>;
  [[no_unique_address]] L left;
  [[no_unique_address]] R right;

  std::optional<Duration> hint(const Thrown& failure, const Now& now) const {
    const auto found = hint_by(left, failure, now);
    return found ? found : hint_by(right, failure, now);
  }
  std::string_view name(const Thrown& failure) const {
    const auto found = name_by(left, failure);
    return found.empty() ? name_by(right, failure) : found;
  }
};

}  // namespace detail

// In a composition a part that has no opinion on this kind of failure is left out; if none has one, neither has the whole.

/// At least one of them matches.
template <class L, class R>
struct EitherPredicate : detail::Joined<L, R> {
  bool matches(const Thrown& failure) const
    requires(JudgesExceptions<L> || JudgesExceptions<R>)
  {
    if constexpr (JudgesExceptions<L>) {
      if (this->left.matches(failure)) return true;
    }
    if constexpr (JudgesExceptions<R>)
      return this->right.matches(failure);
    else
      return false;
  }
  template <class Value>
    requires(JudgesValues<L, Value> || JudgesValues<R, Value>)
  bool matches(const Returned<Value>& failure) const {
    if constexpr (JudgesValues<L, Value>) {
      if (this->left.matches(failure)) return true;
    }
    if constexpr (JudgesValues<R, Value>)
      return this->right.matches(failure);
    else
      return false;
  }
};

/// Both match.
template <class L, class R>
struct BothPredicates : detail::Joined<L, R> {
  bool matches(const Thrown& failure) const
    requires(JudgesExceptions<L> || JudgesExceptions<R>)
  {
    if constexpr (JudgesExceptions<L>) {
      if (!this->left.matches(failure)) return false;
    }
    if constexpr (JudgesExceptions<R>)
      return this->right.matches(failure);
    else
      return true;
  }
  template <class Value>
    requires(JudgesValues<L, Value> || JudgesValues<R, Value>)
  bool matches(const Returned<Value>& failure) const {
    if constexpr (JudgesValues<L, Value>) {
      if (!this->left.matches(failure)) return false;
    }
    if constexpr (JudgesValues<R, Value>)
      return this->right.matches(failure);
    else
      return true;
  }
};

/// It has an opinion, and does not match.
template <class P>
struct NotPredicate {
  using role = encore::role::Predicate;
  static constexpr bool looks_at_values = encore::looks_at_values<P>;
  static constexpr bool types_only = detail::types_only<P>;
  [[no_unique_address]] P negated;
  bool matches(const Thrown& failure) const
    requires JudgesExceptions<P>
  {
    return !negated.matches(failure);
  }
  template <class Value>
    requires JudgesValues<P, Value>
  bool matches(const Returned<Value>& failure) const {
    return !negated.matches(failure);
  }
};

/// Retries what either would: `RetryOn<TimeoutError>{} || RetryIfResult{is_busy}`. (B6)
template <Predicate L, Predicate R>
constexpr EitherPredicate<L, R> operator||(L left, R right) {
  return {{std::move(left), std::move(right)}};
}
/// Retries what both would.
template <Predicate L, Predicate R>
constexpr BothPredicates<L, R> operator&&(L left, R right) {
  static_assert(
      !((JudgesExceptions<L> && !looks_at_values<L> && !JudgesExceptions<R>) ||
        (JudgesExceptions<R> && !looks_at_values<R> && !JudgesExceptions<L>)),
      "one of these predicates looks at exceptions and the other at returned values, so no failure satisfies "
      "both: join them with ||");
  return {{std::move(left), std::move(right)}};
}
/// Retries what it would not: `!RetryOn<InvalidArgument>{}` is every exception but these.
template <Predicate P>
constexpr NotPredicate<P> operator!(P predicate) {
  return {std::move(predicate)};
}

}  // namespace encore
