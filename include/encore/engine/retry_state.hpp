// The steps of a call: it begins, an attempt succeeds or fails, it resumes after a wait, it ends.
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

/// What `Retrying` promises, for a call whose frame is stored elsewhere.
template <class Policy>
class RetryState : public RetryDecision<Policy> {
  friend struct Guarding<Policy>;  // what guards add, in <encore/guard/guard.hpp>
  friend struct ReturnedFailures;  // what returned values add, in <encore/returned.hpp>
  friend struct Restorer;          // saves a call and restores it
  using Deciding = RetryDecision<Policy>;
  static constexpr bool guarded = Policy::guarded;
  static constexpr bool waits_when_refused = Policy::waits_when_refused;

 public:
  using PolicyType = Policy;
  using Permits = typename Deciding::Permits;

  RetryState(const Policy& policy, CallFrame& frame, Permits& permits,
             const std::optional<TimePoint>& started, int observer_errors = 0) noexcept
      : Deciding{policy, frame, permits, started, observer_errors} {}
  /// Its waits may be cancelled by others than its stop token, as a coroutine's.
  void may_be_cancelled() noexcept { may_be_cancelled_ = true; }
  /// Its driver resumes it after every wait, even if the call ends there.
  void driver_waits() noexcept { driver_waits_ = true; }

  using Deciding::attempts, Deciding::call, Deciding::is_last, Deciding::strategy_handles;
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
      if (refused = Guarding<Policy>::admit(*this, 1, Duration::zero()); refused != StopReason::none)
        return Guarding<Policy>::refuse(*this, refused);
    }
    start_attempt();
    return {};
  }
  /// Records when the next attempt starts, if it has a limit of its own. (D6)
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

  /// True if the driver waits after this decision, and then resumes the call.
  static constexpr bool waits_after(const Decision& next) noexcept {
    return next.goes_on() || (waits_when_refused && next.wait.count() > 0);
  }

  void succeeded() {
    if constexpr (guarded) permits_.succeeded(now());
    this->notify_succeeded();
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
    if (next.goes_on() ? may_end_in_the_wait()
                       : waits_after(next) || (!Policy::rethrows && strategy_handles(next.stop)))
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

  /// The call will not be continued: its permits are given back, and observers are notified of its end. (H1)
  void abandoned() {
    if constexpr (guarded) permits_.release();
    error_ = nullptr;
    if (reason_ != StopReason::none) return;
    note_outcome();
    end(refused_ != StopReason::none ? refused_ : StopReason::cancelled);
    this->notify_abandoned();
  }

  [[nodiscard]] Decision resume(bool cancelled = false) {
    CutShort cut{*this, nullptr, false};
    const auto next = resumed(cancelled, cut.under_way);
    cut.returned = true;
    return next;
  }

  /// For the failure strategy. Needs `<encore/failure.hpp>`.
  auto failure() const { return failure_of(*this); }
  std::exception_ptr error() const noexcept { return error_; }
  /// The same, given away.
  std::exception_ptr take_error() noexcept { return std::exchange(error_, nullptr); }

 private:
  bool may_end_in_the_wait() const noexcept {
    return may_be_cancelled_ || guarded || frame_.limits.bounded() || call().stop.watches();
  }

  /// Ends the call as cancelled if the users' code that runs in its life does not return, as when its thread is cancelled there:
  /// observers are notified of the attempt's failure, unless they have been, and of the call's end. (B4, F1, H1)
  struct CutShort {
    RetryState& state;
    const Thrown* thrown = nullptr;
    bool under_way = true;  // an attempt whose end was not reported
    bool returned = false;
    ~CutShort() {
      if (!returned) state.cut_short(under_way, thrown);
    }
  };
  ENCORE_COLD void cut_short(bool under_way, const Thrown* thrown) {
    if (under_way && reason_ == StopReason::none)
      this->notify_failed({.stop = StopReason::cancelled}, std::nullopt, thrown);
    abandoned();
  }

  Decision resumed(bool cancelled, bool& under_way) {
    const auto stopped = cancelled || call().stop.stop_requested();
    auto slept = wait_;
    if (stopped && wait_began_)
      slept = shared::smaller_of(wait_, time_between(*wait_began_, policy_.clock().now()));
    slept_ = sum_of(slept_, slept);
    if (waits_when_refused && refused_ != StopReason::none) return finish_with_kept_error(refused_);
    auto reason = StopReason::none;
    std::optional<TimePoint> at;
    if (stopped) {
      reason = StopReason::cancelled;
    } else if (frame_.limits.bounded()) {
      at = policy_.clock().now();
      reason = time_verdict(frame_.limits.remaining(*at), Duration::zero(), policy_.min_attempt_time());
    }
    if constexpr (guarded) permits_.waited(reason, now());
    if (reason != StopReason::none) return finish_with_kept_error(reason);
    frame_.notes.clear();
    ++frame_.attempt.ordinal;
    error_ = nullptr;
    under_way = true;
    attempt_starts(at);
    start_attempt();
    return {};
  }

  /// `judged` gives the policy's verdict on the failure.
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
    cut.under_way = false;
    const auto next = fail(verdict, wait, hint, thrown);
    cut.returned = true;
    return next;
  }
  void start_attempt() {
    if constexpr (guarded) permits_.began(now());
    this->notify_started();
    if constexpr (requires { policy_.clock().attempt_started(); }) policy_.clock().attempt_started();
  }

  Decision fail(StopReason stop, Duration wait, const std::optional<Duration>& hint, const Thrown* thrown) {
    this->notify_failed({.stop = stop, .wait = wait}, hint, thrown);
    if constexpr (waits_when_refused) {
      if (refused_ != StopReason::none) return Guarding<Policy>::end_after(*this, wait, thrown);
    }
    if (stop != StopReason::none) return finish(stop, thrown);
    return wait_for(wait);
  }
  Decision wait_for(Duration wait) {
    wait_ = wait;
    if ((may_be_cancelled_ || call().stop.watches()) && wait.count() > 0) wait_began_ = policy_.clock().now();
    return {.wait = wait};
  }

  void end(StopReason reason) {
    reason_ = reason;
    if constexpr (guarded) permits_.call_ended(now(), reason);
  }
  Decision finish(StopReason reason, const Thrown* thrown) {
    end(reason);
    this->notify_finished(thrown);
    return {.stop = reason};
  }
  Decision finish_with_kept_error(StopReason reason) {
    end(reason);
    this->notify_finished(error_);
    return {.stop = reason};
  }

  using Deciding::frame_, Deciding::note_outcome, Deciding::now, Deciding::outcome_, Deciding::permits_;
  using Deciding::policy_, Deciding::reason_, Deciding::refused_, Deciding::slept_, Deciding::started_;
  using Deciding::time_left, Deciding::waits_, Deciding::weighed, Deciding::what_is_known;

  Duration wait_{};
  std::optional<TimePoint> wait_began_{};
  bool may_be_cancelled_ = false;
  bool driver_waits_ = false;
  std::exception_ptr error_{};
};

}  // namespace ENCORE_BUILD::detail
