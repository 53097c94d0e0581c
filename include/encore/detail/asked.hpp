// Which failures a user's test applies to, and its result: the same rules wherever a test is given.
#pragma once
#include <encore/combined_predicates.hpp>
#include <encore/engine/asked_kinds.hpp>
#include <encore/returned.hpp>
#include <encore/thrown.hpp>

#include <concepts>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD::detail {

// The argument type of a function with one argument: `HttpError` for `RetryIf{[](const HttpError&) { … }}`.
template <class F>
struct only_argument {};
template <class F>
  requires requires { &F::operator(); }  // one call operator, which is no template
struct only_argument<F> : only_argument<decltype(&F::operator())> {};
template <class R, class A>
struct only_argument<R (*)(A)> : std::type_identity<std::remove_cvref_t<A>> {};
template <class R, class A>
struct only_argument<R (*)(A) noexcept> : std::type_identity<std::remove_cvref_t<A>> {};
template <class C, class R, class A>
struct only_argument<R (C::*)(A) const> : std::type_identity<std::remove_cvref_t<A>> {};
template <class C, class R, class A>
struct only_argument<R (C::*)(A) const noexcept> : std::type_identity<std::remove_cvref_t<A>> {};
template <class F>
using only_argument_of = typename only_argument<F>::type;

template <class F>
concept HasOnlyArgument = requires { typename only_argument_of<F>; };

// Can it be called as const with a const reference to its argument? Generic and overloaded tests are checked later.
template <class F>
inline constexpr bool can_be_asked = std::is_class_v<F> && !requires { &F::operator(); };
template <HasOnlyArgument F>
inline constexpr bool can_be_asked<F> = std::is_invocable_v<const F&, const only_argument_of<F>&>;
template <class F>
inline constexpr bool says_yes_or_no = true;
template <HasOnlyArgument F>
  requires can_be_asked<F>
inline constexpr bool says_yes_or_no<F> =
    std::is_convertible_v<std::invoke_result_t<const F&, const only_argument_of<F>&>, bool>;

// Concepts, because Clang's first error line does not quote the name of a failed concept.
template <class F>
concept CanBeAsked = can_be_asked<F>;
template <class F>
concept SaysYesOrNo = !can_be_asked<F> || says_yes_or_no<F>;
// A generic test on exceptions is called with `std::exception`.
template <class F>
concept CanBeAskedOfExceptions =
    can_be_asked<F> && (HasOnlyArgument<F> || std::is_invocable_v<const F&, const std::exception&>);
template <class F>
concept SaysYesOrNoOfExceptions =
    !CanBeAskedOfExceptions<F> ||
    (HasOnlyArgument<F> ? says_yes_or_no<F> : std::is_invocable_r_v<bool, const F&, const std::exception&>);

/// Is a type in a list covered by no other type in the list?
template <class E, class... Listed>
concept NamedOnce = (0 + ... + int{catches<Listed, E>}) == 1;

template <HoldsError V>
using error_in = std::remove_cvref_t<decltype(std::declval<const V&>().error())>;

// `Returned<V>` is the value with its attempt.
template <class T>
struct whole_value {};
template <class V>
struct whole_value<Returned<V>> : std::type_identity<V> {};
template <class T>
concept IsWholeValue = requires { typename whole_value<T>::type; };

// Does a test take a whole failure, with its attempt?
template <class F>
inline constexpr bool asks_about_the_attempt = false;
template <HasOnlyArgument F>
inline constexpr bool asks_about_the_attempt<F> =
    std::same_as<only_argument_of<F>, Thrown> || IsWholeValue<only_argument_of<F>>;

/// What a test without a single argument type applies to (it is generic or overloaded): exceptions, as `std::exception`, or returned
/// values, depending on the option that takes it.
enum class Generic : std::uint8_t { about_exceptions, about_values };

/// The part of a returned `V` that the test is called with.
enum class Subject : std::uint8_t { nothing, value, whole, error };

template <class F, class V, Generic generic>
consteval Subject subject_of() {
  if constexpr (HasOnlyArgument<F>) {
    using X = only_argument_of<F>;
    if constexpr (IsWholeValue<X>)
      return catches<typename whole_value<X>::type, V> ? Subject::whole : Subject::nothing;
    else if constexpr (catches<X, V>)
      return Subject::value;
    else if constexpr (HoldsError<V>)
      return catches<X, error_in<V>> ? Subject::error : Subject::nothing;
    else
      return Subject::nothing;
  } else if constexpr (generic == Generic::about_exceptions) {
    return Subject::nothing;
  } else {
    if constexpr (std::is_invocable_v<const F&, const V&>)
      return Subject::value;
    else
      return std::is_invocable_v<const F&, const Returned<V>&> ? Subject::whole : Subject::nothing;
  }
}
/// Does the test apply to what a callable returns?
template <class F, class V, Generic generic = Generic::about_exceptions>
concept AskedAbout = subject_of<F, V, generic>() != Subject::nothing;

/// Calls a test with an exception, if a catch clause of its argument's type would catch it, and `use` with the result. Returns
/// whether the test was called.
template <class F, class Use>
bool ask(const F& test, const Thrown& failure, Use&& use) {
  if constexpr (!HasOnlyArgument<F>) {
    return failure.with<std::exception>([&](const std::exception& error) { use(test(error)); });
  } else {
    using X = only_argument_of<F>;
    if constexpr (std::same_as<X, Thrown>)
      return use(test(failure)), true;
    else if constexpr (IsWholeValue<X>)
      return false;
    else
      return failure.with<X>([&](const auto& error) { use(test(error)); });
  }
}
/// The same for a returned value, or the error that it holds.
template <Generic generic = Generic::about_exceptions, class F, class V, class Use>
  requires AskedAbout<F, V, generic>
bool ask(const F& test, const Returned<V>& failure, Use&& use) {
  constexpr auto subject = subject_of<F, V, generic>();
  if constexpr (subject == Subject::error) {
    if (failure.value.has_value()) return false;
    use(test(failure.value.error()));
  } else if constexpr (subject == Subject::value) {
    use(test(failure.value));
  } else if constexpr (HasOnlyArgument<F>) {
    use(test(only_argument_of<F>{failure.value, failure.attempt}));
  } else {
    use(test(failure));
  }
  return true;
}
template <class F>
Opinion opinion_by(const F& test, const Thrown& failure) {
  auto said = Opinion::none;
  ask(test, failure, [&](bool yes) { said = opinion(yes); });
  return said;
}
template <Generic generic = Generic::about_exceptions, class F, class V>
Opinion opinion_by(const F& test, const Returned<V>& failure) {
  auto said = Opinion::none;
  ask<generic>(test, failure, [&](bool yes) { said = opinion(yes); });
  return said;
}

/// Does a test apply to such a failure, an exception or a `Returned<V>`?
template <class F, class Failed>
inline constexpr bool can_ask = false;
template <class F>
inline constexpr bool can_ask<F, Thrown> = true;
template <HasOnlyArgument F>
inline constexpr bool can_ask<F, Thrown> = !IsWholeValue<only_argument_of<F>>;
template <class F, class V>
inline constexpr bool can_ask<F, Returned<V>> = AskedAbout<F, V>;
template <class F, class Failed>
concept CanAsk = can_ask<F, Failed>;

/// The value type that a test's argument names, if any.
template <class F>
struct tested_value {};
template <HasOnlyArgument F>
  requires(!std::same_as<only_argument_of<F>, Thrown> && !IsWholeValue<only_argument_of<F>>)
struct tested_value<F> {
  using Tested = only_argument_of<F>;
};
template <HasOnlyArgument F>
  requires IsWholeValue<only_argument_of<F>>
struct tested_value<F> {
  using Tested = typename whole_value<only_argument_of<F>>::type;
};

// ---- tests that never apply ------------------------------------------------------------------------------------------ -----------------------------------------------------------------------------------

template <class V, class X>
inline constexpr bool is_alternative = false;
template <template <class...> class Variant, class... T, class X>
  requires requires(const Variant<T...>& variant) { variant.valueless_by_exception(); }
inline constexpr bool is_alternative<Variant<T...>, X> = (catches<X, T> || ...);
/// Does a result hold an `X`, as an optional, a pointer or a variant does, or convert to one? Then a test on `X` does not apply to it.
/// (Conversions to exceptions do not count: many exceptions are constructible from a number.)
template <class V, class X>
concept HoldsOrConvertsTo =
    (std::convertible_to<const V&, const X&> && !std::derived_from<X, std::exception>) ||
    is_alternative<V, X> || requires(const V& result) {
      requires std::is_object_v<std::remove_cvref_t<decltype(*result)>> &&
                   catches<X, std::remove_cvref_t<decltype(*result)>>;
    };

/// Is a test on `X` unrelated to `V`, the type that a callable returns?
template <class X, class V>
concept IsUnrelatedTo = !HoldsOrConvertsTo<V, X>;
/// Could it be thrown in this build?
template <class X>
concept MayBeThrown = exceptions_exist || !(std::derived_from<X, std::exception> || std::same_as<X, Thrown>);

/// Rejects a test that never applies, although its author probably meant it to.
template <class F, class V, Generic generic = Generic::about_exceptions>
consteval void refuse_misfit() {
  if constexpr (HasOnlyArgument<F>) {
    using X = only_argument_of<F>;
    if constexpr (std::is_void_v<V>) {
      static_assert(MayBeThrown<X>, "this test takes an exception, but this build has no exceptions");
    } else if constexpr (IsWholeValue<X>) {
      static_assert(
          AskedAbout<F, V, generic> || IsUnrelatedTo<typename whole_value<X>::type, V>,
          "this test does not apply to what the callable returns, which only holds the test's parameter or "
          "converts to it: let the test take the returned type itself");
    } else if constexpr (!AskedAbout<F, V, generic>) {
      static_assert(MayBeThrown<X>, "this test takes an exception, but this build has no exceptions");
      static_assert(
          std::same_as<X, Thrown> || IsUnrelatedTo<X, V>,
          "this test does not apply to what the callable returns, which only holds the test's parameter or "
          "converts to it: let the test take the returned type itself, or `const encore::Thrown&` for "
          "exceptions");
    }
  }
}

/// A test that could apply to both applies to returned values where it can, else to exceptions.
template <class F, class V>
consteval Kinds kinds_of_test() {
  if constexpr (!std::is_void_v<V>) {
    if constexpr (AskedAbout<F, V>) return {.values = true};
  }
  return {.exceptions = exceptions_exist && can_ask<F, Thrown>};
}

}  // namespace ENCORE_BUILD::detail
