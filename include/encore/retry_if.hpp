// Predicates from functions: on exceptions, on messages and on returned values.
#pragma once
#include <encore/failure.hpp>
#include <encore/hint.hpp>
#include <encore/predicate.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace encore {

namespace detail {

// Does a test take more than the exception or the value: a whole failure, with its attempt?
template <class T>
inline constexpr bool is_whole_failure = std::same_as<T, Thrown>;
template <class Value>
inline constexpr bool is_whole_failure<Returned<Value>> = true;
template <class F>
inline constexpr bool asks_about_the_attempt = false;
template <HasOnlyArgument F>
inline constexpr bool asks_about_the_attempt<F> = is_whole_failure<only_argument_of<F>>;

// Asks `test` about an exception: of the type its one argument names, or of the whole failure. A test with several call
// operators, or a generic one, is asked about `std::exception`.
template <class F>
bool holds_for(const F& test, const Thrown& failure) {
  auto holds = false;
  if constexpr (HasOnlyArgument<F>) {
    using E = only_argument_of<F>;
    if constexpr (std::same_as<E, Thrown>)
      holds = test(failure);
    else
      failure.with<E>([&](const auto& error) { holds = test(error); });
  } else {
    failure.with<std::exception>([&](const std::exception& error) { holds = test(error); });
  }
  return holds;
}

// The value itself is tried first: a generic test is meant for it.
template <class F, class Value>
concept TestsValue =
    std::predicate<const F&, const Value&> || std::predicate<const F&, const Returned<Value>&>;

template <class F, class Value>
bool holds_for(const F& test, const Returned<Value>& failure) {
  if constexpr (std::predicate<const F&, const Value&>)
    return test(failure.value);
  else
    return test(failure);
}

}  // namespace detail

/// Retries the exceptions for which a function says yes. Its one argument says which: `RetryIf{[](const HttpError& e) {
/// return e.status >= 500; }}`; `const std::exception&` for all of them, `const Thrown&` for the attempt as well. (B6)
template <class F>
struct RetryIf {
  using role = encore::role::Predicate;
  static constexpr bool types_only = !detail::asks_about_the_attempt<F>;
  static_assert(detail::can_be_asked<F>,
                "RetryIf calls its function, as const, with one argument: `const YourError&`, `const "
                "std::exception&` or "
                "`const encore::Thrown&`");
  F test;
  constexpr explicit RetryIf(F f) : test(std::move(f)) {}

  bool matches(const Thrown& failure) const { return detail::holds_for(test, failure); }

  std::optional<Duration> hint(const Thrown& failure, const Now& now) const {
    auto found = detail::no_hint;
    if constexpr (detail::HasOnlyArgument<F>) {
      using E = detail::only_argument_of<F>;
      if constexpr (CarriesHint<E>) failure.with<E>([&](const E& error) { found = hint_of(error, now); });
    }
    return found;
  }
};

/// Retries the returned values for which a function says yes; it takes the value, or `const Returned<V>&` for the attempt as
/// well. Such a value is a failure; every other one is a success. (B8)
template <class F>
struct RetryIfResult {
  using role = encore::role::Predicate;
  // A generic test may turn out to look at the attempt.
  static constexpr bool types_only = detail::HasOnlyArgument<F> && !detail::asks_about_the_attempt<F>;
  static constexpr bool looks_at_values = true;
  F test;
  constexpr explicit RetryIfResult(F f) : test(std::move(f)) {}

  template <class Value>
    requires detail::TestsValue<F, Value>
  bool matches(const Returned<Value>& failure) const {
    return detail::holds_for(test, failure);
  }
};

/// Retries results that have no value: an empty `std::optional`, a `std::expected` or an `Outcome` with an error.
struct RetryIfNoValue {
  using role = encore::role::Predicate;
  static constexpr bool looks_at_values = true;
  static constexpr bool types_only = true;  // reads nothing of the call
  template <class Value>
    requires requires(const Value& result) {
      { result.has_value() } -> std::convertible_to<bool>;
    }
  bool matches(const Returned<Value>& failure) const {
    return !failure.value.has_value();
  }
};

/// Retries results like `std::expected` whose error a function accepts.
template <class F>
struct RetryIfErrorValue {
  using role = encore::role::Predicate;
  static constexpr bool looks_at_values = true;
  static constexpr bool types_only = true;  // reads nothing of the call
  F test;
  constexpr explicit RetryIfErrorValue(F f) : test(std::move(f)) {}

  template <class Value>
    requires requires(const F& f, const Value& result) {
      { result.has_value() } -> std::convertible_to<bool>;
      { f(result.error()) } -> std::convertible_to<bool>;
    }
  bool matches(const Returned<Value>& failure) const {
    return !failure.value.has_value() && test(failure.value.error());
  }
};

/// Retries exceptions whose message contains a text, letter for letter. A last resort: messages change without notice.
/// The text is viewed, not copied: give a literal.
struct RetryIfMessageContains {
  using role = encore::role::Predicate;
  static constexpr bool types_only = true;  // reads nothing of the call
  std::string_view text{};
  bool matches(const Thrown& failure) const noexcept {
    return failure.error() != nullptr &&
           std::string_view{failure.what()}.find(text) != std::string_view::npos;
  }
};

static_assert(Predicate<RetryIfNoValue> && Predicate<RetryIfMessageContains>);

}  // namespace encore
