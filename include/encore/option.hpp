// Options and their roles: a policy is a list of small values, in any order, and each says one thing.
#pragma once
#include <encore/detail/address_of.hpp>
#include <encore/detail/attributes.hpp>

#include <concepts>
#include <new>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {
struct Event;
}

namespace encore {

/// The roles that an option can have. A type of the user's own joins with one line: `using role = encore::role::Backoff;`
/// Observers, guards and never-lists may be many; every other role is given once.
namespace role {
struct Clock {};
struct Predicate {};
struct Never {};
struct CountLimit {};
struct TimeBudget {};
struct MinAttemptTime {};
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
struct FailureTest {};
struct WhenRefused {};
struct Observer {};
struct Guard {};
struct Settings {};  ///< a bundle for several roles at once: `RetrySettings`
}  // namespace role

namespace shared {

/// `std::reference_wrapper`, by its interface: naming it would take a header that is dear to include.
template <class T>
concept SharesByReference = requires(const T& shared) {
  typename T::type;
  { shared.get() } -> std::same_as<typename T::type&>;
  requires std::convertible_to<const T&, typename T::type&>;
};
template <class T>
struct meant : std::type_identity<T> {};
template <SharesByReference T>
struct meant<T> : std::remove_cv<typename T::type> {};
/// The option's own type: of a reference, or of `std::ref(option)`, what it refers to.
template <class T>
using Meant = typename meant<std::remove_cvref_t<T>>::type;

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
}  // namespace shared

/// The role of an option, reference or not.
template <class T>
using role_of = typename shared::role_of_type<shared::Meant<T>>::type;

/// What a policy can be made of: a type that names its role, or a callable that takes an event.
template <class T>
concept Option = requires { typename role_of<T>; };

namespace shared {
template <class T, class Role>
concept NamesRole = std::same_as<typename Meant<T>::role, Role>;

/// Does it have that role? Only for observers this asks whether they can be called, which is dear to compile: the operators
/// of predicates ask it of whatever this library negates.
template <class T, class Role>
concept HasRole =
    NamesRole<T, Role> || (std::same_as<Role, role::Observer> && Option<T> && std::same_as<role_of<T>, Role>);

// A named object that could be copied as well as shared, where the two are not the same: whoever gives it says which. A copy
// of an observer is as good as the observer, if it can be called as const; a clock or guard without state has nothing to share.
template <class T>
inline constexpr bool copied_or_shared = [] {
  using Value = std::remove_cvref_t<T>;
  if constexpr (!std::is_lvalue_reference_v<T> || !std::copy_constructible<Value> || SharesByReference<Value>)
    return false;
  else if constexpr (HasRole<T, role::Observer>)
    return !std::invocable<const Value&, const Event&>;
  else
    return (HasRole<T, role::Clock> || HasRole<T, role::Guard>) &&
           !(std::is_empty_v<Value> && std::default_initializable<Value>);
}();

/// Refuses what could be held in two ways. Always true: the compile errors are inside.
template <class T>
consteval bool says_how_it_is_held() {
  static_assert(!copied_or_shared<T> || !HasRole<T, role::Observer>,
                "this named observer can be copied, but changes as it is called, so that copies would go "
                "different ways: std::ref(observer) shares it, or make its call operator const");
  static_assert(!copied_or_shared<T> || HasRole<T, role::Observer>,
                "this named clock or guard has state and can be copied: std::ref(it) shares it with the "
                "policy, std::move(it) gives it away");
  return true;
}

template <class T>
inline constexpr bool held_by_reference =
    std::is_lvalue_reference_v<T> && !std::copy_constructible<std::remove_cvref_t<T>>;

template <class T>
inline constexpr bool would_dangle =
    !std::is_lvalue_reference_v<T> && !std::move_constructible<std::remove_cvref_t<T>>;

template <class T>
struct stored_of : std::type_identity<std::remove_cvref_t<T>> {};
template <class T>
  requires(held_by_reference<T> || copied_or_shared<T>)
struct stored_of<T> : std::type_identity<T> {};
template <class T>
  requires SharesByReference<std::remove_cvref_t<T>>
struct stored_of<T> : std::type_identity<typename std::remove_cvref_t<T>::type&> {};

/// What a policy stores of an option given as `T&&`: a value, or a reference to what cannot be copied or came as `std::ref`.
/// (F4)
template <class T>
using StoredOf = typename stored_of<T>::type;

/// Can it be given a new value as it is? A lambda with a capture cannot.
template <class T>
inline constexpr bool is_assignable =
    !std::move_constructible<T> ||
    (std::is_move_assignable_v<T> && (std::is_copy_assignable_v<T> || !std::copy_constructible<T>));

/// Keeps a `T` or a `T&` as a regular member: assignment rebinds a reference instead of assigning through it, and replaces a
/// value that cannot be assigned. If moving that throws, it ends the program: there would be nothing left to go on with.
template <class T>
class Storage {
 public:
  template <class U>
  constexpr explicit Storage(std::in_place_t, U&& value) : value_(std::forward<U>(value)) {}
  constexpr const T& get() const noexcept { return value_; }

 private:
  [[no_unique_address]] T value_;
};
template <class T>
  requires(!std::is_reference_v<T> && !is_assignable<T>)
class Storage<T> {
 public:
  template <class U>
  constexpr explicit Storage(std::in_place_t, U&& value) : value_(std::forward<U>(value)) {}
  Storage(const Storage&) = default;
  Storage(Storage&&) = default;
  Storage& operator=(const Storage& other)
    requires std::copy_constructible<T>
  {
    return *this = Storage{other};
  }
  Storage& operator=(Storage&& other) noexcept {
    if (this == shared::address_of(other)) return *this;
    value_.~T();
    ::new (static_cast<void*>(shared::address_of(value_))) T(std::move(other.value_));
    return *this;
  }
  constexpr const T& get() const noexcept { return value_; }

 private:
  T value_;  // has its address to itself, padding included: it is made anew in its place
};
template <class T>
class Storage<T&> {
 public:
  constexpr explicit Storage(std::in_place_t, T& value) noexcept : value_{address_of(value)} {}
  constexpr T& get() const noexcept { return *value_; }

 private:
  T* value_;
};

}  // namespace shared

/// The options of a policy beyond clock and predicate, in canonical order. `RetryPolicy<Clock, Predicate>` has none.
template <class... T>
struct Options {};

}  // namespace encore
