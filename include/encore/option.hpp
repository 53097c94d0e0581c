// Options and their roles: a policy is a list of small values in any order, each of which sets one thing.
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

/// The roles that an option can have. A user-defined type gets one by one line: `using role = encore::role::Backoff;`
/// A policy takes any number of observers, guards and never-lists, and one option of every other role.
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
struct Settings {};  ///< options for several roles at once: `RetrySettings`
}  // namespace role

namespace shared {

/// Detects `std::reference_wrapper` by its interface, because its header is slow to compile.
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
/// The option's own type; for a reference or `std::ref(option)`, the type it refers to.
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

/// What a policy accepts: a type that names its role, or a callable that takes an event.
template <class T>
concept Option = requires { typename role_of<T>; };

namespace shared {
template <class T, class Role>
concept NamesRole = std::same_as<typename Meant<T>::role, Role>;

/// Whether it has that role. Only for observers does this check whether they can be called, which is slow to compile: the
/// operators of predicates use it on many types.
template <class T, class Role>
concept HasRole =
    NamesRole<T, Role> || (std::same_as<Role, role::Observer> && Option<T> && std::same_as<role_of<T>, Role>);

// True for a named object for which copying and sharing differ, so that the caller must choose. Observers callable as const
// can simply be copied; a clock or guard without state can too.
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

/// Rejects objects that could be either copied or shared. Always true: the compile errors are inside.
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

/// What a policy stores for an option given as `T&&`: a value, or a reference to what cannot be copied or was passed as
/// `std::ref`. (F4)
template <class T>
using StoredOf = typename stored_of<T>::type;

/// Whether it can be assigned. A lambda with a capture cannot.
template <class T>
inline constexpr bool is_assignable =
    !std::move_constructible<T> ||
    (std::is_move_assignable_v<T> && (std::is_copy_assignable_v<T> || !std::copy_constructible<T>));

/// Stores a `T` or a `T&` as an assignable member: assignment rebinds a reference instead of assigning through it, and replaces
/// a value that cannot be assigned. If moving that value throws, the program terminates, because no value would be left.
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
  T value_;  // never shares its address or padding with another member: it is reconstructed in place
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
