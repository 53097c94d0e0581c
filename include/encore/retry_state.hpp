// The retry decision, in one place: may I start? it worked; it failed, what now?
#pragma once
#include <encore/call_frame.hpp>
#include <encore/decision.hpp>
#include <encore/failure.hpp>
#include <encore/guard/permits.hpp>
#include <encore/observed_call.hpp>
#include <encore/pause.hpp>
#include <encore/verdict.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace encore::detail {

/// Stands where no exception has to be kept.
struct NoError {
  NoError& operator=(const std::exception_ptr&) noexcept { return *this; }
  operator std::exception_ptr() const noexcept { return nullptr; }
};

/// Does the last exception outlive its handler?
enum class KeepError : std::uint8_t {
  never,      ///< nothing can end the call in a wait
  if_needed,  ///< if something could end the call in a wait, or the strategy wants it
  always,     ///< the wait may be cancelled in ways that are not known beforehand
};

/// Everything that `Retrying` promises, for a call whose frame somebody else keeps.
template <class Policy, KeepError Keep = KeepError::if_needed>
class RetryState : public ObservedCall<Policy> {
  friend struct Restorer;  // saves a call and brings it back
  using Observed = ObservedCall<Policy>;
  static constexpr bool keeps_error = Keep != KeepError::never;
  static constexpr bool guarded = Policy::guarded;

 public:
  RetryState(const Policy& policy, CallFrame& frame, const std::optional<TimePoint>& started,
             int observer_errors = 0) noexcept
      : Observed{policy, frame, started, observer_errors} {}

  using Observed::answered_for;
  using Observed::attempts;
  using Observed::call;
  using Observed::is_last;

  [[nodiscard]] Decision begin() {
    auto refused = StopReason::none;
    if (call().stop.stop_requested())
      refused = StopReason::cancelled_on_entry;
    else if (frame_.limits.bounded() && frame_.limits.remaining(*started_) <= Duration::zero())
      refused = StopReason::expired_on_entry;
    else
      refused = call().refused;
    if constexpr (guarded) {
      if (refused == StopReason::none) refused = admit(1, Duration::zero());
      if (refused != StopReason::none) permits_.release();
    }
    if (refused != StopReason::none) {
      frame_.attempt.ordinal = 0;
      return finish(refused, nullptr);
    }
    start_attempt();
    return {};
  }

  void succeeded() {
    if constexpr (guarded) permits_.succeeded(now());
    this->tell_succeeded();
    finish(StopReason::succeeded, nullptr);
  }

  [[nodiscard]] Decision threw(const std::exception* error) {
    const auto known = what_is_known();
    const Thrown thrown{error, known};
    const auto next = decide(judge(policy_, thrown), thrown, &thrown);
    if constexpr (keeps_error) {
      if (next.goes_on() ? may_end_in_the_wait() : !Policy::rethrows && answered_for(next.stop))
        error_ = std::current_exception();
    }
    return next;
  }
  void unwound() {
    const Thrown thrown{nullptr};
    if constexpr (guarded) permits_.release();
    fail(StopReason::cancelled, {}, std::nullopt, &thrown);
  }

  /// Nobody will go on with this call: its permits come back, and observers hear its end. (H1)
  void abandoned() {
    if constexpr (guarded) permits_.release();
    if (reason_ == StopReason::none) finish(StopReason::cancelled, nullptr, TerminalMode::none);
  }

  template <class Value>
  [[nodiscard]] Decision returned(const Value& value) {
    const auto known = what_is_known();
    const auto verdict = judge_value(policy_, Returned<Value>{value, known});
    if (verdict != StopReason::succeeded) return returned_failure(value, verdict);
    succeeded();
    return {.stop = StopReason::succeeded};
  }
  /// The same after the predicate has been asked: `verdict` is `none` if it matched, or `predicate_threw`.
  template <class Value>
  [[nodiscard]] Decision returned_failure(const Value& value, StopReason verdict) {
    const auto known = what_is_known();
    const Returned<Value> failure{value, known};
    if (verdict == StopReason::none)
      verdict = is_never_retried(failure) ? StopReason::never_retry_type : listed_as_never(policy_, failure);
    return decide(verdict, failure, nullptr);
  }

  [[nodiscard]] Decision resume(bool cancelled = false) {
    auto reason = StopReason::none;
    auto slept = wait_;
    if (cancelled || call().stop.stop_requested()) {
      reason = StopReason::cancelled;
      if (wait_began_) slept = smaller_of(wait_, time_between(*wait_began_, policy_.clock().now()));
    } else if (frame_.limits.bounded()) {
      reason = judge_time(Duration::zero());
    }
    slept_ += slept;
    if constexpr (guarded) {
      if (reason == StopReason::none) reason = permits_.still_admitted(policy_.guards(), now());
      if (reason != StopReason::none) permits_.release_attempt();
    }
    if (reason != StopReason::none) return finish_with_kept_error(reason);
    frame_.notes.clear();
    ++frame_.attempt.ordinal;
    if constexpr (keeps_error) error_ = nullptr;
    start_attempt();
    return {};
  }

  Failure failure() const {
    return {.call_id = std::string{frame_.current.id()},
            .call_name = std::string{frame_.current.name()},
            .reason = reason_,
            .attempts = attempts(),
            .max_attempts = call().runs_once() ? 1 : policy_.max_attempts(),
            .elapsed = this->elapsed(),
            .slept = slept_,
            .error = error_,
            .observer_errors = observer_errors_,
            .outcome_unknown = outcome_unknown_,
            .inner_attempts = policy_.inner_attempts()};
  }
  std::exception_ptr error() const noexcept { return error_; }

 private:
  FailedAttempt what_is_known() const noexcept { return {attempts(), &frame_.current, &frame_.notes}; }
  bool may_end_in_the_wait() const noexcept {
    return Keep == KeepError::always || guarded || frame_.limits.bounded() || call().stop.watches();
  }

  template <class Failed>
  Decision decide(StopReason verdict, const Failed& failure, const Thrown* thrown) {
    key_was_used_ = key_was_used_ || frame_.notes.key_used();
    if constexpr (guarded) permits_.attempt_failed(now(), verdict == StopReason::none);
    if (call().replay != ReplaySafety::repeatable) verdict = heed_replay_safety(verdict, failure);
    std::optional<Duration> hint;
    Duration wait{};
    if (verdict == StopReason::none) verdict = another_attempt(failure, hint, wait);
    if constexpr (guarded) {
      if (verdict == StopReason::none) verdict = admit(attempts() + 1, wait, thrown);
    }
    return fail(verdict, wait, hint, thrown);
  }

  template <class Failed>
  StopReason heed_replay_safety(StopReason verdict, const Failed& failure) {
    outcome_unknown_ = frame_.notes.outcome_unknown() || (outcome_unknown_ && !frame_.notes.answered());
    if (verdict != StopReason::none && verdict != StopReason::not_retryable) return verdict;
    const auto replay = replay_verdict(call().replay, frame_.notes, key_was_used_);
    if (verdict == StopReason::none || replay == StopReason::excluded_tool) return replay;
    if (replay != StopReason::unknown_outcome) return verdict;
    // An unknown outcome is one even where the predicate would not retry: somebody has to reconcile it. (I3) But what is
    // never retried, as a cancellation, still leaves. (B4)
    const auto never = never_verdict(policy_, failure);
    return never != StopReason::none ? never : replay;
  }
  template <class Failed>
  StopReason another_attempt(const Failed& failure, std::optional<Duration>& hint, Duration& wait) {
    if (this->made_single()) return StopReason::nested_made_single;
    if (is_last()) return StopReason::retries_exhausted;
    if (call().stop.stop_requested()) return StopReason::cancelled;
    hint = hint_from(policy_, failure, now());
    if (hint && *hint > policy_.hint_cap()) return StopReason::hint_over_cap;
    wait = pauses_.next(policy_, frame_.current, hint);
    if (!frame_.limits.bounded()) return StopReason::none;
    const auto verdict = judge_time(wait);
    return hint && verdict == StopReason::deadline ? StopReason::hint_past_deadline : verdict;
  }
  StopReason judge_time(Duration wait) const {
    return time_verdict(frame_.limits.remaining(policy_.clock().now()), wait, policy_.least_attempt_time());
  }

  StopReason admit(int ordinal, Duration ahead, const Thrown* after = nullptr) {
    const auto name = call().resolved_name.empty() ? call().name : call().resolved_name;
    return permits_.admit(policy_.guards(), {call().id, name, ordinal, ahead, now(), after});
  }

  void start_attempt() {
    if constexpr (guarded) permits_.began(now());
    this->tell_started();
    if constexpr (requires { policy_.clock().attempt_started(); }) policy_.clock().attempt_started();
  }

  Decision fail(StopReason stop, Duration wait, const std::optional<Duration>& hint, const Thrown* thrown) {
    this->tell_failed({.stop = stop, .wait = wait}, hint, thrown);
    if (stop != StopReason::none) return finish(stop, thrown);
    wait_ = wait;
    if ((Keep == KeepError::always || call().stop.watches()) && wait > Duration::zero())
      wait_began_ = policy_.clock().now();
    return {.wait = wait};
  }

  Decision finish(StopReason reason, const Thrown* thrown) {
    return finish(reason, thrown, Observed::mode_of(reason, thrown != nullptr || attempts() == 0));
  }
  Decision finish(StopReason reason, const Thrown* thrown, TerminalMode mode) {
    reason_ = reason;
    if constexpr (guarded) {
      permits_.call_failed(now(), reason);
      permits_.release();
    }
    this->tell_finished(mode, thrown);
    return {.stop = reason};
  }

  Decision finish_with_kept_error(StopReason reason) {
#if defined(__cpp_exceptions)
    if constexpr (Policy::observed && keeps_error) {
      if (error_ != nullptr) {
        try {
          std::rethrow_exception(error_);
        } catch (const std::exception& error) {
          const Thrown thrown{&error};
          return finish(reason, &thrown);
        } catch (...) {
          const Thrown thrown{nullptr};
          return finish(reason, &thrown);
        }
      }
    }
#endif
    return finish(reason, nullptr);
  }

  using Observed::frame_;
  using Observed::now;
  using Observed::observer_errors_;
  using Observed::outcome_unknown_;
  using Observed::policy_;
  using Observed::reason_;
  using Observed::slept_;
  using Observed::started_;

  bool key_was_used_ = false;
  Duration wait_{};
  std::optional<TimePoint> wait_began_{};
  Pauses<Policy> pauses_{};
  [[no_unique_address]] std::conditional_t<keeps_error, std::exception_ptr, NoError> error_{};
  [[no_unique_address]] typename permits_for<typename Policy::Guards>::type permits_{};
};

}  // namespace encore::detail
