// What a policy is made of: one value for each role, taken from options, from an older policy, or by default.
#pragma once
#include <encore/call.hpp>
#include <encore/detail/pack.hpp>
#include <encore/engine/failure_strategy.hpp>
#include <encore/engine/options.hpp>
#include <encore/engine/options_check.hpp>
#include <encore/engine/predicate_parts.hpp>
#include <encore/option.hpp>
#include <encore/predicate.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD::detail {

/// Another policy's options, without those in one of these roles.
template <class Policy, class... Removed>
struct Without {
  const Policy& policy;
};

/// The options of a policy, each in its place, and what the engine wants to know of them.
template <class ClockT, class PredicateT, class Rest>
class PolicyParts;
template <class C, class P, class R>
constexpr const PolicyParts<C, P, R>& policy_parts(const PolicyParts<C, P, R>& parts) noexcept {
  return parts;
}
/// Those of a policy, for the engine and its drivers: the policy itself does not show all of them.
template <class Policy>
using PartsOf = std::remove_cvref_t<decltype(policy_parts(std::declval<const Policy&>()))>;

template <class ClockT, class PredicateT, class... X>
class PolicyParts<ClockT, PredicateT, Options<X...>> {
  static_assert(
      !std::same_as<PredicateT, Unnamed>,
      "a RetryPolicy needs to be told what to retry: add RetryOn<YourError>{}, RetryIfResult{...} or, "
      "if it must be, RetryOnEveryException{}");
  static_assert(has_what_its_role_needs<ClockT>() && has_what_its_role_needs<PredicateT>() &&
                (has_what_its_role_needs<X>() && ...));
  using All = Options<ClockT, PredicateT, X...>;
  static_assert(
      CanRetry<std::remove_cvref_t<PredicateT>, all_of_t<role::Never, All>>,
      "this policy can never retry: every exception type that its filter names is one that is never retried, "
      "by a NeverRetry in the policy or because it is an Unretryable");
  template <class Role>
  using Slot = find_t<Role, All>;
  // Is this what has the role, stored by value or as `std::ref`?
  template <class Role, class Part>
  static constexpr bool has = std::same_as<std::remove_cvref_t<Slot<Role>>, Part>;
  template <class Role>
  using Many = storage_pack_t<all_of_t<Role, All>>;

 public:
  using ClockType = std::remove_cvref_t<ClockT>;
  using PredicateType = std::remove_cvref_t<PredicateT>;
  using BackoffType = std::remove_cvref_t<Slot<role::Backoff>>;
  using JitterType = std::remove_cvref_t<Slot<role::Jitter>>;
  using FailureStrategyType = std::remove_cvref_t<Slot<role::OnFailure>>;
  using NestingType = std::remove_cvref_t<Slot<role::Nesting>>;
  using FibersType = std::remove_cvref_t<Slot<role::Fibers>>;
  using Guards = Many<role::Guard>;

  static constexpr bool observed = Many<role::Observer>::size != 0;
  static constexpr bool guarded = Guards::size != 0;
  static constexpr bool has_time_budget = !has<role::TimeBudget, NoTimeBudget>;
  static constexpr bool has_attempt_timeout = !has<role::AttemptTimeout, NoAttemptTimeout>;
  static constexpr bool has_seed = !has<role::Seed, NoSeed>;
  static constexpr bool notices_nesting = !has<role::Nesting, NestingUnnoticed>;
  static constexpr bool says_fibers = !has<role::Fibers, OnThreads>;
  static constexpr bool waits_when_refused = guarded && has<role::WhenRefused, WaitWhenRefused>;
  static constexpr bool handles_unmatched = has<role::Unmatched, HandleUnmatched>;
  static constexpr bool prepares_retries = !has<role::BeforeRetry, NothingBeforeRetry>;
  // Also where the outcome's header is missing, so that no more errors follow.
  static constexpr bool rethrows =
      std::same_as<FailureStrategyType, Rethrow> ||
      (std::same_as<FailureStrategyType, ReturnOutcome> && !OutcomeIsKnown<FailureStrategyType>);
  /// A failed value that is not retried is reported to others than the caller, or the strategy may handle it. (B8)
  static constexpr bool reports_failures = observed || guarded || !rethrows;
  /// True if there are users' tests of what was thrown.
  static constexpr bool has_tests =
      !types_only<PredicateType> || !has<role::HintSource, HintFromCarrier> || Many<role::Never>::size != 0;
  /// True if users' code is asked about what was thrown.
  static constexpr bool asks_users =
      has_tests || requires(const PredicateType& predicate, const Thrown& failure, const Now& now) {
        predicate.hint(failure, now);
      };
  /// The call itself may be looked at, when it has failed or before.
  static constexpr bool reads_call =
      observed || guarded || !rethrows || prepares_retries || has_seed || has_tests;
  static constexpr bool reports_time = requires { requires FailureStrategyType::reports_time; };

  /// What has this role, or the role's default.
  template <class Role>
  constexpr auto& get() const noexcept {
    return at<index_in<Role, SingleRoles>>(slots_).get();
  }
  constexpr auto& clock() const noexcept { return get<role::Clock>(); }
  constexpr const PredicateType& predicate() const noexcept { return get<role::Predicate>(); }
  constexpr const BackoffType& backoff() const noexcept { return get<role::Backoff>(); }
  constexpr const auto& jitter() const noexcept { return get<role::Jitter>(); }
  constexpr const auto& failure_strategy() const noexcept { return get<role::OnFailure>(); }
  constexpr const auto& hint_source() const noexcept { return get<role::HintSource>(); }
  constexpr const auto& failure_test() const noexcept { return get<role::FailureTest>(); }
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
  constexpr std::optional<Duration> time_budget() const noexcept { return get<role::TimeBudget>().value; }
  constexpr std::optional<Duration> attempt_timeout() const noexcept {
    return get<role::AttemptTimeout>().value;
  }
  constexpr Duration min_attempt_time() const noexcept { return get<role::MinAttemptTime>().value; }
  constexpr Duration hint_cap() const noexcept { return get<role::HintCap>().value; }
  template <class Bits = std::uint64_t>
  constexpr std::optional<Bits> seed() const noexcept {
    return get<role::Seed>().value;
  }
  /// How many attempts what is called makes by itself for each of this policy's. (J1)
  constexpr int inner_attempts() const noexcept { return get<role::InnerAttempts>().attempts; }
  /// The most requests of one call that reach the dependency; empty means unlimited.
  template <class Requests = std::int64_t>
  constexpr std::optional<Requests> max_requests() const noexcept {
    if (const auto attempts = max_attempts()) return Requests{*attempts} * inner_attempts();
    return std::nullopt;
  }
  constexpr Nested nested() const noexcept { return get<role::Nesting>().choice; }
  /// True if no thread is marked, since the callables may move to another one. (J3)
  constexpr bool on_fibers() const noexcept { return get<role::Fibers>().on; }

 protected:
  // Each slot is filled by the first option in its role, else from the older policy, else by its default.
  template <class Old, class... Role, class... G>
  constexpr PolicyParts(const Old& old, Options<Role...>, G&&... g)
      : slots_{{{Storage<Slot<Role>>{std::in_place, chosen<Role>(old, std::forward<G>(g)...)}}...}},
        never_{joined(older_many<role::Never>(old), as_pack<role::Never>(std::forward<G>(g))...)},
        observers_{joined(older_many<role::Observer>(old), as_pack<role::Observer>(std::forward<G>(g))...)},
        guards_{joined(older_many<role::Guard>(old), as_pack<role::Guard>(std::forward<G>(g))...)} {}

 private:
  template <class, class, class>
  friend class PolicyParts;

  template <class Role, class Old>
  static constexpr decltype(auto) chosen(const Old& old) {
    return older<Role>(old);
  }
  template <class Role, class Old, class G, class... L>
  static constexpr decltype(auto) chosen([[maybe_unused]] const Old& old, [[maybe_unused]] G&& first,
                                         [[maybe_unused]] L&&... others) {
    if constexpr (shared::HasRole<G, Role>)
      return std::forward<G>(first);
    else if constexpr (supplies<G, Role>)
      return first.template part<Role>();
    else
      return chosen<Role>(old, std::forward<L>(others)...);
  }
  template <class Role, class Policy, class... Removed>
  static constexpr decltype(auto) older(const Without<Policy, Removed...>& old) {
    if constexpr ((std::same_as<Role, Removed> || ...))
      return Slot<Role>{};
    else
      return old.policy.template get<Role>();
  }
  template <class Role>
  static constexpr auto older(FromNothing) {
    static_assert(std::default_initializable<Slot<Role>>,
                  "this policy's type names an option that cannot be made from nothing: give it to the "
                  "constructor");
    return Slot<Role>{};
  }
  template <class Role, class Policy, class... Removed>
  static constexpr auto older_many([[maybe_unused]] const Without<Policy, Removed...>& old) {
    if constexpr ((std::same_as<Role, Removed> || ...))
      return Pack<>{};
    else
      return old.policy.template many<Role>();
  }
  template <class Role>
  static constexpr Pack<> older_many(FromNothing) {
    return {};
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
  template <class Roles>
  struct slots_for;
  template <class... Role>
  struct slots_for<Options<Role...>> {
    using type = Pack<Storage<Slot<Role>>...>;
  };

  [[no_unique_address]] typename slots_for<SingleRoles>::type slots_;
  [[no_unique_address]] Many<role::Never> never_;
  [[no_unique_address]] Many<role::Observer> observers_;
  [[no_unique_address]] Guards guards_;
};

}  // namespace ENCORE_BUILD::detail
