// The retry decision, in one place: may I start? it worked; it failed, what now?
#pragma once
#include <encore/attributes.hpp>
#include <encore/backoff.hpp>
#include <encore/call_frame.hpp>
#include <encore/decision.hpp>
#include <encore/event.hpp>
#include <encore/extremes.hpp>
#include <encore/failure.hpp>
#include <encore/guard/guard.hpp>
#include <encore/jitter.hpp>
#include <encore/nesting.hpp>
#include <encore/observer.hpp>
#include <encore/random.hpp>
#include <encore/schedule.hpp>
#include <encore/verdict.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace encore::detail {

template <class>
struct permits_for;
template <class... G>
struct permits_for<std::tuple<Kept<G>...>> {
  using type = Permits<G...>;
};

/// Tells every observer of a policy, and counts those that threw.
template <class Policy>
ENCORE_FORCE_INLINE void tell(const Policy& policy, const Event& event, int& errors) {
  tell_each(policy.observers(), event, errors);
}

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
class RetryState {
  friend struct Restorer;  // saves a call and brings it back
  static constexpr bool keeps_error = Keep != KeepError::never;
  static constexpr bool observed = Policy::observed;
  static constexpr bool guarded = Policy::guarded;

 public:
  RetryState(const Policy& policy, CallFrame& frame, const std::optional<TimePoint>& started,
             int observer_errors = 0) noexcept
      : policy_{policy},
        frame_{frame},
        max_retries_{policy.max_retries()},
        observer_errors_{observer_errors},
        started_{started} {}
  RetryState(const RetryState&) = delete;
  RetryState& operator=(const RetryState&) = delete;

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
    if constexpr (observed) {
      auto event = event_of(EventKind::attempt_succeeded);
      event.reason = StopReason::succeeded;
      detail::tell(policy_, event, observer_errors_);
    }
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
      const auto left = frame_.limits.remaining(policy_.clock().now());
      if (left <= Duration::zero())
        reason = StopReason::deadline;
      else if (left < policy_.least_attempt_time())
        reason = StopReason::too_little_time_left;
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
            .max_attempts = policy_.max_attempts(),
            .elapsed = elapsed(),
            .slept = slept_,
            .error = error_,
            .observer_errors = observer_errors_,
            .outcome_unknown = outcome_unknown_,
            .inner_attempts = policy_.inner_attempts()};
  }
  const Policy& policy() const noexcept { return policy_; }
  const Attempt& attempt() const noexcept { return frame_.attempt; }
  const Call& call() const noexcept { return frame_.call(); }
  const CurrentCall& current() const noexcept { return frame_.current; }
  int attempts() const noexcept { return frame_.attempt.ordinal; }
  bool is_last() const noexcept { return attempts() > max_retries_; }
  StopReason reason() const noexcept { return reason_; }
  Duration slept() const noexcept { return slept_; }
  int observer_errors() const noexcept { return observer_errors_; }
  Duration elapsed() const {
    return started_ ? time_between(*started_, policy_.clock().now()) : Duration::zero();
  }
  std::exception_ptr error() const noexcept { return error_; }

  static constexpr bool answered_for(StopReason reason) noexcept {
    return consults_strategy(reason) || (Policy::handles_unmatched && reason == StopReason::not_retryable);
  }

 private:
  Now now() const noexcept { return Now{policy_.clock()}; }
  FailedAttempt what_is_known() const noexcept { return {attempts(), &frame_.current, &frame_.notes}; }
  bool may_end_in_the_wait() const noexcept {
    return Keep == KeepError::always || guarded || frame_.limits.bounded() || call().stop.watches();
  }

  // Guards that are told once a call hear of calls that failed by themselves, not of those that others stopped.
  static constexpr bool counts_as_failed_call(StopReason reason) noexcept {
    switch (reason) {
      case StopReason::excluded_tool:
      case StopReason::not_retryable:
      case StopReason::retries_exhausted:
      case StopReason::deadline:
      case StopReason::too_little_time_left:
      case StopReason::hint_over_cap:
      case StopReason::hint_past_deadline:
      case StopReason::not_repeatable:
      case StopReason::unknown_outcome: return true;
      default: return false;
    }
  }

  const Attempt* outer() const noexcept {
    if constexpr (!Policy::notices_nesting)
      return nullptr;
    else if (policy_.nested() == Nested::allow)
      return nullptr;
    else
      return call().outer != nullptr ? call().outer : marked_attempt;
  }
  bool made_single() const noexcept {
    return Policy::notices_nesting && policy_.nested() == Nested::make_single && outer() != nullptr;
  }

  // ---- deciding ----------------------------------------------------------------------------------------------------

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
    if (made_single()) return StopReason::nested_made_single;
    if (is_last()) return StopReason::retries_exhausted;
    if (call().stop.stop_requested()) return StopReason::cancelled;
    hint = hint_from(policy_, failure, now());
    if (hint && *hint > policy_.hint_cap()) return StopReason::hint_over_cap;
    wait = next_wait(hint);
    if (!frame_.limits.bounded()) return StopReason::none;
    const auto left = frame_.limits.remaining(policy_.clock().now());
    if (wait >= left) return hint ? StopReason::hint_past_deadline : StopReason::deadline;
    return left - wait < policy_.least_attempt_time() ? StopReason::too_little_time_left : StopReason::none;
  }

  Duration next_wait(const std::optional<Duration>& hint) {
    const auto& backoff = policy_.backoff();
    const auto& jitter = policy_.jitter();
    if (!waits_) waits_.emplace(backoff);
    auto draw = 0.0;
    if constexpr (draws<typename Policy::JitterType>) draw = random().draw();
    if (!hint) return waits_->next(backoff, jitter, draw);
    waits_->skip(backoff);
    return smaller_of(lengthened(*hint, hint_share_of(jitter), draw), longest_wait);
  }
  Random& random() {
    if (!random_)
      random_.emplace(policy_.seed() ? stream_of(*policy_.seed(), frame_.current.id()) : fresh_stream());
    return *random_;
  }
  StopReason admit(int ordinal, Duration ahead, const Thrown* after = nullptr) {
    const auto name = call().resolved_name.empty() ? call().name : call().resolved_name;
    return permits_.admit(policy_.guards(), {call().id, name, ordinal, ahead, now(), after});
  }

  // ---- telling -----------------------------------------------------------------------------------------------------

  Event event_of(EventKind kind) noexcept {
    return {.kind = kind,
            .ordinal = attempts(),
            .call_name = call().name,
            .resolved_name = call().resolved_name,
            .notes = &frame_.notes,
            .run_scope = call().scope,
            .id = call().id,
            .current = &frame_.current,
            .max_retries = max_retries_,
            .inner_attempts = policy_.inner_attempts(),
            .now = now(),
            .started = &started_};
  }
  void blame(Event& event, const Thrown* thrown) const {
    event.thrown = thrown;
    event.outer = outer();
    if (thrown != nullptr) event.error_name = name_by(policy_.predicate(), *thrown);
  }

  void start_attempt() {
    if constexpr (guarded) permits_.began(now());
    if constexpr (observed) detail::tell(policy_, event_of(EventKind::attempt_started), observer_errors_);
    if constexpr (requires { policy_.clock().attempt_started(); }) policy_.clock().attempt_started();
  }

  Decision fail(StopReason stop, Duration wait, const std::optional<Duration>& hint, const Thrown* thrown) {
    if constexpr (observed) {
      auto event = event_of(EventKind::attempt_failed);
      event.will_retry = stop == StopReason::none;
      event.reason = stop;
      event.wait = wait;
      event.hint = hint;
      blame(event, thrown);
      detail::tell(policy_, event, observer_errors_);
    }
    if (stop != StopReason::none) return finish(stop, thrown);
    wait_ = wait;
    if ((Keep == KeepError::always || call().stop.watches()) && wait > Duration::zero())
      wait_began_ = policy_.clock().now();
    return {.wait = wait};
  }

  Decision finish(StopReason reason, const Thrown* thrown) {
    return finish(reason, thrown, mode_of(reason, thrown != nullptr || attempts() == 0));
  }
  Decision finish(StopReason reason, const Thrown* thrown, [[maybe_unused]] TerminalMode mode) {
    reason_ = reason;
    if constexpr (guarded) {
      if (counts_as_failed_call(reason)) permits_.call_failed(now(), reason != StopReason::not_retryable);
      permits_.release();
    }
    if constexpr (observed) {
      auto event = event_of(EventKind::call_finished);
      event.reason = reason;
      event.mode = mode;
      event.slept = slept_;
      event.observer_errors = observer_errors_;
      event.outcome_unknown = outcome_unknown_ && reason != StopReason::succeeded;
      blame(event, thrown);
      detail::tell(policy_, event, observer_errors_);
    }
    return {.stop = reason};
  }
  static constexpr TerminalMode mode_of(StopReason reason, bool by_exception) noexcept {
    if (reason == StopReason::succeeded) return TerminalMode::result;
    if (Policy::rethrows || !answered_for(reason))
      return by_exception ? TerminalMode::exception : TerminalMode::result;
    return Policy::FailureStrategyType::mode;
  }

  Decision finish_with_kept_error(StopReason reason) {
#if defined(__cpp_exceptions)
    if constexpr (observed && keeps_error) {
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

  const Policy& policy_;
  CallFrame& frame_;
  int max_retries_;
  int observer_errors_;
  StopReason reason_ = StopReason::none;
  bool key_was_used_ = false;
  bool outcome_unknown_ = false;
  std::optional<TimePoint> started_;
  Duration wait_{};
  Duration slept_{};
  std::optional<TimePoint> wait_began_{};
  std::optional<Random> random_{};
  std::optional<Waits<typename Policy::BackoffType, typename Policy::JitterType>> waits_{};
  [[no_unique_address]] std::conditional_t<keeps_error, std::exception_ptr, NoError> error_{};
  [[no_unique_address]] typename permits_for<typename Policy::Guards>::type permits_{};
};

/// Sleeps through a wait of this call. If an exception ends the sleep, as a thread's forced unwind does, it ends the call
/// too: permits come back, and observers hear of it. (B4, F1, H1)
template <class Policy, class State>
void sleep_through(const Policy& policy, [[maybe_unused]] State& state, Duration wait) {
  if (wait <= Duration::zero()) return;
#if defined(__cpp_exceptions)
  if constexpr (Policy::observed || Policy::guarded) {
    try {
      policy.clock().sleep_for(wait, state.call().stop);
    } catch (...) {
      state.abandoned();
      throw;
    }
    return;
  } else
#endif
    policy.clock().sleep_for(wait, state.call().stop);
}

}  // namespace encore::detail
