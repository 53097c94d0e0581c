// What the options of a policy must satisfy. Each refusal is a compile error that says what to do.
#pragma once
#include <encore/attempt.hpp>
#include <encore/backoff.hpp>
#include <encore/clock.hpp>
#include <encore/engine/deferred.hpp>
#include <encore/engine/failure_strategy.hpp>
#include <encore/engine/options.hpp>
#include <encore/jitter.hpp>
#include <encore/option.hpp>
#include <encore/predicate.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD::detail {

/// A stored option as a policy sees it: the policy is const, and so is what it stores by value.
template <class T>
using AsSeen = std::remove_reference_t<decltype(std::declval<const Storage<T>&>().get())>;

/// Does it keep the promise of its role when it is used as a `Seen`?
template <class Seen, class Role>
inline constexpr bool keeps_promise = true;
template <class Seen>
inline constexpr bool keeps_promise<Seen, role::Clock> = Clock<Seen>;
template <class Seen>
inline constexpr bool keeps_promise<Seen, role::Predicate> = Predicate<std::remove_cv_t<Seen>>;
template <class Seen>
inline constexpr bool keeps_promise<Seen, role::Backoff> = Backoff<std::remove_cv_t<Seen>>;
template <class Seen>
inline constexpr bool keeps_promise<Seen, role::Jitter> = Jitter<std::remove_cv_t<Seen>>;
template <class Seen>
inline constexpr bool keeps_promise<Seen, role::OnFailure> = FailureStrategy<std::remove_cv_t<Seen>>;
/// The permits of a call: a type that is known with the guards' header.
template <class Guards>
struct permits_for;
template <>
struct permits_for<Pack<>> {
  struct type {  // stands for itself and for the room for it
    void make() const noexcept {}
    type& get() noexcept { return *this; }
  };
};

/// What guards add to a call: known with the guards' header.
template <class Policy>
struct Guarding;

/// An observer that is notified: a type that is known with the observers' header.
template <class O>
struct NotifiedObserver;

/// Is the header included that a type in this role needs?
template <class T, class Role = role_of<T>>
inline constexpr bool is_known = true;
template <class T>
inline constexpr bool is_known<T, role::Guard> = requires { sizeof(permits_for<Pack<Storage<T>>>); };
template <class T>
inline constexpr bool is_known<T, role::Observer> = requires { sizeof(NotifiedObserver<T>); };

/// What a type that takes a role must have, in words. Always true: the compile errors are inside.
template <class T>
consteval bool has_what_its_role_needs() {
  using Value = std::remove_cvref_t<T>;
  using Role = role_of<T>;
  constexpr auto keeps = keeps_promise<AsSeen<T>, Role>;
  constexpr auto would_keep = keeps_promise<Value, Role>;  // if it need not be const
  static_assert((keeps || !would_keep) && (std::is_lvalue_reference_v<T> || std::move_constructible<T>),
                "a clock, observer or guard that changes as it is used, or cannot be moved, is held by "
                "reference, and a temporary one would dangle: give it a name, and if it can be copied, give "
                "the policy std::ref(it)");
  static_assert(is_known<T> || !std::same_as<Role, role::Guard>,
                "a policy with a guard needs: #include <encore/guard/guard.hpp>");
  static_assert(is_known<T> || !std::same_as<Role, role::Observer>,
                "a policy with an observer needs: #include <encore/observer.hpp>");
  constexpr bool outcome_is_known = !std::same_as<Value, ReturnOutcome> || OutcomeIsKnown<T>;
  static_assert(outcome_is_known, "ReturnOutcome needs: #include <encore/outcome.hpp>");
  if constexpr (!would_keep) {
    static_assert(!std::same_as<Role, role::Clock>,
                  "this clock does not satisfy encore::Clock: it needs `encore::TimePoint now()`, "
                  "`encore::WallTime wall()` and "
                  "`sleep_for(encore::Duration, const encore::StopView&)`");
    static_assert(!std::same_as<Role, role::Predicate>,
                  "this predicate does not satisfy encore::Predicate: it needs `bool matches(const "
                  "encore::Thrown&) const`, or `static constexpr "
                  "bool looks_at_values = true` and a `matches` for `const encore::Returned<Value>&`");
    static_assert(!std::same_as<Role, role::Backoff>,
                  "this backoff does not satisfy encore::Backoff: it needs `encore::Duration operator()(int "
                  "retry) const`");
    static_assert(!std::same_as<Role, role::Jitter>,
                  "this jitter does not satisfy encore::Jitter: it needs `encore::Duration operator()(const "
                  "encore::JitterInput&) const`");
    static_assert(!std::same_as<Role, role::OnFailure>,
                  "this failure strategy does not satisfy encore::FailureStrategy: it needs `mode`, "
                  "`template <class R> using result` and "
                  "`failed<R>(Failure&&) const`");
  }
  if constexpr (keeps) {
    using Seen = AsSeen<T>;
    constexpr bool answers = !std::same_as<Role, role::OnFailure> || std::same_as<Value, Rethrow> ||
                             !outcome_is_known ||
                             requires { sizeof(std::enable_if_t<!std::is_void_v<T>, Failure>); };
    static_assert(answers, "a policy with a failure strategy needs: #include <encore/failure.hpp>");
    if constexpr (std::same_as<Role, role::Clock>)
      static_assert(
          !Deferred<decltype(std::declval<Seen&>().sleep_for(Duration{}, std::declval<const StopView&>()))>,
          "this clock's sleep_for returns a coroutine or future that nobody awaits, so no wait "
          "would be made: a clock blocks its thread, and co_run takes a sleeper beside it");
  }
  return true;
}

/// True if a policy uses it. An option of another layer, as `Repeatable`, would be ignored.
template <class G>
inline constexpr bool is_an_option = false;
template <Option G>
inline constexpr bool is_an_option<G> =
    is_single<role_of<G>> || is_many<role_of<G>> || shared::HasRole<G, role::Settings>;

template <class G>
concept Lasts = !shared::would_dangle<G>;
template <class G>
concept IsAnOption = is_an_option<G>;
template <class G>
inline constexpr bool is_bare = !Option<G> && (std::is_arithmetic_v<std::remove_cvref_t<G>> ||
                                               requires { typename std::remove_cvref_t<G>::period; });
template <class G>
concept SaysWhatItLimits = !is_bare<G>;

template <class G, class Slots>
inline constexpr bool has_place_for = std::is_constructible_v<find_t<role_of<G>, Slots>, G>;
template <class G, class Slots>
  requires is_many<role_of<G>>
inline constexpr bool has_place_for<G, Slots> = true;  // of those all are compared
/// Has a policy with these slots a place for all that is given? Where its type was deduced it has.
template <class Slots, class Given>
inline constexpr bool has_places_for = false;
template <class... T, class... G>
inline constexpr bool has_places_for<Options<T...>, Options<G...>> =
    (has_place_for<G, Options<T...>> && ...) &&
    std::same_as<all_of_t<role::Never, Options<T...>>, all_of_t<role::Never, Options<G...>>> &&
    std::same_as<all_of_t<role::Observer, Options<T...>>, all_of_t<role::Observer, Options<G...>>> &&
    std::same_as<all_of_t<role::Guard, Options<T...>>, all_of_t<role::Guard, Options<G...>>>;
template <class Slots, class Given>
concept HasPlacesFor = has_places_for<Slots, Given>;

template <class Role, class Given>
consteval void refuse_two_of() {
  static_assert(TakesOne<Role, Given> || !std::same_as<Role, role::Predicate>,
                "a RetryPolicy takes one predicate: join two with ||");
  static_assert(
      TakesOne<Role, Given> || std::same_as<Role, role::Predicate>,
      "a RetryPolicy takes one option of each kind, and two of these are of the same: leave one out, "
      "or do both in one function (RetrySettings counts as several)");
}

/// Refuses options without a role, roles given twice, and what could be stored in two ways.
template <class... G>
consteval void check_options() {
  static_assert(
      (Lasts<G> && ...),
      "a clock, observer or guard that cannot be moved is held by reference, and a temporary one would "
      "dangle: give it a name");
  static_assert((says_how_it_is_held<G>() && ...));
  if constexpr (!(SaysWhatItLimits<G> && ...))
    static_assert((SaysWhatItLimits<G> && ...),
                  "a bare number or duration does not say what it limits: MaxRetries{3}, TimeBudget{3s}");
  else
    static_assert((IsAnOption<G> && ...),
                  "one of these has no role in a RetryPolicy: an option names its role (`using role = "
                  "encore::role::Backoff;`) or is a callable that takes `const encore::Event&`");
  static_assert(how_many<role::Settings, Options<G...>> <= 1,
                "a RetryPolicy takes one RetrySettings: set the fields of one");
  if constexpr ((is_an_option<G> && ...) && how_many<role::Settings, Options<G...>> <= 1) {
    using Given = opened_t<G...>;
    []<class... Role>(Options<Role...>) { (refuse_two_of<Role, Given>(), ...); }(SingleRoles{});
  }
}

/// Where a policy that is made of these options begins: from nothing, or, once one of them was refused in words, from
/// nothing and without them, so that no more errors follow.
struct FromNothing {};
struct FromRefused {};
template <bool deduced, class Slots, class... G>
consteval auto beginning() {
  check_options<G...>();
  constexpr bool fits = [] {
    if constexpr (!((is_an_option<G> && Lasts<G>) && ...))
      return false;
    else if constexpr (deduced)
      return true;
    else {
      static_assert(
          HasPlacesFor<Slots, opened_t<G...>>,
          "this policy's type has no place for one of these options: name the option's type in it, "
          "RetryPolicy<Clock, Predicate, Options<TimeBudget>>, or let it be deduced, const RetryPolicy "
          "policy{...}");
      return HasPlacesFor<Slots, opened_t<G...>>;
    }
  }();
  return std::conditional_t<fits, FromNothing, FromRefused>{};
}

}  // namespace ENCORE_BUILD::detail
