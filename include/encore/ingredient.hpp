// Ingredients and their roles: a policy is a list of small values, in any order, and each says one thing.
#pragma once
#include <encore/address_of.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace encore {

struct Event;

/// The roles that an ingredient can play. A type of the user's own joins with one line: `using role = encore::role::Backoff;`
/// Observers, guards and never-lists may be many; each other role is played once.
namespace role {
struct Clock {};
struct Predicate {};
struct Never {};
struct CountLimit {};
struct TimeBudget {};
struct LeastAttemptTime {};
struct AttemptTimeout {};
struct BeforeRetry {};
struct Backoff {};
struct Jitter {};
struct HintSource {};
struct HintCap {};
struct OnFailure {};
struct Unmatched {};
struct Seed {};
struct Nesting {};
struct Fibers {};
struct InnerAttempts {};
struct Observer {};
struct Guard {};
struct Settings {};  ///< a bundle that plays several roles at once: `RetrySettings`
}  // namespace role

namespace detail {
template <class T>
struct role_of_type {};
template <class T>
  requires requires { typename T::role; }
struct role_of_type<T> {
  using type = typename T::role;
};
// Any callable that takes an event is an observer, with or without a role of its own. (F4)
template <class T>
  requires(!requires { typename T::role; } && std::invocable<T&, const Event&>)
struct role_of_type<T> {
  using type = role::Observer;
};
}  // namespace detail

/// The role of an ingredient, reference or not.
template <class T>
using role_of = typename detail::role_of_type<std::remove_cvref_t<T>>::type;

/// What a policy can be made of: a type that names its role, or a callable that takes an event.
template <class T>
concept Ingredient = requires { typename role_of<T>; };

namespace detail {
template <class T, class Role>
concept NamesRole = std::same_as<typename std::remove_cvref_t<T>::role, Role>;
}  // namespace detail

/// Does it play that role? Only of observers it is asked whether they can be called, which is dear to compile: the operators
/// of predicates ask it of whatever this library negates.
template <class T, class Role>
concept Plays = detail::NamesRole<T, Role> ||
                (std::same_as<Role, role::Observer> && Ingredient<T> && std::same_as<role_of<T>, Role>);

namespace detail {

template <class T>
inline constexpr bool is_shared_role =
    Plays<T, role::Clock> || Plays<T, role::Observer> || Plays<T, role::Guard>;

// An lvalue clock, observer or guard is held by reference, as is an lvalue of any type that cannot be copied; one without
// state is copied, which is the same to everybody. (F4)
template <class T>
inline constexpr bool held_by_reference =
    std::is_lvalue_reference_v<T> &&
    (!std::copy_constructible<std::remove_cvref_t<T>> ||
     (is_shared_role<T> &&
      !(std::is_empty_v<std::remove_cvref_t<T>> && std::default_initializable<std::remove_cvref_t<T>>)));

template <class T>
inline constexpr bool would_dangle =
    !std::is_lvalue_reference_v<T> && !std::move_constructible<std::remove_cvref_t<T>>;

}  // namespace detail

/// What a policy keeps of an ingredient given as `T&&`: a reference or a value.
template <class T>
using Held =
    std::conditional_t<detail::held_by_reference<T>, std::remove_reference_t<T>&, std::remove_cvref_t<T>>;

namespace detail {

/// Keeps a `T` or a `T&` as a regular member: assignment rebinds a reference instead of assigning through it.
template <class T>
class Kept {
 public:
  template <class U>
  constexpr explicit Kept(std::in_place_t, U&& value) : value_(std::forward<U>(value)) {}
  constexpr const T& get() const noexcept { return value_; }

 private:
  [[no_unique_address]] T value_;
};
template <class T>
class Kept<T&> {
 public:
  constexpr explicit Kept(std::in_place_t, T& value) noexcept : value_{address_of(value)} {}
  constexpr T& get() const noexcept { return *value_; }

 private:
  T* value_;
};

}  // namespace detail

/// The ingredients of a policy beyond clock and predicate, in canonical order. `RetryPolicy<Clock, Predicate>` has none.
template <class... T>
struct Plus {};

}  // namespace encore
