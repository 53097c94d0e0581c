// The record of a call under way, and its observers.
#pragma once
#include <encore/clock.hpp>
#include <encore/decision.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/engine/call_frame.hpp>
#include <encore/engine/failure_strategy.hpp>
#include <encore/engine/nested.hpp>
#include <encore/stop_reason.hpp>
#include <encore/thrown.hpp>

#include <exception>
#include <optional>

namespace encore ENCORE_BUILD::detail {

/// One call, its count, times and end. It refers to the policy and to the call's frame.
template <class Policy>
class CallRecord {
 public:
  CallRecord(const Policy& policy, CallFrame& frame, const std::optional<TimePoint>& started,
             int observer_errors) noexcept
      : policy_{policy},
        frame_{frame},
        max_retries_{policy.max_retries()},
        observer_errors_{observer_errors},
        started_{started} {}
  CallRecord(const CallRecord&) = delete;
  CallRecord& operator=(const CallRecord&) = delete;

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

  static constexpr bool strategy_handles(StopReason reason) noexcept {
    return consults_strategy(reason) || (Policy::handles_unmatched && reason == StopReason::not_retryable);
  }

 protected:
  ~CallRecord() = default;

  Now now() const noexcept { return Now{policy_.clock()}; }
  /// The attempt of another policy around this call, if this one notices it.
  const Attempt* outer() const noexcept {
    if constexpr (Policy::notices_nesting) {
      if (policy_.nested() != Nested::allow)
        return Policy::NestingType::Mark::around(call().outer, policy_.on_fibers());
    }
    return nullptr;
  }

  const Policy& policy_;
  CallFrame& frame_;
  int max_retries_;
  int observer_errors_;
  StopReason reason_ = StopReason::none;
  OutcomeSoFar outcome_{};
  std::optional<TimePoint> started_;
  Duration slept_{};
};

/// Notifies the policy's observers, in <encore/observer.hpp>. Here there are none.
template <class Policy>
class ObservedCall : public CallRecord<Policy> {
  static_assert(!Policy::observed);

 protected:
  using CallRecord<Policy>::CallRecord;
  ~ObservedCall() = default;
  void notify_started() noexcept {}
  void notify_succeeded() noexcept {}
  void notify_failed(const Decision&, const std::optional<Duration>&, const Thrown*) noexcept {}
  void notify_finished(const Thrown*) noexcept {}
  void notify_finished(const std::exception_ptr&) noexcept {}
  void notify_abandoned() noexcept {}
};

}  // namespace ENCORE_BUILD::detail
