// What one call needs while it is under way, under any driver.
#pragma once
#include <encore/attempt.hpp>
#include <encore/call.hpp>
#include <encore/clock.hpp>
#include <encore/detail/attributes.hpp>

#include <optional>

namespace encore ENCORE_BUILD::detail {

/// Stands for a call without limits that nothing looks at.
inline constexpr Call unseen_call{};

/// A call's identity, limits and notes, and the attempt that its callable is handed. It refers to the call and the clock.
struct CallFrame {
  CurrentCall current;
  TimeLimits limits;
  AttemptNotes notes;
  Attempt attempt;

  CallFrame(const Call& call, const TimeLimits& its_limits, Now now) noexcept
      : current{call},
        limits(its_limits),
        attempt{1, current, notes, limits, now} {
    if (current.is_inside()) current.take_number();
  }
  /// Of a call under a policy. The limits are made in their place: copied, an empty one costs a stall of the processor.
  template <class Policy>
  ENCORE_FORCE_INLINE CallFrame(const Policy& policy, const Call& call,
                                const std::optional<TimePoint>& started,
                                const MarkedAttempt* around) noexcept;
  CallFrame(const CallFrame&) = delete;
  CallFrame& operator=(const CallFrame&) = delete;

  const Call& call() const noexcept { return current.call(); }
};

/// When a call under a policy starts, if that is needed; otherwise no clock is read. (P5)
template <class Policy>
ENCORE_FORCE_INLINE std::optional<TimePoint> start_of(const Policy& policy, const Call& call) {
  if (Policy::reports_time || policy.time_budget() || policy.attempt_timeout() || call.deadline)
    return policy.clock().now();
  return std::nullopt;
}

/// The limits of a call under a policy. Its clock has been read if `started` is set: it must be if there is a budget, or a
/// limit for each attempt, of which the first starts with the call.
template <class Policy>
ENCORE_FORCE_INLINE TimeLimits limits_of(const Policy& policy, const Call& call,
                                         const std::optional<TimePoint>& started) noexcept {
  TimeLimits limits{.started = started ? *started : TimePoint{},
                    .attempt_started = started ? *started : TimePoint{},
                    .budget = policy.time_budget(),
                    .attempt_timeout = policy.attempt_timeout()};
  if (call.deadline) limits.deadline = *call.deadline;
  return limits;
}

template <class Policy>
ENCORE_FORCE_INLINE CallFrame::CallFrame(const Policy& policy, const Call& call,
                                         const std::optional<TimePoint>& started,
                                         const MarkedAttempt* around) noexcept
    : current{call, around},
      limits(limits_of(policy, call, started)),
      attempt{1, current, notes, limits, Now{policy.clock()}} {}

}  // namespace ENCORE_BUILD::detail
