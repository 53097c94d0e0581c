// The retry decision, in one place: may I start? it worked; it failed, what now?
#pragma once
#include <encore/attempt.hpp>
#include <encore/backoff.hpp>
#include <encore/decision.hpp>
#include <encore/event.hpp>
#include <encore/failure.hpp>
#include <encore/guard/guard.hpp>
#include <encore/hint.hpp>
#include <encore/jitter.hpp>
#include <encore/nesting.hpp>
#include <encore/never_retry.hpp>
#include <encore/observer.hpp>
#include <encore/predicate.hpp>
#include <encore/random.hpp>
#include <encore/schedule.hpp>

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace encore {

namespace detail {

template <class>
struct permits_for;
template <class... G>
struct permits_for<std::tuple<Kept<G>...>> {
  using type = Permits<G...>;
};

/// Tells every observer of a policy; answers with the number of those that threw.
template <class Policy>
ENCORE_FORCE_INLINE void tell(const Policy& policy, const Event& event, int& errors) {
  std::apply([&](const auto&... observer) { (tell_one(observer.get(), event, errors), ...); },
             policy.observers());
}

}  // namespace detail

/// One call under a policy, driven by whoever has a way to wait: a thread that sleeps, a timer queue, a coroutine. It never
/// calls, sleeps, suspends or allocates; policy and call must outlive it. Not thread-safe: a call is driven by one at a time.
///   Retrying retrying{policy, call};
///   Decision next{retrying.begin()};                      // may the first attempt start?
///   … run the attempt, with retrying.attempt() …
///   retrying.succeeded();                                 // or, inside the handler of its exception:
///   next = retrying.threw(&error);                        // again after next.wait, or stop because next.stop
///   next = retrying.resume();                             // after the wait: may it still start?
template <class Policy>
class Retrying {
  static constexpr bool observed = Policy::observed;
  static constexpr bool guarded = Policy::guarded;
  static constexpr bool notices_nesting = Policy::notices_nesting;

 public:
  Retrying(const Policy& policy, const CurrentCall& call)
      : Retrying{policy, call,
                 Policy::reports_time || policy.time_budget() || call.call().deadline
                     ? std::optional{policy.clock().now()}
                     : std::nullopt} {}
  Retrying(const Policy&&, const CurrentCall&) = delete;  // a temporary policy would be gone before its call
  Retrying(const Policy&, const CurrentCall&&) = delete;
  Retrying(const Retrying&) = delete;
  Retrying& operator=(const Retrying&) = delete;

  /// A call whose first attempt is under way already: how the synchronous driver enters here only after a failure.
  struct FirstAttemptUnderWay {
    std::optional<TimePoint> started;
    int observer_errors = 0;
  };
  Retrying(const Policy& policy, const CurrentCall& call, const FirstAttemptUnderWay& first)
      : Retrying{policy, call, first.started} {
    observer_errors_ = first.observer_errors;
  }

  /// May the first attempt start? If so it has, for observers and guards: make it. If not, the call is over. (D5, H2, K2)
  [[nodiscard]] Decision begin() {
    auto refused = StopReason::none;
    if (call_.call().stop.stop_requested())
      refused = StopReason::cancelled_on_entry;
    else if (limits_.bounded() && limits_.remaining(*started_) <= Duration::zero())
      refused = StopReason::expired_on_entry;
    if constexpr (guarded) {
      if (refused == StopReason::none) refused = admit(1, Duration::zero());
      if (refused != StopReason::none) permits_.release();
    }
    if (refused != StopReason::none) {
      attempt_.ordinal = 0;
      return finish(refused, nullptr);
    }
    start_attempt();
    return {};
  }

  /// The attempt under way: for the callable.
  const Attempt& attempt() const noexcept { return attempt_; }
  /// How many attempts have been started.
  int attempts() const noexcept { return attempt_.ordinal; }
  /// True while no further attempt is allowed by the count.
  bool is_last() const noexcept { return attempt_.ordinal > max_retries_; }

  /// The attempt ended well, and with it the call.
  void succeeded() {
    if constexpr (guarded) permits_.succeeded(now());
    if constexpr (observed) {
      auto event = event_of(EventKind::attempt_succeeded);
      event.reason = StopReason::succeeded;
      detail::tell(policy_, event, observer_errors_);
    }
    finish(StopReason::succeeded, nullptr);
  }

  /// The attempt threw; called inside the handler. `error` is null if a `catch (const std::exception&)` does not catch it.
  [[nodiscard]] Decision threw(const std::exception* error) {
    const auto known = what_is_known();
    const Thrown thrown{error, known};
    const auto verdict = judge(thrown);
    const auto next = decide(verdict, thrown, &thrown);
    if (next.goes_on() ? may_end_in_the_wait() : !Policy::rethrows && answered_for(next.stop))
      error_ = std::current_exception();
    return next;
  }
#if defined(__cpp_exceptions)
  /// The same for whatever is being handled, at the price of a rethrow.
  [[nodiscard]] Decision threw() {
    try {
      throw;
    } catch (const std::exception& error) {
      return threw(&error);
    } catch (...) {
      return threw(nullptr);
    }
  }
  /// A thread's forced unwind goes through: permits come back, observers hear the end. (B4)
  void unwound() {
    const Thrown thrown{nullptr};
    if constexpr (guarded) permits_.release();
    fail(StopReason::cancelled, {}, std::nullopt, &thrown);
  }
#endif

  /// The attempt returned a value: a success, which ends the call with `StopReason::succeeded`, or a failure to decide on.
  template <class Value>
  [[nodiscard]] Decision returned(const Value& value) {
    const auto known = what_is_known();
    const Returned<Value> failure{value, known};
    auto verdict = StopReason::predicate_threw;
    if (!holds([&] { return policy_.predicate().matches(failure); }, verdict)) {
      if (verdict == StopReason::none) return succeeded(), Decision{.stop = StopReason::succeeded};
    } else {
      verdict = listed_as_never(failure);
    }
    return decide(verdict, failure, nullptr);
  }

  /// The wait is over, or was ended by a stop request: may the next attempt start? If so it has; make it. (D3, H2, K1)
  [[nodiscard]] Decision resume() {
    const auto stopped = call_.call().stop.stop_requested();
    slept_ +=
        stopped && wait_began_ ? std::min(wait_, time_between(*wait_began_, policy_.clock().now())) : wait_;
    auto reason = stopped ? StopReason::cancelled : StopReason::none;
    if (reason == StopReason::none && limits_.bounded()) {
      const auto left = limits_.remaining(policy_.clock().now());
      if (left <= Duration::zero())
        reason = StopReason::deadline;
      else if (left < policy_.least_attempt_time())
        reason = StopReason::too_little_time_left;
    }
    if constexpr (guarded) {
      if (reason == StopReason::none) reason = permits_.still_admitted(policy_.guards(), now());
      if (reason != StopReason::none) permits_.release_attempt();
    }
    if (reason != StopReason::none) return finish_with_kept_error(reason);
    notes_.clear();
    ++attempt_.ordinal;
    error_ = nullptr;
    start_attempt();
    return {};
  }

  /// The whole failure, after a stop: for a failure strategy. (G3)
  Failure failure() const {
    return {.call_id = std::string{call_.id()},
            .call_name = std::string{call_.name()},
            .reason = reason_,
            .attempts = attempts(),
            .max_attempts =
                CountLimit::is_unlimited(max_retries_) ? std::nullopt : std::optional{max_retries_ + 1},
            .elapsed = elapsed(),
            .slept = slept_,
            .error = error_,
            .observer_errors = observer_errors_};
  }
  StopReason reason() const noexcept { return reason_; }
  Duration slept() const noexcept { return slept_; }
  int observer_errors() const noexcept { return observer_errors_; }
  /// Since `begin`; zero if neither a limit, an observer nor the strategy had the time read then. (P5)
  Duration elapsed() const {
    return started_ ? time_between(*started_, policy_.clock().now()) : Duration::zero();
  }
  /// The last exception, kept across the wait if something could stop the call in it.
  const std::exception_ptr& error() const noexcept { return error_; }
  const CurrentCall& call() const noexcept { return call_; }

  /// Does the failure strategy answer for a call that ended so? Else its exception or value leaves as it is. (B3, G7)
  static constexpr bool answered_for(StopReason reason) noexcept {
    return consults_strategy(reason) || (Policy::handles_unmatched && reason == StopReason::not_retryable);
  }

 private:
  Retrying(const Policy& policy, const CurrentCall& call, std::optional<TimePoint> started)
      : policy_{policy},
        call_{call},
        max_retries_{policy.max_retries()},
        started_{started},
        limits_{.started = started.value_or(TimePoint{}),
                .budget = policy.time_budget(),
                .deadline = call.call().deadline,
                .attempt_timeout = policy.attempt_timeout()},
        attempt_{1, call, notes_, limits_, Now{policy.clock()}} {}

  Now now() const noexcept { return Now{policy_.clock()}; }
  bool may_end_in_the_wait() const noexcept {
    return guarded || limits_.bounded() || call_.call().stop.watches();
  }

  // Guards that are told once a call hear of calls that failed by themselves, not of those that others stopped.
  static constexpr bool counts_as_failed_call(StopReason reason) noexcept {
    switch (reason) {
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

  // ---- judging -----------------------------------------------------------------------------------------------------

  FailedAttempt what_is_known() const noexcept { return {attempt_.ordinal, &call_, &notes_}; }

  // Asks a user's test; if it throws, the answer is no and `threw` stays as it was, else it becomes `none`. (B7)
  template <class Test>
  static bool holds(Test&& test, StopReason& threw) {
#if defined(__cpp_exceptions)
    try {
#endif
      const bool answer = test();
      threw = StopReason::none;
      return answer;
#if defined(__cpp_exceptions)
    } catch (...) {
      if (std::current_exception() == nullptr) throw;
      return false;
    }
#endif
  }

  StopReason judge(const Thrown& thrown) const {
    if constexpr (JudgesExceptions<typename Policy::PredicateType>) {
      auto verdict = StopReason::predicate_threw;
      if (!holds([&] { return policy_.predicate().matches(thrown); }, verdict)) {
        if (verdict != StopReason::none) return verdict;
        return Policy::handles_unmatched && detail::is_never_retried(thrown) ? StopReason::never_retry_type
                                                                             : StopReason::not_retryable;
      }
      if (detail::is_never_retried(thrown)) return StopReason::never_retry_type;
      return listed_as_never(thrown);
    } else {
      return StopReason::not_retryable;
    }
  }

  template <class Failed>
  StopReason listed_as_never(const Failed& failure) const {
    auto verdict = StopReason::none;
    std::apply(
        [&](const auto&... never) { static_cast<void>((... || refuses(never.get(), failure, verdict))); },
        policy_.never());
    return verdict;
  }
  template <class Never, class Failed>
  static bool refuses(const Never& never, const Failed& failure, StopReason& verdict) {
    if constexpr (requires { never.matches(failure); }) {
      auto threw = StopReason::predicate_threw;
      verdict = holds([&] { return never.matches(failure); }, threw) ? StopReason::never_retry_type : threw;
    }
    return verdict != StopReason::none;
  }

  // A failure after the request left and before an answer came is unknown, unless repeating is safe. A tool that is safe
  // with a key alone is not repeated before it has asked for its key. (I1, I3)
  StopReason replay_verdict() const noexcept {
    const auto safety = call_.call().replay;
    if (safety == ReplaySafety::repeatable) return StopReason::none;
    const auto keyed = safety == ReplaySafety::repeatable_with_key;
    const auto unknown = notes_.dispatched() && !notes_.answered();
    if (unknown && !(keyed && notes_.key_used())) return StopReason::unknown_outcome;
    return keyed && key_was_used_ ? StopReason::none : StopReason::not_repeatable;
  }

  bool made_single() const noexcept {
    if constexpr (notices_nesting)
      return policy_.nested() == Nested::make_single && outer() != nullptr;
    else
      return false;
  }
  const Attempt* outer() const noexcept {
    if constexpr (!notices_nesting)
      return nullptr;
    else if (policy_.nested() == Nested::allow)
      return nullptr;
    else
      return call_.call().outer != nullptr ? call_.call().outer : detail::marked_attempt;
  }

  // ---- deciding ----------------------------------------------------------------------------------------------------

  template <class Failed>
  Decision decide(StopReason verdict, const Failed& failure, const Thrown* thrown) {
    key_was_used_ = key_was_used_ || notes_.key_used();
    if constexpr (guarded) permits_.attempt_failed(now(), verdict == StopReason::none);
    auto hint = detail::no_hint;
    Duration wait{};
    if (verdict == StopReason::none || verdict == StopReason::not_retryable) {
      if (const auto replay = replay_verdict(); replay == StopReason::unknown_outcome ||
                                                (verdict == StopReason::none && replay != StopReason::none))
        verdict = replay;
    }
    if (verdict == StopReason::none) verdict = limits_of_another_attempt(failure, hint, wait);
    if constexpr (guarded) {
      if (verdict == StopReason::none) verdict = admit(attempt_.ordinal + 1, wait);
    }
    return fail(verdict, wait, hint, thrown);
  }

  template <class Failed>
  StopReason limits_of_another_attempt(const Failed& failure, std::optional<Duration>& hint, Duration& wait) {
    if (made_single()) return StopReason::nested_made_single;
    if (is_last()) return StopReason::retries_exhausted;
    if (call_.call().stop.stop_requested()) return StopReason::cancelled;
    hint = hint_from(failure);
    if (hint && *hint > policy_.hint_cap()) return StopReason::hint_over_cap;
    wait = next_wait(hint);
    if (!limits_.bounded()) return StopReason::none;
    const auto left = limits_.remaining(policy_.clock().now());
    if (wait >= left) return hint ? StopReason::hint_past_deadline : StopReason::deadline;
    return left - wait < policy_.least_attempt_time() ? StopReason::too_little_time_left : StopReason::none;
  }

  template <class Failed>
  std::optional<Duration> hint_from(const Failed& failure) const {
    auto hint = detail::no_hint;
    auto ignored = StopReason::none;
    holds(
        [&] {
          if constexpr (requires { policy_.hint_source().hint(failure, now()); })
            hint = policy_.hint_source().hint(failure, now());
          if (hint) return true;
          if constexpr (std::same_as<Failed, Thrown>)
            hint = detail::hint_by(policy_.predicate(), failure, now());
          else if constexpr (CarriesHint<std::remove_cvref_t<decltype(failure.value)>>)
            hint = hint_of(failure.value, now());
          return true;
        },
        ignored);
    return hint;
  }

  Duration next_wait(const std::optional<Duration>& hint) {
    const auto& backoff = policy_.backoff();
    const auto& jitter = policy_.jitter();
    if (!waits_) waits_.emplace(backoff);
    auto draw = 0.0;
    if constexpr (draws<typename Policy::JitterType>) draw = random().draw();
    if (!hint) return waits_->next(backoff, jitter, draw);
    waits_->skip(backoff);
    return std::min(lengthened(*hint, hint_share_of(jitter), draw), longest_wait);
  }
  Random& random() {
    if (!random_) random_.emplace(policy_.seed() ? stream_of(*policy_.seed(), call_.id()) : fresh_stream());
    return *random_;
  }

  StopReason admit(int ordinal, Duration ahead) {
    return permits_.admit(policy_.guards(), {call_.call().id, call_.name(), ordinal, ahead, now()});
  }

  // ---- telling -----------------------------------------------------------------------------------------------------

  Event event_of(EventKind kind) noexcept {
    return {.kind = kind,
            .ordinal = attempt_.ordinal,
            .call_name = call_.name(),
            .resolved_name = call_.call().resolved_name,
            .notes = &notes_,
            .id = call_.call().id,
            .current = &call_,
            .max_retries = max_retries_,
            .now = now(),
            .started = &started_};
  }
  void blame(Event& event, const Thrown* thrown) const {
    event.thrown = thrown;
    event.outer = outer();
    if (thrown != nullptr) event.error_name = detail::name_by(policy_.predicate(), *thrown);
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
    if (call_.call().stop.watches() && wait > Duration::zero()) wait_began_ = policy_.clock().now();
    return {.wait = wait};
  }

  Decision finish(StopReason reason, const Thrown* thrown) {
    reason_ = reason;
    if constexpr (guarded) {
      if (counts_as_failed_call(reason)) permits_.call_failed(now(), reason != StopReason::not_retryable);
      permits_.release();
    }
    if constexpr (observed) {
      auto event = event_of(EventKind::call_finished);
      event.reason = reason;
      event.mode = mode_of(reason, thrown != nullptr || attempt_.ordinal == 0);
      event.slept = slept_;
      event.observer_errors = observer_errors_;
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
    if constexpr (observed) {
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
  const CurrentCall& call_;
  int max_retries_;
  int observer_errors_ = 0;
  StopReason reason_ = StopReason::none;
  bool key_was_used_ = false;
  std::optional<TimePoint> started_;
  TimeLimits limits_;
  AttemptNotes notes_;
  Attempt attempt_;
  Duration wait_{};
  Duration slept_{};
  std::optional<TimePoint> wait_began_{};
  std::optional<Random> random_{};
  std::optional<Waits<typename Policy::BackoffType, typename Policy::JitterType>> waits_{};
  std::exception_ptr error_{};
  [[no_unique_address]] typename detail::permits_for<typename Policy::Guards>::type permits_{};
};

}  // namespace encore
