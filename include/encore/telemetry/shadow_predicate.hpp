// Counts where a candidate predicate would have decided differently, without changing the decision.
#pragma once
#include <encore/combined_predicates.hpp>
#include <encore/engine/name_by.hpp>
#include <encore/engine/predicate_parts.hpp>
#include <encore/engine/verdict.hpp>
#include <encore/option.hpp>
#include <encore/predicate.hpp>
#include <encore/returned.hpp>
#include <encore/stop_reason.hpp>
#include <encore/thrown.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace encore ENCORE_BUILD {

/// How often two predicates agreed. Thread-safe; each count is exact.
class ShadowVerdicts {
 public:
  ShadowVerdicts() = default;
  ShadowVerdicts(const ShadowVerdicts&) = delete;
  ShadowVerdicts& operator=(const ShadowVerdicts&) = delete;

  std::uint64_t agreed() const noexcept { return agreed_.load(std::memory_order_relaxed); }
  /// The candidate would not have retried.
  std::uint64_t narrower() const noexcept { return narrower_.load(std::memory_order_relaxed); }
  /// The candidate would have retried.
  std::uint64_t broader() const noexcept { return broader_.load(std::memory_order_relaxed); }
  /// The candidate threw; the exception was ignored.
  std::uint64_t threw() const noexcept { return threw_.load(std::memory_order_relaxed); }

  void add(bool real, bool candidate, bool candidate_threw) noexcept {
    auto& number = candidate_threw ? threw_ : real == candidate ? agreed_ : real ? narrower_ : broader_;
    number.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> agreed_{0}, narrower_{0}, broader_{0}, threw_{0};
};

/// Returns the real predicate's result, also evaluates the candidate, and counts where they differ, for exceptions and for all returned
/// values. The candidate's result and its exceptions change nothing.
///   ShadowVerdicts verdicts;
///   RetryPolicy policy{ShadowPredicate{RetryOn<std::exception>{}, RetryOn<TimeoutError>{}, verdicts}};
template <Predicate Real, Predicate Candidate>
class ShadowPredicate {
 public:
  using role = encore::role::Predicate;
  static constexpr bool looks_at_values = encore::looks_at_values<Real>;
  static constexpr bool rules_out_never = detail::rules_out_never<Real>;
  using Depth = detail::depth_of<Real>;

  constexpr ShadowPredicate(Real real, Candidate candidate, ShadowVerdicts& verdicts)
      : real_{std::move(real)},
        candidate_{std::move(candidate)},
        verdicts_{&verdicts} {}

  template <class Failed>
    requires Judges<Real, Failed>
  bool matches(const Failed& failure) const {
    return opinion(failure) == detail::Opinion::yes;
  }
  template <class Failed>
    requires Judges<Real, Failed>
  detail::Opinion opinion(const Failed& failure) const {
    return compare(failure);
  }
  template <class Never>
  static constexpr bool can_retry = detail::can_retry<Real, Never>;
  bool matches_by_itself(const Thrown& failure) const { return detail::matches_by_itself(real_, failure); }
  template <class Failed>
  bool names_failure(const Failed& failure) const {
    return detail::names_failure(real_, failure);
  }
  template <class V>
  static consteval detail::Kinds kinds() {
    return detail::kinds_of<Real, V>();
  }
  template <class V>
  static consteval void refuse_misfit() {
    detail::refuse_misfits_of<Real, V>();
  }
  std::optional<Duration> hint(const Thrown& failure, const Now& now) const {
    return detail::hint_by(real_, failure, now);
  }
  std::string_view name(const Thrown& failure) const { return detail::name_by(real_, failure); }

 private:
  template <class Failed>
  detail::Opinion compare(const Failed& failure) const {
    const auto real = detail::opinion_of(real_, failure);
    auto threw = StopReason::none;
    auto candidate = false;
    if constexpr (requires { candidate_.matches(failure); }) {
      threw = StopReason::predicate_threw;
      candidate = detail::evaluate([&] { return candidate_.matches(failure); }, threw);
    }
    verdicts_->add(real == detail::Opinion::yes, candidate, threw != StopReason::none);
    return real;
  }

  [[no_unique_address]] Real real_;
  [[no_unique_address]] Candidate candidate_;
  ShadowVerdicts* verdicts_;
};

}  // namespace encore ENCORE_BUILD
