// The policy: how many attempts, for which failures, how long to wait, until when, and what the caller gets at the end.
#pragma once
#include <encore/attributes.hpp>
#include <encore/call.hpp>
#include <encore/driver.hpp>
#include <encore/extremes.hpp>
#include <encore/never_retry.hpp>
#include <encore/operation.hpp>
#include <encore/recipe.hpp>
#include <encore/recipe_check.hpp>
#include <encore/refused.hpp>
#include <encore/retry_if.hpp>
#include <encore/retrying.hpp>
#include <encore/schedule.hpp>
#include <encore/straight_run.hpp>
#include <encore/wrapped.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace encore {

template <class Clock, class Predicate, class Rest = Plus<>>
class RetryPolicy;

namespace detail {
template <class>
inline constexpr bool is_policy = false;
template <class C, class P, class R>
inline constexpr bool is_policy<RetryPolicy<C, P, R>> = true;

struct Rebuilt {};  // tells the constructor that starts from another policy

/// Another policy's ingredients, but for those that play one of these roles.
template <class Policy, class... Removed>
struct Without {
  const Policy& policy;
};
struct FromNothing {};
}  // namespace detail

/// Retries calls. An immutable value made of ingredients in any order: use one from any number of threads. (L1)
///   RetryPolicy policy{RetryOn<TimeoutError>{}, MaxRetries{2}, TimeBudget{5s}};
///   int units = policy.run({.id = "call-17", .name = "inventory_lookup"}, [&] { return inventory.lookup("A-17"); });
/// Only the predicate must be named (B1). Defaults: 2 retries, or no count limit where a time budget is given without a count;
/// exponential backoff from 1 s by 2 to 60 s with 25 % proportional jitter; the last exception is rethrown (A1). Clock, observers
/// and guards given as lvalues are referred to and must outlive the policy (F4).
template <class ClockT, class PredicateT, class... X>
class RetryPolicy<ClockT, PredicateT, Plus<X...>> {
  static_assert(
      !std::same_as<PredicateT, detail::Unnamed>,
      "a RetryPolicy needs to be told what to retry: add RetryOn<YourError>{}, RetryIfResult{...} or, "
      "if it must be, RetryOnEveryException{}");
  static_assert(detail::has_what_its_role_needs<ClockT>() && detail::has_what_its_role_needs<PredicateT>() &&
                (detail::has_what_its_role_needs<X>() && ...));
  using Ingredients = Plus<ClockT, PredicateT, X...>;
  template <class Role>
  using Slot = detail::find_t<Role, Ingredients>;
  template <class Role>
  using Many = detail::kept_tuple_t<detail::all_of_t<Role, Ingredients>>;

 public:
  using ClockType = std::remove_cvref_t<ClockT>;
  using PredicateType = PredicateT;
  using BackoffType = std::remove_cvref_t<Slot<role::Backoff>>;
  using JitterType = std::remove_cvref_t<Slot<role::Jitter>>;
  using FailureStrategyType = std::remove_cvref_t<Slot<role::OnFailure>>;
  using Guards = Many<role::Guard>;

  static constexpr bool observed = std::tuple_size_v<Many<role::Observer>> != 0;
  static constexpr bool guarded = std::tuple_size_v<Guards> != 0;
  static constexpr bool has_time_budget = !std::same_as<Slot<role::TimeBudget>, NoTimeBudget>;
  static constexpr bool has_seed = !std::same_as<Slot<role::Seed>, NoSeed>;
  static constexpr bool notices_nesting = std::same_as<Slot<role::Nesting>, WhenNested>;
  static constexpr bool handles_unmatched = std::same_as<Slot<role::Unmatched>, HandleUnmatched>;
  static constexpr bool prepares_retries = !std::same_as<Slot<role::BeforeRetry>, NothingBeforeRetry>;
  static constexpr bool rethrows = std::same_as<FailureStrategyType, Rethrow>;
  /// Nothing has to be asked before the first attempt, and nobody but observers hears how it went.
  static constexpr bool starts_straight = rethrows && !guarded && !notices_nesting && !prepares_retries;
  /// Somebody may look at the call itself.
  static constexpr bool reads_call = observed || has_seed || !detail::types_only<PredicateT> ||
                                     !std::same_as<Slot<role::HintSource>, HintFromCarrier> ||
                                     std::tuple_size_v<Many<role::Never>> != 0;
  static constexpr bool reports_time = requires { requires FailureStrategyType::reports_time; };

  /// From ingredients, in any order.
  template <class... G>
    requires(!(sizeof...(G) == 1 && (detail::is_policy<std::remove_cvref_t<G>> && ...)) &&
             !(std::same_as<G, detail::Rebuilt> || ...))
  constexpr explicit RetryPolicy(G&&... ingredients)
      : RetryPolicy{detail::Rebuilt{}, detail::FromNothing{}, detail::SingleRoles{},
                    std::forward<G>(ingredients)...} {
    detail::check_recipe<G...>();
  }

  /// A copy with other ingredients: a single role is replaced; observers, guards and never-lists are added.
  template <class... G>
  [[nodiscard]] constexpr auto with(G&&... ingredients) const {
    detail::check_recipe<G...>();
    using Newer = detail::opened_t<G...>;
    using Changed = RetryPolicy<detail::find_t<role::Clock, detail::join_t<Newer, Plus<ClockT>>>,
                                detail::find_t<role::Predicate, detail::join_t<Newer, Plus<PredicateT>>>,
                                detail::canonical_t<Newer, Plus<CountLimit, X...>>>;
    return Changed{detail::Rebuilt{}, detail::Without<RetryPolicy>{*this}, detail::SingleRoles{},
                   std::forward<G>(ingredients)...};
  }

  /// A copy in which these roles are at their defaults, or empty: `policy.without<role::Observer, role::Jitter>()`.
  template <class... Role>
  [[nodiscard]] constexpr auto without() const {
    static_assert(((detail::is_single<Role> || detail::is_many<Role>) && ...),
                  "`without` takes roles, not ingredients: policy.without<encore::role::Jitter>()");
    static_assert(!(std::same_as<Role, role::Predicate> || ...),
                  "a RetryPolicy cannot do without its predicate");
    using Kept = typename detail::without<Plus<ClockT, X...>, Role...>::type;
    using Changed = RetryPolicy<detail::find_t<role::Clock, Kept>, PredicateT, detail::canonical_t<Kept>>;
    return Changed{detail::Rebuilt{}, detail::Without<RetryPolicy, Role...>{*this}, detail::SingleRoles{}};
  }

  /// Runs `callable`, again if it fails and may be retried, and gives what the failure strategy makes of it. The callable is
  /// invoked as `callable(args..., attempt)` if that is well formed, else as `callable(args...)`; it and its arguments are
  /// lvalues on each attempt. (A2, A5, A6)
  /// Throws the last exception with `Rethrow`; `Refused` if there was no attempt; and whatever is not to be retried. (B3, G1, G4)
  template <class F, class... A>
  ENCORE_FORCE_INLINE auto run(const Call& call, F&& callable, A&&... args) const
      -> detail::result_t<FailureStrategyType, F, A...>;

  /// The same for a call without an id of its own.
  template <class F, class... A>
    requires(!std::same_as<std::remove_cvref_t<F>, Call>)
  ENCORE_FORCE_INLINE auto run(F&& callable, A&&... args) const
      -> detail::result_t<FailureStrategyType, F, A...>;

  /// A callable that runs `callable` under a copy of this policy, each time as a call of its own.
  template <class F>
  [[nodiscard]] constexpr auto wrap(F&& callable) const {
    return wrap(std::string{}, std::forward<F>(callable));
  }
  /// The same, under a name. (Not an id: that belongs to one call.)
  template <class F>
  [[nodiscard]] constexpr auto wrap(std::string name, F&& callable) const {
    return Wrapped<RetryPolicy, std::decay_t<F>>{*this, std::move(name), std::forward<F>(callable)};
  }

  // What it is made of, for drivers, catalogs and tests.

  constexpr auto& clock() const noexcept { return get<role::Clock>(); }
  constexpr const PredicateT& predicate() const noexcept { return get<role::Predicate>(); }
  constexpr const BackoffType& backoff() const noexcept { return get<role::Backoff>(); }
  constexpr const auto& jitter() const noexcept { return get<role::Jitter>(); }
  constexpr const auto& failure_strategy() const noexcept { return get<role::OnFailure>(); }
  constexpr const auto& hint_source() const noexcept { return get<role::HintSource>(); }
  constexpr const auto& before_retry() const noexcept { return get<role::BeforeRetry>(); }
  constexpr const auto& observers() const noexcept { return observers_; }
  constexpr const auto& guards() const noexcept { return guards_; }
  constexpr const auto& never() const noexcept { return never_; }

  constexpr int max_retries() const noexcept {
    return get<role::CountLimit>().max_retries(time_budget().has_value());
  }
  /// The most attempts of one call, the first one included; empty means unlimited.
  constexpr std::optional<int> max_attempts() const noexcept {
    if (CountLimit::is_unlimited(max_retries())) return std::nullopt;
    return max_retries() + 1;
  }
  constexpr std::optional<Duration> time_budget() const noexcept { return span_of<role::TimeBudget>(); }
  constexpr std::optional<Duration> attempt_timeout() const noexcept {
    return span_of<role::AttemptTimeout>();
  }
  constexpr Duration least_attempt_time() const noexcept {
    return span_of<role::LeastAttemptTime>().value_or(Duration::zero());
  }
  constexpr Duration hint_cap() const noexcept { return get<role::HintCap>().value; }
  constexpr std::optional<std::uint64_t> seed() const noexcept {
    if constexpr (has_seed)
      return get<role::Seed>().value;
    else
      return std::nullopt;
  }
  /// How many attempts what is called makes by itself for each of this policy's. (J1)
  constexpr int inner_attempts() const noexcept {
    if constexpr (std::same_as<Slot<role::InnerAttempts>, AlreadyRetries>)
      return get<role::InnerAttempts>().attempts;
    else
      return 1;
  }
  /// The most requests of one call that reach the dependency; empty means unlimited.
  constexpr std::optional<std::int64_t> max_requests() const noexcept {
    return max_requests_of(max_attempts(), inner_attempts());
  }
  constexpr Nested nested() const noexcept {
    if constexpr (notices_nesting)
      return get<role::Nesting>().choice;
    else
      return Nested::allow;
  }

  /// The waits of a call that fails until its last attempt, before anything runs. Unlimited retries: of the first `retries`. (C10)
  constexpr auto schedule() const { return Schedule{backoff(), jitter(), max_retries()}; }
  constexpr auto schedule(int retries) const {
    return Schedule{backoff(), jitter(), smaller_of(retries, max_retries())};
  }

 private:
  template <class, class, class>
  friend class RetryPolicy;
  template <class, class>
  friend class Wrapped;

  template <class F, class... A>
  ENCORE_FORCE_INLINE auto conduct(const Call& call, F& callable, A&... args) const
      -> detail::result_t<FailureStrategyType, F, A...>;

  // Each slot is filled by the first ingredient that plays its role, else from the older policy, else by its default.
  template <class Old, class... Role, class... G>
  constexpr RetryPolicy(detail::Rebuilt, const Old& old, Plus<Role...>, G&&... g)
      : slots_{detail::Kept<Slot<Role>>{std::in_place, chosen<Role>(old, std::forward<G>(g)...)}...},
        never_{std::tuple_cat(older_many<role::Never>(old),
                              detail::as_tuple<role::Never>(std::forward<G>(g))...)},
        observers_{std::tuple_cat(older_many<role::Observer>(old),
                                  detail::as_tuple<role::Observer>(std::forward<G>(g))...)},
        guards_{std::tuple_cat(older_many<role::Guard>(old),
                               detail::as_tuple<role::Guard>(std::forward<G>(g))...)} {}

  template <class Role, class Old>
  static constexpr decltype(auto) chosen(const Old& old) {
    return older<Role>(old);
  }
  template <class Role, class Old, class G, class... L>
  static constexpr decltype(auto) chosen([[maybe_unused]] const Old& old, [[maybe_unused]] G&& first,
                                         [[maybe_unused]] L&&... others) {
    if constexpr (Plays<G, Role>)
      return std::forward<G>(first);
    else if constexpr (detail::supplies<G, Role>)
      return first.template part<Role>();
    else
      return chosen<Role>(old, std::forward<L>(others)...);
  }
  template <class Role, class Policy, class... Removed>
  static constexpr decltype(auto) older(const detail::Without<Policy, Removed...>& old) {
    if constexpr ((std::same_as<Role, Removed> || ...))
      return Slot<Role>{};
    else
      return old.policy.template get<Role>();
  }
  template <class Role>
  static constexpr auto older(detail::FromNothing) {
    static_assert(std::default_initializable<Slot<Role>>,
                  "this policy's type names an ingredient that cannot be made from nothing: give it to the "
                  "constructor");
    return Slot<Role>{};
  }
  template <class Role, class Policy, class... Removed>
  static constexpr auto older_many([[maybe_unused]] const detail::Without<Policy, Removed...>& old) {
    if constexpr ((std::same_as<Role, Removed> || ...))
      return std::tuple<>{};
    else
      return old.policy.template many<Role>();
  }
  template <class Role>
  static constexpr std::tuple<> older_many(detail::FromNothing) {
    return {};
  }

  template <class Role>
  constexpr auto& get() const noexcept {
    return std::get<detail::index_in<Role, detail::SingleRoles>>(slots_).get();
  }
  template <class Role>
  constexpr const auto& many() const noexcept {
    if constexpr (std::same_as<Role, role::Never>)
      return never_;
    else if constexpr (std::same_as<Role, role::Observer>)
      return observers_;
    else
      return guards_;
  }
  template <class Role>
  constexpr std::optional<Duration> span_of() const noexcept {
    const auto& slot = get<Role>();
    if constexpr (requires { slot.value; })
      return slot.value;
    else
      return std::nullopt;
  }

  template <class Roles>
  struct slots_for;
  template <class... Role>
  struct slots_for<Plus<Role...>> {
    using type = std::tuple<detail::Kept<Slot<Role>>...>;
  };

  [[no_unique_address]] typename slots_for<detail::SingleRoles>::type slots_;
  [[no_unique_address]] Many<role::Never> never_;
  [[no_unique_address]] Many<role::Observer> observers_;
  [[no_unique_address]] Guards guards_;
};

template <class... G>
  requires(!(sizeof...(G) == 1 && (detail::is_policy<std::remove_cvref_t<G>> && ...)))
RetryPolicy(G&&...) -> RetryPolicy<detail::find_t<role::Clock, detail::opened_t<G...>>,
                                   detail::find_t<role::Predicate, detail::opened_t<G...>>,
                                   detail::canonical_t<detail::opened_t<G...>>>;

template <class ClockT, class PredicateT, class... X>
template <class F, class... A>
  requires(!std::same_as<std::remove_cvref_t<F>, Call>)
auto RetryPolicy<ClockT, PredicateT, Plus<X...>>::run(F&& callable, A&&... args) const
    -> detail::result_t<FailureStrategyType, F, A...> {
  return conduct(Call{}, callable, args...);
}

template <class ClockT, class PredicateT, class... X>
template <class F, class... A>
auto RetryPolicy<ClockT, PredicateT, Plus<X...>>::run(const Call& call, F&& callable, A&&... args) const
    -> detail::result_t<FailureStrategyType, F, A...> {
#if !defined(__cpp_exceptions)
  static_assert(
      !rethrows,
      "without exceptions a refusal cannot be thrown, and a Call may bring a deadline or a stop token "
      "that refuses it: add ReturnOutcome{} or FormatFailure{...}");
#endif
  return conduct(call, callable, args...);
}

// The general way for whatever has to be asked or told before the first attempt; else straight into it.
template <class ClockT, class PredicateT, class... X>
template <class F, class... A>
auto RetryPolicy<ClockT, PredicateT, Plus<X...>>::conduct(const Call& call, F& callable, A&... args) const
    -> detail::result_t<FailureStrategyType, F, A...> {
#if !defined(__cpp_exceptions)
  static_assert(
      !rethrows || (!guarded && !has_time_budget),
      "without exceptions a refusal cannot be thrown, and a time budget or a guard may refuse a call: "
      "add ReturnOutcome{} or FormatFailure{...}");
#endif
  if constexpr (!detail::can_be_repeated<F, A...>) {
    detail::refuse_callable<F, A...>();
  } else {
    using R = detail::raw_t<F, A...>;
    if constexpr (starts_straight) {
      using Straight = detail::StraightRun<RetryPolicy, R, F, A...>;
      if (Straight::may_start(*this, call)) [[likely]]
        return Straight::run(*this, call, callable, args...);
    }
    auto attempt = [&](const Attempt& now) -> R { return detail::invoke_attempt(callable, now, args...); };
    if constexpr (starts_straight) {
      const Call general = call;  // so that the caller's own need not be in memory on the straight way
      return detail::Driver<RetryPolicy, R>::run(*this, general, detail::operation_of<R>(attempt));
    } else {
      return detail::Driver<RetryPolicy, R>::run(*this, call, detail::operation_of<R>(attempt));
    }
  }
}

}  // namespace encore
