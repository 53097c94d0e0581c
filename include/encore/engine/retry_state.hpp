// The life of a call, step by step: may I start? it worked; it failed, what now?
#pragma once
#include <encore/decision.hpp>
#include <encore/engine/call_frame.hpp>
#include <encore/engine/deferred_cancellation.hpp>
#include <encore/engine/retry_decision.hpp>
#include <encore/engine/verdict.hpp>
#include <encore/refused.hpp>
#include <encore/thrown.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD::detail {

/// Everything that `Retrying` promises, for a call whose frame somebody else keeps.
template <class Policy>
class RetryState : public RetryDecision<Policy> {
  friend struct Restorer;  // saves a call and brings it back
  using Deciding = RetryDecision<Policy>;
  static constexpr bool guarded = Policy::guarded;

 public:
  using Permits = typename Deciding::Permits;

  RetryState(const Policy& policy, CallFrame& frame, Permits& permits,
             const std::optional<TimePoint>& started, int observer_errors = 0) noexcept
      : Deciding{policy, frame, permits, started, observer_errors} {}
  /// Its waits may be cancelled in ways that are not known beforehand, as a coroutine's.
  void may_be_cancelled() noexcept { may_be_cancelled_ = true; }
  /// Whoever drives it resumes it after every wait, also that of a call which ends there.
  void driver_waits() noexcept { driver_waits_ = true; }

  using Deciding::attempts;
  using Deciding::call;
  using Deciding::is_last;
  using Deciding::strategy_handles;
  /// The wait that was decided on last.
  Duration wait() const noexcept { return wait_; }

  [[nodiscard]] Decision begin() {
    auto refused = StopReason::none;
    if (call().stop.stop_requested())
      refused = StopReason::cancelled_on_entry;
    else if (frame_.limits.bounded() && frame_.limits.remaining(*started_).count() <= 0)
      refused = StopReason::expired_on_entry;
    else
      refused = call().refused;
    if (refused != StopReason::none) return refuse(refused);
    if constexpr (guarded) {
      refused = admit(1, Duration::zero());
      if (refused != StopReason::none) return refused_by_guard(refused);
    }
    start_attempt();
    return {};
  }
  /// Notes when the next attempt starts, if it has a limit of its own. (D6)
  void attempt_starts(const std::optional<TimePoint>& at = {}) {
    if constexpr (Policy::has_attempt_timeout) {
      if (frame_.limits.attempt_timeout) frame_.limits.attempt_started = at ? *at : policy_.clock().now();
    }
  }
  /// There is no attempt.
  Decision refuse(StopReason reason) {
    if constexpr (guarded) permits_.release();
    frame_.attempt.ordinal = 0;
    return finish(reason, nullptr);
  }

  /// A guard admits no attempt.
  Decision refused_by_guard(StopReason reason) {
    if constexpr (!Policy::waits_when_refused) {
      return refuse(reason);
    } else {
      permits_.release();
      refused_ = reason;
      const auto wait = waits_.next(policy_, frame_.current, std::nullopt);
      const auto left = time_left();
      frame_.attempt.ordinal = 0;
      return end_after(left ? shared::smaller_of(wait, *left) : wait, nullptr);
    }
  }
  /// Is there a wait after this decision? Whoever drives the call waits, and then resumes it.
  static constexpr bool waits_after(const Decision& next) noexcept {
    return next.goes_on() || (Policy::waits_when_refused && next.wait.count() > 0);
  }

  void succeeded() {
    if constexpr (guarded) permits_.succeeded(now());
    this->tell_succeeded();
    if (frame_.notes.error_result())  // what says that the tool failed settles nothing by itself (B8, I3)
      note_outcome();
    else
      outcome_.settle();
    finish(StopReason::succeeded, nullptr);
  }

  /// In the handler. `matched`: it was caught as the one type that the predicate lists. (B2)
  [[nodiscard]] Decision threw(const std::exception* error, bool matched = false) {
    const auto known = what_is_known();
    const Thrown thrown{error, known};
    const auto next = decide(
        thrown, &thrown, [&] { return matched ? judge_matched(policy_, thrown) : judge(policy_, thrown); });
    const auto ends_after_wait = !next.goes_on() && waits_after(next);
    if (next.goes_on() ? may_end_in_the_wait()
                       : ends_after_wait || (!Policy::rethrows && strategy_handles(next.stop)))
      error_ = std::current_exception();
    return next;
  }
  /// In the handler of a thread's forced unwind. (B4)
  Decision unwound() {
    const Thrown thrown{nullptr};
    if constexpr (guarded) permits_.release();
    note_outcome();
    return fail(StopReason::cancelled, {}, std::nullopt, &thrown);
  }

  /// Nobody will go on with this call: its permits come back, and observers hear its end. (H1)
  void abandoned() {
    if constexpr (guarded) permits_.release();
    error_ = nullptr;
    if (reason_ != StopReason::none) return;
    note_outcome();
    auto reason = StopReason::cancelled;
    if constexpr (Policy::waits_when_refused) {
      if (refused_ != StopReason::none) reason = refused_;
    }
    end(reason);
    this->tell_abandoned();
  }

  /// `again`: the attempt has failed before, so that only a success is news.
  template <class Value>
  [[nodiscard]] Decision returned(const Value& value, bool again) {
    const auto known = what_is_known();
    CutShort cut{*this};
    cut.under_way(!again);
    const auto verdict = judge_value<true>(policy_, Returned<Value>{value, known});
    cut.returned();
    if (verdict != StopReason::succeeded)
      return again ? Decision{.wait = wait_} : returned_failure(value, verdict);
    succeeded();
    return {.stop = StopReason::succeeded};
  }
  /// The same after it was judged: `verdict` is `none` if it is to be retried, else why not.
  template <class Value>
  [[nodiscard]] Decision returned_failure(const Value& value, StopReason verdict) {
    const auto known = what_is_known();
    const Returned<Value> failure{value, known};
    return decide(failure, nullptr, [&] {
      if (verdict == StopReason::none ||
          (Policy::handles_unmatched && verdict == StopReason::not_retryable)) {
        if (const auto never = never_verdict(policy_, failure); never != StopReason::none) return never;
      }
      return verdict;
    });
  }

  [[nodiscard]] Decision resume(bool cancelled = false) {
    CutShort cut{*this};
    cut.under_way(false);
    const auto next = resumed(cancelled, cut);
    cut.returned();
    return next;
  }

  /// For the failure strategy. Needs `<encore/failure.hpp>`.
  auto failure() const { return failure_of(*this); }
  std::exception_ptr error() const noexcept { return error_; }
  /// The same, which is then no longer kept.
  std::exception_ptr take_error() noexcept { return std::exchange(error_, nullptr); }

 private:
  bool may_end_in_the_wait() const noexcept {
    return may_be_cancelled_ || guarded || frame_.limits.bounded() || call().stop.watches();
  }

  /// Ends the call as cancelled if the users' code that runs in its life does not return, as it does when its thread is
  /// cancelled there: observers hear of the attempt's failure, unless they have, and of the call's end. (B4, F1, H1)
  class CutShort {
   public:
    explicit CutShort(RetryState& state, const Thrown* thrown = nullptr) noexcept
        : state_{state},
          thrown_{thrown} {}
    CutShort(const CutShort&) = delete;
    CutShort& operator=(const CutShort&) = delete;
    ~CutShort() {
      if (!returned_) state_.cut_short(under_way_, thrown_);
    }
    /// Is an attempt under way whose end was not told?
    void under_way(bool is) noexcept { under_way_ = is; }
    void returned() noexcept { returned_ = true; }

   private:
    RetryState& state_;
    const Thrown* thrown_;
    bool under_way_ = true;
    bool returned_ = false;
  };
  ENCORE_COLD void cut_short(bool under_way, const Thrown* thrown) {
    if (under_way && reason_ == StopReason::none)
      this->tell_failed({.stop = StopReason::cancelled}, std::nullopt, thrown);
    abandoned();
  }

  Decision resumed(bool cancelled, CutShort& cut) {
    const auto stopped = cancelled || call().stop.stop_requested();
    auto slept = wait_;
    if (stopped && wait_began_)
      slept = shared::smaller_of(wait_, time_between(*wait_began_, policy_.clock().now()));
    slept_ = sum_of(slept_, slept);
    if constexpr (Policy::waits_when_refused) {
      if (refused_ != StopReason::none) return finish_with_kept_error(refused_);
    }
    auto reason = StopReason::none;
    std::optional<TimePoint> at;
    if (stopped) {
      reason = StopReason::cancelled;
    } else if (frame_.limits.bounded()) {
      at = policy_.clock().now();
      reason = time_verdict(frame_.limits.remaining(*at), Duration::zero(), policy_.min_attempt_time());
    }
    if constexpr (guarded) {
      if (reason == StopReason::none) reason = permits_.still_admitted(policy_.guards(), now());
      if (reason != StopReason::none) permits_.release_attempt();
    }
    if (reason != StopReason::none) return finish_with_kept_error(reason);
    frame_.notes.clear();
    ++frame_.attempt.ordinal;
    error_ = nullptr;
    cut.under_way(true);
    attempt_starts(at);
    start_attempt();
    return {};
  }

  /// `judged` says what the policy thinks of the failure.
  template <class Failed, class Judge>
  Decision decide(const Failed& failure, const Thrown* thrown, const Judge& judged) {
    CutShort cut{*this, thrown};
    auto verdict = StopReason::none;
    std::optional<Duration> hint;
    Duration wait{};
    const auto weigh = [&] { verdict = weighed(judged(), failure, hint, wait); };
    if constexpr (std::same_as<Failed, Thrown> && Policy::asks_users)
      deferring_cancellation(weigh);
    else
      weigh();
    cut.under_way(false);
    const auto next = fail(verdict, wait, hint, thrown);
    cut.returned();
    return next;
  }
  void start_attempt() {
    if constexpr (guarded) permits_.began(now());
    this->tell_started();
    if constexpr (requires { policy_.clock().attempt_started(); }) policy_.clock().attempt_started();
  }

  Decision fail(StopReason stop, Duration wait, const std::optional<Duration>& hint, const Thrown* thrown) {
    this->tell_failed({.stop = stop, .wait = wait}, hint, thrown);
    if constexpr (Policy::waits_when_refused) {
      if (refused_ != StopReason::none) return end_after(wait, thrown);
    }
    if (stop != StopReason::none) return finish(stop, thrown);
    return wait_for(wait);
  }
  Decision wait_for(Duration wait) {
    wait_ = wait;
    if ((may_be_cancelled_ || call().stop.watches()) && wait.count() > 0) wait_began_ = policy_.clock().now();
    return {.wait = wait};
  }

  /// The call ends as refused after the wait that it would have had, its permits given back before. Whoever is not known to
  /// come back after it hears of it in the last decision. (H10)
  Decision end_after(Duration wait, const Thrown* thrown) {
    if (driver_waits_ && wait.count() > 0) {
      give_back(refused_);
      wait_for(wait);
    } else {
      slept_ = sum_of(slept_, wait);
      finish(refused_, thrown);
    }
    return {.stop = refused_, .wait = wait};
  }

  void give_back(StopReason reason) {
    if constexpr (guarded) {
      permits_.call_failed(now(), reason);
      permits_.release();
    }
  }
  void end(StopReason reason) {
    reason_ = reason;
    give_back(reason);
  }
  Decision finish(StopReason reason, const Thrown* thrown) {
    end(reason);
    this->tell_finished(thrown);
    return {.stop = reason};
  }
  Decision finish_with_kept_error(StopReason reason) {
    end(reason);
    this->tell_finished(error_);
    return {.stop = reason};
  }

  using Deciding::admit;
  using Deciding::frame_;
  using Deciding::note_outcome;
  using Deciding::now;
  using Deciding::outcome_;
  using Deciding::permits_;
  using Deciding::policy_;
  using Deciding::reason_;
  using Deciding::refused_;
  using Deciding::slept_;
  using Deciding::started_;
  using Deciding::time_left;
  using Deciding::waits_;
  using Deciding::weighed;
  using Deciding::what_is_known;

  Duration wait_{};
  std::optional<TimePoint> wait_began_{};
  bool may_be_cancelled_ = false;
  bool driver_waits_ = false;
  std::exception_ptr error_{};
};

}  // namespace ENCORE_BUILD::detail
