// A call under way: what is known of it, and what observers are told of it.
#pragma once
#include <encore/clock.hpp>
#include <encore/decision.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/engine/call_frame.hpp>
#include <encore/engine/deferred_cancellation.hpp>
#include <encore/event.hpp>
#include <encore/failure.hpp>
#include <encore/nesting.hpp>
#include <encore/observer.hpp>
#include <encore/predicate.hpp>
#include <encore/stop_reason.hpp>

#include <optional>

namespace encore ENCORE_BUILD::detail {

/// Tells every observer of a policy, and counts those that threw.
template <class Policy>
ENCORE_FORCE_INLINE void tell(const Policy& policy, const Event& event, int& errors) {
  tell_each(policy.observers(), event, errors);
}

/// An event of a call; what depends on its kind is still to be filled in. Before the first failure there may be no frame.
template <class Policy>
ENCORE_FORCE_INLINE Event event_of(const Policy& policy, EventKind kind, int ordinal, const Call& call,
                                   const TimeLimits& limits, std::optional<TimePoint>& started,
                                   const CallFrame* frame = nullptr) noexcept {
  return {.kind = kind,
          .ordinal = ordinal,
          .call_name = call.name,
          .resolved_name = call.resolved_name,
          .notes = frame != nullptr ? &frame->notes : nullptr,
          .run_scope = call.scope,
          .id = call.id,
          .current = frame != nullptr ? &frame->current : nullptr,
          .max_retries = call.runs_once() ? larger_of(ordinal, 1) - 1 : policy.max_retries(),
          .inner_attempts = policy.inner_attempts(),
          .limits = &limits,
          .now = Now{policy.clock()},
          .started = &started};
}

/// One call, its count, times and end, told to the policy's observers. It refers to the policy and to the call's frame.
template <class Policy>
class ObservedCall {
  static constexpr bool observed = Policy::observed;

 public:
  ObservedCall(const Policy& policy, CallFrame& frame, const std::optional<TimePoint>& started,
               int observer_errors) noexcept
      : policy_{policy},
        frame_{frame},
        max_retries_{policy.max_retries()},
        observer_errors_{observer_errors},
        started_{started} {}
  ObservedCall(const ObservedCall&) = delete;
  ObservedCall& operator=(const ObservedCall&) = delete;

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

  static constexpr bool answered_for(StopReason reason) noexcept {
    return consults_strategy(reason) || (Policy::handles_unmatched && reason == StopReason::not_retryable);
  }

 protected:
  ~ObservedCall() = default;

  Now now() const noexcept { return Now{policy_.clock()}; }
  bool made_single() const noexcept {
    return Policy::notices_nesting && policy_.nested() == Nested::make_single && outer() != nullptr;
  }
  static constexpr TerminalMode mode_of(StopReason reason, bool by_exception) noexcept {
    if (reason == StopReason::succeeded) return TerminalMode::result;
    if (Policy::rethrows || !answered_for(reason))
      return by_exception ? TerminalMode::exception : TerminalMode::result;
    return Policy::FailureStrategyType::mode;
  }
  const Attempt* outer() const noexcept {
    if constexpr (!Policy::notices_nesting)
      return nullptr;
    else if (policy_.nested() == Nested::allow)
      return nullptr;
    else if (call().outer != nullptr || policy_.on_fibers())
      return call().outer;
    else
      return marked_attempt();
  }

  void tell_started() {
    if constexpr (observed) tell(policy_, event_of(EventKind::attempt_started), observer_errors_);
  }
  void tell_succeeded() {
    if constexpr (observed) {
      auto event = event_of(EventKind::attempt_succeeded);
      event.reason = StopReason::succeeded;
      tell(policy_, event, observer_errors_);
    }
  }
  void tell_failed(const Decision& next, const std::optional<Duration>& hint, const Thrown* thrown) {
    if constexpr (observed) {
      auto event = event_of(EventKind::attempt_failed);
      event.will_retry = next.goes_on();
      if (call().runs_once() && next.goes_on()) ++event.max_retries;  // it did not run (I1)
      event.reason = next.stop;
      event.wait = next.wait;
      event.hint = hint;
      blame(event, thrown);
      tell_undisturbed(event);
    }
  }
  void tell_finished(TerminalMode mode, const Thrown* thrown) {
    if constexpr (observed) {
      auto event = event_of(EventKind::call_finished);
      event.reason = reason_;
      event.mode = mode;
      event.slept = slept_;
      event.observer_errors = observer_errors_;
      event.outcome_unknown = outcome_.unknown;
      event.lost_request_id = outcome_.request_id.view();
      blame(event, thrown);
      if (thrown != nullptr)
        tell_undisturbed(event);
      else
        tell(policy_, event, observer_errors_);
    }
  }

  const Policy& policy_;
  CallFrame& frame_;
  int max_retries_;
  int observer_errors_;
  StopReason reason_ = StopReason::none;
  OutcomeSoFar outcome_{};
  std::optional<TimePoint> started_;
  Duration slept_{};

 private:
  // Perhaps in the handler of the attempt's exception.
  void tell_undisturbed(const Event& event) {
    deferring_cancellation([&] { tell(policy_, event, observer_errors_); });
  }
  Event event_of(EventKind kind) noexcept {
    return detail::event_of(policy_, kind, attempts(), call(), frame_.limits, started_, &frame_);
  }
  void blame(Event& event, const Thrown* thrown) const {
    event.thrown = thrown;
    event.outer = outer();
    if (thrown != nullptr) event.error_name = name_by(policy_.predicate(), *thrown);
  }
};

}  // namespace ENCORE_BUILD::detail
