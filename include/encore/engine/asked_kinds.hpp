// Which kinds of failure there are to be asked about, and which returned values are failures by themselves.
#pragma once
#include <encore/option.hpp>
#include <encore/thrown.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {
struct Failure;

namespace detail {

#if defined(__cpp_exceptions)
inline constexpr bool exceptions_exist = true;
#else
inline constexpr bool exceptions_exist = false;
#endif

/// Would a catch clause of an `X` take a `V`? It converts nothing but derived to base, and pointers. Asked by pointers, for `V` may
/// be incomplete: many handles are pointers to such.
template <class X, class V>
inline constexpr bool catches = std::convertible_to<const volatile V*, const volatile X*> ||
                                (std::is_pointer_v<X> && std::is_pointer_v<V> && std::convertible_to<V, X>);

/// The kinds of failure that something can be asked about, under one callable.
struct Kinds {
  bool exceptions = false;
  bool values = false;
  constexpr bool any() const noexcept { return exceptions || values; }
  friend constexpr Kinds operator|(Kinds a, Kinds b) noexcept {
    return {a.exceptions || b.exceptions, a.values || b.values};
  }
  friend constexpr Kinds operator&(Kinds a, Kinds b) noexcept {
    return {a.exceptions && b.exceptions, a.values && b.values};
  }
};

/// Results that hold a value or an error, as `std::expected` does.
template <class V>
concept HoldsError = requires(const V& result) {
  { result.has_value() } -> std::convertible_to<bool>;
  { result.error() } -> std::convertible_to<const std::remove_cvref_t<decltype(result.error())>&>;
};

/// Results that hold a value or a `Failure`, as `Outcome` does.
template <class V>
concept HoldsFailure = requires(const V& result) {
  { result.has_value() } -> std::convertible_to<bool>;
  { result.failure() } -> std::same_as<const Failure&>;
};

}  // namespace detail

/// The rule without `FailsIf`: a `std::expected` or an `Outcome` without a value is a failure. (B8)
struct FailsWithoutValue {
  using role = encore::role::FailureTest;
  template <class Value>
    requires(detail::HoldsError<Value> || detail::HoldsFailure<Value>)
  bool matches(const Returned<Value>& returned) const {
    return !returned.value.has_value();
  }
};

}  // namespace encore ENCORE_BUILD
