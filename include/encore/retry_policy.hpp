// The policy: how many attempts, for which failures, how long to wait, until when, and what the caller gets in the end.
#pragma once
#include <encore/call.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/engine/deferred.hpp>
#include <encore/engine/operation.hpp>
#include <encore/engine/options.hpp>
#include <encore/engine/options_check.hpp>
#include <encore/engine/policy_parts.hpp>
#include <encore/engine/repeated_callable.hpp>
#include <encore/engine/retry_loop.hpp>
#include <encore/refused.hpp>
#include <encore/setting.hpp>

#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

template <class Clock, class Predicate, class Rest = Options<>>
class RetryPolicy;
template <Backoff B, Jitter J>
class Schedule;
template <class Policy, class F>
class Wrapped;

namespace detail {
template <class>
inline constexpr bool is_policy = false;
template <class C, class P, class R>
inline constexpr bool is_policy<RetryPolicy<C, P, R>> = true;

// Single-condition concepts, which keep compile errors short.
template <class F>
concept CanBeKept = std::is_constructible_v<std::decay_t<F>, F>;
template <class Old, class New>
concept SameType = std::is_same_v<Old, New>;

/// The type of a policy made from these options.
template <class... G>
using deduced_t = RetryPolicy<find_t<role::Clock, opened_t<G...>>, find_t<role::Predicate, opened_t<G...>>,
                              canonical_t<opened_t<G...>>>;

struct Rebuilt {};  // selects the constructor that starts from another policy, or from nothing

}  // namespace detail

/// Retries calls. An immutable value made of options in any order. Thread-safe. (L1)
///   RetryPolicy policy{RetryOn<TimeoutError>{}, MaxRetries{2}, TimeBudget{5s}};
///   int units = policy.run({.id = "call-17", .name = "inventory_lookup"}, [&] { return inventory.lookup("A-17"); });
/// Only the predicate is required (B1). Defaults: 2 retries, or no limit on their number if only a time budget is given;
/// exponential backoff from 1 s by a factor of 2 to 60 s with 25 % proportional jitter; the last exception is rethrown (A1).
/// Options are copied or moved into the policy. An option that cannot be copied, such as a breaker or a fake clock, must be a
/// named object and is stored as a reference, as is one passed as `std::ref(it)`: it must outlive the policy. (F4)
template <class ClockT, class PredicateT, class... X>
class RetryPolicy<ClockT, PredicateT, Options<X...>>
    : detail::PolicyParts<ClockT, PredicateT, Options<X...>> {
  using Parts = detail::PolicyParts<ClockT, PredicateT, Options<X...>>;

 public:
  using Parts::clock, Parts::predicate, Parts::failure_strategy, Parts::backoff, Parts::jitter, Parts::seed;
  using Parts::hint_cap, Parts::time_budget, Parts::attempt_timeout, Parts::min_attempt_time;
  using Parts::max_retries, Parts::max_attempts, Parts::max_requests, Parts::inner_attempts, Parts::nested;
  using Parts::rethrows;  // the caller gets the last exception itself: true with `Rethrow`
  using typename Parts::BackoffType, typename Parts::JitterType;
  using typename Parts::ClockType, typename Parts::PredicateType, typename Parts::FailureStrategyType;

  /// From options, in any order.
  template <class... G>
    requires(!(sizeof...(G) == 1 && (detail::is_policy<std::remove_cvref_t<G>> && ...)) &&
             !(std::same_as<G, detail::Rebuilt> || ...))
  constexpr explicit RetryPolicy(G&&... options)
      : RetryPolicy{detail::Rebuilt{},
                    detail::beginning<detail::SameType<RetryPolicy, detail::deduced_t<G...>>,
                                      Options<ClockT, PredicateT, X...>, G...>(),
                    std::forward<G>(options)...} {}

  /// A copy with other options: observers, guards and never-lists are added; any other option replaces the one with its role.
  template <class... G>
  [[nodiscard]] constexpr auto with(G&&... options) const {
    detail::check_options<G...>();
    using Newer = detail::opened_t<G...>;
    using Changed = RetryPolicy<detail::find_t<role::Clock, detail::join_t<Newer, Options<ClockT>>>,
                                detail::find_t<role::Predicate, detail::join_t<Newer, Options<PredicateT>>>,
                                detail::canonical_t<Newer, Options<CountLimit, X...>>>;
    if constexpr ((detail::Lasts<G> && ...))
      return Changed{detail::Rebuilt{}, detail::Without<Parts>{*this}, std::forward<G>(options)...};
    else
      return *this;
  }

  /// Only a policy of the same type can be assigned; `with` returns one for options that this policy already has.
  template <class C, class P, class R>
  RetryPolicy& operator=(const RetryPolicy<C, P, R>&) {
    static_assert(
        detail::SameType<RetryPolicy<C, P, R>, RetryPolicy>,
        "a policy's type names its options, and these two differ: make a new one, `const auto hurried "
        "= policy.with(TimeBudget{3s})`, or spell the option in the type, "
        "RetryPolicy<Clock, Predicate, Options<TimeBudget>>");
    return *this;
  }

  /// A copy without the options of these roles, or with their defaults: `policy.without<role::Observer, role::Jitter>()`.
  template <class... Role>
  [[nodiscard]] constexpr auto without() const {
    static_assert(((detail::is_single<Role> || detail::is_many<Role>) && ...),
                  "`without` takes roles, not options: policy.without<encore::role::Jitter>()");
    static_assert(!(std::same_as<Role, role::Predicate> || ...),
                  "a RetryPolicy cannot do without its predicate");
    using Kept = typename detail::without<Options<ClockT, X...>, Role...>::type;
    using Changed = RetryPolicy<detail::find_t<role::Clock, Kept>, PredicateT, detail::canonical_t<Kept>>;
    return Changed{detail::Rebuilt{}, detail::Without<Parts, Role...>{*this}};
  }

  /// Runs `callable`, repeats it if it fails and may be retried, and returns what the failure strategy makes of the result.
  /// The callable is invoked as `callable(args..., attempt)` if that is well formed, else as `callable(args...)`; callable and
  /// arguments are lvalues in every attempt. For one that returns a coroutine or a future, use `co_run` or `as_value`.
  /// (A2, A5, A6, A8) Throws the last exception with `Rethrow`; `Refused` if there was no attempt; and exceptions that are
  /// not retried. (B3, G1, G4)
  template <class F, class... A>
  ENCORE_FORCE_INLINE auto run(const Call& call, F&& callable, A&&... args) const
      -> detail::result_t<FailureStrategyType, F, A...> {
#if !defined(__cpp_exceptions)
    static_assert(
        !rethrows,
        "without exceptions a refusal cannot be thrown, and a Call may bring a deadline or a stop token "
        "that refuses it: add ReturnOutcome{} or FormatFailure{...}");
#endif
    return conduct(call, callable, args...);
  }

  /// The same for a call without an id of its own.
  template <class F, class... A>
    requires(!std::same_as<std::remove_cvref_t<F>, Call>)
  ENCORE_FORCE_INLINE auto run(F&& callable, A&&... args) const
      -> detail::result_t<FailureStrategyType, F, A...> {
    return conduct(Call{}, callable, args...);
  }

  // Only for its error message: a parameter that is not a template can be initialised with `{.id = "call-17"}`.
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, Call>)
  decltype(auto) run(F&& callable, Call&& argument) const {
    return conduct(Call{}, callable, argument);
  }

  /// Returns a callable that runs a copy of `callable` under a copy of this policy; each invocation is a separate call.
  template <class F>
  [[nodiscard]] constexpr auto wrap(F&& callable) const {
    return wrap(std::string{}, std::forward<F>(callable));
  }
  /// The same with a name for its calls. (Not an id, which belongs to a single call.)
  template <class F>
  [[nodiscard]] constexpr auto wrap(std::string name, F&& callable) const {
    static_assert(detail::CanBeKept<F>,
                  "wrap keeps a copy of its callable, and this named one can only be moved: "
                  "policy.wrap(std::move(callable))");
    using Wrap = Wrapped<RetryPolicy, std::decay_t<F>>;
    constexpr bool known = requires { sizeof(Wrap); };
    static_assert(known, "a wrapped callable needs: #include <encore/wrapped.hpp>");
    if constexpr (known && detail::CanBeKept<F>)
      return Wrap{*this, std::move(name), std::forward<F>(callable)};
    else
      return detail::NoResult{};
  }

  /// The waits of a call whose attempts all fail, before anything runs. Throws `std::invalid_argument` if retries are unlimited,
  /// as they are with only a time budget: then pass a number of retries. Needs `<encore/schedule.hpp>`. (C10)
  constexpr auto schedule() const {
    if (CountLimit::is_unlimited(max_retries()))
      refuse_setting("retries", "unlimited",
                     "is invalid: say how many a schedule shall have, as in schedule(10)");
    return schedule(max_retries());
  }
  /// At most the first `retries` waits.
  constexpr auto schedule(int retries) const {
    using Waits = Schedule<typename Parts::BackoffType, typename Parts::JitterType>;
    constexpr bool known = requires { sizeof(Waits); };
    static_assert(known, "a policy's schedule needs: #include <encore/schedule.hpp>");
    if constexpr (known) return Waits{backoff(), jitter(), shared::smaller_of(retries, max_retries())};
  }

 private:
  friend constexpr const Parts& policy_parts(const RetryPolicy& policy) noexcept { return policy; }
  friend constexpr Parts&& policy_parts(RetryPolicy&& policy) noexcept {
    return static_cast<Parts&&>(policy);
  }
  template <class, class, class>
  friend class RetryPolicy;
  template <class, class>
  friend class Wrapped;

  template <class Old, class... G>
  constexpr RetryPolicy(detail::Rebuilt, const Old& old, G&&... options)
      : Parts{old, detail::SingleRoles{}, std::forward<G>(options)...} {}

  template <class... G>
  constexpr RetryPolicy(detail::Rebuilt, detail::FromRefused, G&&...)
      : Parts{detail::FromNothing{}, detail::SingleRoles{}} {}

  template <class F, class... A>
  ENCORE_FORCE_INLINE auto conduct(const Call& call, F& callable, A&... args) const
      -> detail::result_t<FailureStrategyType, F, A...> {
#if !defined(__cpp_exceptions)
    static_assert(
        !rethrows || (!Parts::guarded && !Parts::has_time_budget),
        "without exceptions a refusal cannot be thrown, and a time budget or a guard may refuse a call: "
        "add ReturnOutcome{} or FormatFailure{...}");
#endif
    if constexpr (!detail::can_be_repeated<F, A...>) {
      static_assert(sizeof(detail::RepeatedCallable<F, A...>) != 0);
      std::abort();
    } else {
      using Raw = detail::raw_t<F, A...>;
      static_assert(detail::knows_its_result<F, Raw>());
      return detail::RetryLoop<Parts, Raw, F, A...>::run(*this, call, callable, args...);
    }
  }
};

template <class... G>
  requires(!(sizeof...(G) == 1 && (detail::is_policy<std::remove_cvref_t<G>> && ...)))
RetryPolicy(G&&...) -> RetryPolicy<detail::find_t<role::Clock, detail::opened_t<G...>>,
                                   detail::find_t<role::Predicate, detail::opened_t<G...>>,
                                   detail::canonical_t<detail::opened_t<G...>>>;

}  // namespace encore ENCORE_BUILD
