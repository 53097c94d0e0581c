// The retry decision about a failed attempt: another attempt after a wait, or stop for a reason.
#pragma once
#include <encore/call.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/engine/call_frame.hpp>
#include <encore/engine/observed_call.hpp>
#include <encore/engine/options_check.hpp>
#include <encore/engine/verdict.hpp>
#include <encore/engine/waits.hpp>
#include <encore/stop_reason.hpp>
#include <encore/thrown.hpp>

#include <optional>

namespace encore ENCORE_BUILD::detail {

/// Weighs the failures of one call.
template <class Policy>
class RetryDecision : public ObservedCall<Policy> {
  friend struct Guarding<Policy>;  // what guards add, in <encore/guard/guard.hpp>
  friend struct Restorer;          // saves a call and restores it
  using Observed = ObservedCall<Policy>;
  static constexpr bool guarded = Policy::guarded;

 public:
  using Permits = typename permits_for<typename Policy::Guards>::type;
  using Observed::attempts, Observed::call, Observed::is_last;

  bool outcome_unknown() const noexcept { return outcome_.unknown; }
  /// Of the server, with a failure after which there is no other attempt.
  const std::optional<Duration>& last_hint() const noexcept { return last_hint_; }

 protected:
  RetryDecision(const Policy& policy, CallFrame& frame, Permits& permits,
                const std::optional<TimePoint>& started, int observer_errors) noexcept
      : Observed{policy, frame, started, observer_errors},
        permits_{permits} {}
  ~RetryDecision() = default;

  FailedAttempt what_is_known() const noexcept {
    return {attempts(), &frame_.current, &frame_.notes, &frame_.attempt};
  }
  /// `verdict` is what the policy thinks of the failure.
  template <class Failed>
  StopReason weighed(StopReason verdict, const Failed& failure, std::optional<Duration>& hint,
                     Duration& wait) {
    key_was_used_ = key_was_used_ || frame_.notes.key_used();
    if constexpr (guarded) permits_.attempt_failed(now(), verdict, failure);
    note_outcome();
    if (call().replay != ReplaySafety::repeatable) verdict = heed_replay_safety(verdict, failure);
    if (verdict == StopReason::none) verdict = another_attempt(failure, hint, wait);
    if constexpr (guarded) {
      if (verdict == StopReason::none)
        verdict = Guarding<Policy>::admit(*this, attempts() + 1, wait, failure);
    }
    if constexpr (!Policy::rethrows) {  // the failure is shown
      if (verdict != StopReason::none) last_hint_ = hint ? hint : hint_from(policy_, failure, now());
    }
    return verdict;
  }
  template <class Failed>
  StopReason heed_replay_safety(StopReason verdict, const Failed& failure) {
    if (verdict != StopReason::none && verdict != StopReason::not_retryable) return verdict;
    if (verdict == StopReason::none && frame_.notes.not_run()) return verdict;  // whatever was declared (I1)
    const auto replay = replay_verdict(call().replay, frame_.notes, key_was_used_);
    if (verdict == StopReason::none || replay == StopReason::excluded_tool) return replay;
    if (replay != StopReason::unknown_outcome) return verdict;
    // An unknown outcome has to be reconciled, even where the predicate would not retry. (I3) But what is never retried, as a
    // cancellation, still propagates. (B4)
    const auto never = never_verdict(policy_, failure);
    return never != StopReason::none ? never : replay;
  }
  void note_outcome() noexcept {
    if (call().replay != ReplaySafety::repeatable) outcome_.add(frame_.notes);
  }
  template <class Failed>
  struct Facts {
    RetryDecision& state;
    const Failed& failure;
    bool attempts_used_up() const { return state.is_last(); }
    bool stop_requested() const { return state.call().stop.stop_requested(); }
    std::optional<Duration> hint() const { return hint_from(state.policy_, failure, state.now()); }
    Duration wait_after(const std::optional<Duration>& hint) const {
      return state.waits_.next(state.policy_, state.frame_.current, hint);
    }
    std::optional<Duration> time_left() const { return state.time_left(); }
  };
  std::optional<Duration> time_left() const {
    if (!frame_.limits.bounded()) return std::nullopt;
    return frame_.limits.remaining(policy_.clock().now());
  }
  template <class Failed>
  StopReason another_attempt(const Failed& failure, std::optional<Duration>& hint, Duration& wait) {
    if (policy_.nested() == Nested::make_single && this->outer() != nullptr)
      return StopReason::nested_made_single;
    return next_attempt(policy_, Facts<Failed>{*this, failure}, hint, wait);
  }
  using Observed::frame_, Observed::now, Observed::outcome_, Observed::policy_, Observed::reason_;

  Permits& permits_;
  CallWaits<Policy> waits_{};
  bool key_was_used_ = false;
  StopReason refused_ = StopReason::none;  // by a guard, where that has a wait
  std::optional<Duration> last_hint_{};    // of a failure after which there is no other attempt
};

}  // namespace ENCORE_BUILD::detail
