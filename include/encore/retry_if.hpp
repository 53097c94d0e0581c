// Predicates from functions: on exceptions, messages and returned values.
#pragma once
#include <encore/detail/asked.hpp>
#include <encore/hint.hpp>
#include <encore/predicate.hpp>
#include <encore/thrown.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

/// Retries the failures for which the function returns true. The type of its only parameter decides what it is asked about: what
/// a `catch` clause of that type would take, without conversions, be it thrown, returned, or the error of a `std::expected`.
///   RetryIf{[](const HttpError& error) { return error.status >= 500; }}         an exception that is one, or such an error
///   RetryIf{[](const Response& response) { return response.status == 503; }}    what the callable returns
/// `const std::exception&` takes all standard exceptions, `const Thrown&` any exception with its attempt, `const Returned<V>&` a
/// value with its attempt. A generic function is asked about `std::exception`. On anything else it has no opinion, and neither
/// has its negation: `!RetryIf{…}` retries only failures for which the function returned false. A function that can never be
/// asked does not compile. (B6, B9)
template <class F>
struct RetryIf : detail::tested_value<F> {
  using role = encore::role::Predicate;
  static constexpr bool types_only = !detail::asks_about_the_attempt<F>;
  static_assert(detail::CanBeAskedOfExceptions<F>,
                "RetryIf calls its function, as const, with one argument: `const YourError&`, `const "
                "std::exception&`, `const encore::Thrown&`, or what the call returns");
  static_assert(detail::SaysYesOrNoOfExceptions<F>,
                "RetryIf's function says yes or no: it must return a bool");
  static constexpr bool looks_at_values = requires { typename detail::tested_value<F>::Tested; };
  F test;
  constexpr explicit RetryIf(F f) : test(std::move(f)) {}

  template <class Failed>
    requires detail::CanAsk<F, Failed>
  detail::Opinion opinion(const Failed& failure) const {
    return detail::opinion_by(test, failure);
  }
  template <class Failed>
    requires detail::CanAsk<F, Failed>
  bool matches(const Failed& failure) const {
    return opinion(failure) == detail::Opinion::yes;
  }

  std::optional<Duration> hint(const Thrown& failure, const Now& now) const {
    auto found = detail::no_hint;
    if constexpr (detail::HasOnlyArgument<F>) {
      using E = detail::only_argument_of<F>;
      if constexpr (CarriesHint<E>) failure.with<E>([&](const E& error) { found = hint_of(error, now); });
    }
    return found;
  }

  template <class V>
  static consteval void refuse_misfit() {
    detail::refuse_misfit<F, V>();
  }
  template <class V>
  static consteval detail::Kinds kinds() {
    return detail::kinds_of_test<F, V>();
  }
};

/// Retries the returned values for which the function returns true. The function takes the value, or `const Returned<V>&` to see
/// the attempt too, or the error of a `std::expected`, as in `RetryIf`; a generic function is asked about any value. Such a
/// value is a failure. (B8, B9)
template <class F>
struct RetryIfResult : detail::tested_value<F> {
  using role = encore::role::Predicate;
  // Instantiating a generic test may show that it looks at the attempt.
  static constexpr bool types_only = detail::HasOnlyArgument<F> && !detail::asks_about_the_attempt<F>;
  static constexpr bool looks_at_values = true;
  static_assert(detail::CanBeAsked<F>,
                "RetryIfResult calls its function, as const, with one argument: what the call returns");
  static_assert(detail::SaysYesOrNo<F>, "RetryIfResult's function says yes or no: it must return a bool");
  F test;
  constexpr explicit RetryIfResult(F f) : test(std::move(f)) {}

  template <class Value>
    requires detail::AskedAbout<F, Value, detail::Generic::about_values>
  detail::Opinion opinion(const Returned<Value>& failure) const {
    return detail::opinion_by<detail::Generic::about_values>(test, failure);
  }
  template <class Value>
    requires detail::AskedAbout<F, Value, detail::Generic::about_values>
  bool matches(const Returned<Value>& failure) const {
    return opinion(failure) == detail::Opinion::yes;
  }

  template <class V>
  static consteval void refuse_misfit() {
    detail::refuse_misfit<F, V, detail::Generic::about_values>();
  }
};

/// Retries results without a value: an empty `std::optional`, or a `std::expected` or `Outcome` with an error.
struct RetryIfNoValue {
  using role = encore::role::Predicate;
  static constexpr bool looks_at_values = true;
  static constexpr bool types_only = true;  // does not depend on the call
  template <class Value>
    requires requires(const Value& result) {
      { result.has_value() } -> std::convertible_to<bool>;
    }
  bool matches(const Returned<Value>& failure) const {
    return !failure.value.has_value();
  }
};

/// Retries results like `std::expected` for whose error the function returns true. The error's type must be exactly the
/// parameter's. It has no opinion on a result with a value.
template <class F>
struct RetryIfErrorValue {
  using role = encore::role::Predicate;
  static constexpr bool looks_at_values = true;
  static constexpr bool types_only = true;  // does not depend on the call
  static_assert(detail::CanBeAsked<F>,
                "RetryIfErrorValue calls its function, as const, with one argument: the error in what the "
                "call returns");
  static_assert(detail::SaysYesOrNo<F>, "RetryIfErrorValue's function says yes or no: it must return a bool");
  F test;
  constexpr explicit RetryIfErrorValue(F f) : test(std::move(f)) {}

  template <detail::HoldsError Value>
    requires detail::AskedAbout<F, detail::error_in<Value>, detail::Generic::about_values>
  detail::Opinion opinion(const Returned<Value>& failure) const {
    return failure.value.has_value() ? detail::Opinion::none : detail::opinion(test(failure.value.error()));
  }
  template <detail::HoldsError Value>
    requires detail::AskedAbout<F, detail::error_in<Value>, detail::Generic::about_values>
  bool matches(const Returned<Value>& failure) const {
    return opinion(failure) == detail::Opinion::yes;
  }

  template <class V>
  static consteval void refuse_misfit() {
    if constexpr (detail::HoldsError<V>)
      detail::refuse_misfit<F, detail::error_in<V>, detail::Generic::about_values>();
  }
};

/// Retries exceptions whose message contains a text (exact, case-sensitive match). A last resort: messages change without
/// notice. The text is not copied: pass a literal.
struct RetryIfMessageContains {
  using role = encore::role::Predicate;
  static constexpr bool types_only = true;  // does not depend on the call
  std::string_view text{};
  bool matches(const Thrown& failure) const noexcept {
    return failure.error() != nullptr &&
           std::string_view{failure.what()}.find(text) != std::string_view::npos;
  }
};

static_assert(Predicate<RetryIfNoValue> && Predicate<RetryIfMessageContains>);

}  // namespace encore ENCORE_BUILD
