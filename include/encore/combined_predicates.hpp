// Predicates combined with `||`, `&&` and `!`.
#pragma once
#include <encore/engine/name_by.hpp>
#include <encore/engine/predicate_parts.hpp>
#include <encore/predicate.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace encore ENCORE_BUILD {

namespace detail {

/// A predicate's answer about a failure. A predicate that was not asked has no opinion, and neither has its negation.
enum class Opinion : std::uint8_t { none, no, yes };

constexpr Opinion opinion(bool yes) noexcept { return yes ? Opinion::yes : Opinion::no; }
constexpr Opinion operator!(Opinion said) noexcept {
  return said == Opinion::none ? said : opinion(said == Opinion::no);
}

/// A predicate's answer about a failure; one without an `opinion` function always answers yes or no.
template <class P, class Failed>
  requires Judges<P, Failed>
Opinion opinion_of(const P& predicate, const Failed& failure) {
  if constexpr (requires {
                  { predicate.opinion(failure) } -> std::same_as<Opinion>;
                })
    return predicate.opinion(failure);
  else
    return opinion(predicate.matches(failure));
}

template <class L, class R>
struct Joined {
  using role = encore::role::Predicate;
  static constexpr bool looks_at_values = encore::looks_at_values<L> || encore::looks_at_values<R>;
  static constexpr bool types_only = detail::types_only<L> && detail::types_only<R>;
  static constexpr bool rules_out_never = detail::rules_out_never<L> && detail::rules_out_never<R>;
  using Depth = std::conditional_t<std::same_as<depth_of<L>, Outermost>, depth_of<R>, depth_of<L>>;
  [[no_unique_address]] L left;
  [[no_unique_address]] R right;

  template <class Failed>
  bool names_failure(const Failed& failure) const {
    return detail::names_failure(left, failure) || detail::names_failure(right, failure);
  }
  template <class V>
  static consteval void refuse_misfit() {
    refuse_misfits_of<L, V>();
    refuse_misfits_of<R, V>();
  }
  std::optional<Duration> hint(const Thrown& failure, const Now& now) const {
    const auto found = hint_by(left, failure, now);
    return found ? found : hint_by(right, failure, now);
  }
  std::string_view name(const Thrown& failure) const {
    const auto found = name_by(left, failure);
    return found.empty() ? name_by(right, failure) : found;
  }
};

/// Whether one failure can satisfy both. Tests of returned values of unrelated types are never asked about the same one.
template <class L, class R>
inline constexpr bool may_agree_on_values = looks_at_values<L> && looks_at_values<R>;
template <class L, class R>
  requires requires {
    typename L::Tested;
    typename R::Tested;
  }
inline constexpr bool may_agree_on_values<L, R> =
    JudgesValues<L, typename R::Tested> || JudgesValues<R, typename L::Tested>;
template <class L, class R>
inline constexpr bool may_agree = (JudgesExceptions<L> && JudgesExceptions<R>) || may_agree_on_values<L, R>;

}  // namespace detail

/// Matches if at least one of them does. One without an opinion on a failure is ignored; if neither has one, there is none.
template <class L, class R>
struct EitherPredicate : detail::Joined<L, R> {
  template <class Failed>
    requires(Judges<L, Failed> || Judges<R, Failed>)
  bool matches(const Failed& failure) const {
    if constexpr (Judges<L, Failed>) {
      if (this->left.matches(failure)) return true;
    }
    if constexpr (Judges<R, Failed>)
      return this->right.matches(failure);
    else
      return false;
  }
  template <class Failed>
    requires(Judges<L, Failed> || Judges<R, Failed>)
  detail::Opinion opinion(const Failed& failure) const {
    auto said = detail::Opinion::none;
    if constexpr (Judges<L, Failed>) said = detail::opinion_of(this->left, failure);
    if constexpr (Judges<R, Failed>) {
      if (said == detail::Opinion::yes) return said;
      if (const auto other = detail::opinion_of(this->right, failure); other != detail::Opinion::none)
        return other;
    }
    return said;
  }
  template <class Never>
  static constexpr bool can_retry = detail::can_retry<L, Never> || detail::can_retry<R, Never>;
  bool matches_by_itself(const Thrown& failure) const {
    return detail::matches_by_itself(this->left, failure) || detail::matches_by_itself(this->right, failure);
  }
  template <class V>
  static consteval detail::Kinds kinds() {
    return detail::kinds_of<L, V>() | detail::kinds_of<R, V>();
  }
};

/// Matches if both do. Has an opinion where both have one.
template <class L, class R>
struct BothPredicates : detail::Joined<L, R> {
  static_assert(
      detail::may_agree<L, R>,
      "one of these predicates looks at exceptions and the other at returned values, so no failure satisfies "
      "both: join them with ||");
  template <class Failed>
    requires(Judges<L, Failed> && Judges<R, Failed>)
  bool matches(const Failed& failure) const {
    return this->left.matches(failure) && this->right.matches(failure);
  }
  template <class Failed>
    requires(Judges<L, Failed> && Judges<R, Failed>)
  detail::Opinion opinion(const Failed& failure) const {
    const auto said = detail::opinion_of(this->left, failure);
    if (said == detail::Opinion::no) return said;
    const auto other = detail::opinion_of(this->right, failure);
    return other == detail::Opinion::yes ? said : other;
  }
  template <class Never>
  static constexpr bool can_retry = detail::can_retry<L, Never> && detail::can_retry<R, Never>;
  bool matches_by_itself(const Thrown& failure) const {
    return detail::matches_by_itself(this->left, failure) && detail::matches_by_itself(this->right, failure);
  }
  template <class V>
  static consteval detail::Kinds kinds() {
    constexpr auto left = detail::kinds_of<L, V>(), right = detail::kinds_of<R, V>();
    static_assert(
        !left.any() || !right.any() || (left & right).any(),
        "for this callable one of these predicates is asked about exceptions and the other about returned "
        "values, so no failure satisfies both: join them with ||");
    return left & right;
  }
};

/// Matches if the predicate has an opinion and does not match.
template <class P>
struct NotPredicate {
  using role = encore::role::Predicate;
  static constexpr bool looks_at_values = encore::looks_at_values<P>;
  static constexpr bool types_only = detail::types_only<P>;
  using Depth = detail::depth_of<P>;
  [[no_unique_address]] P negated;

  template <class Failed>
    requires Judges<P, Failed>
  bool matches(const Failed& failure) const {
    return detail::opinion_of(negated, failure) == detail::Opinion::no;
  }
  template <class Failed>
    requires Judges<P, Failed>
  detail::Opinion opinion(const Failed& failure) const {
    return !detail::opinion_of(negated, failure);
  }
  template <class V>
  static consteval detail::Kinds kinds() {
    return detail::kinds_of<P, V>();
  }
  template <class V>
  static consteval void refuse_misfit() {
    detail::refuse_misfits_of<P, V>();
  }
};

}  // namespace encore ENCORE_BUILD
