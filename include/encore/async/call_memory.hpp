// What a coroutine has to remember of the call that it drives, and from when on.
#pragma once
#include <encore/call.hpp>
#include <encore/call_frame.hpp>
#include <encore/nesting.hpp>
#include <encore/operation.hpp>
#include <encore/owned_call.hpp>
#include <encore/retry_state.hpp>

#include <concepts>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace encore::detail {

/// In a coroutine the thread's mark says nothing: who resumes it is not who called it. (J2)
struct ThreadUnmarked {
  const Attempt* before = std::exchange(marked_attempt, nullptr);
  ~ThreadUnmarked() { marked_attempt = before; }
};

/// Everything about a call, from its start; it refers to the policy and to the call. Destroyed before the call's end, it gives
/// permits back, and observers hear of it.
template <class Policy>
class CallMemory {
  using State = RetryState<Policy, KeepError::always>;
  using Unmarked = std::conditional_t<Policy::notices_nesting, ThreadUnmarked, NoMark>;

 public:
  CallMemory(const Policy& policy, const Call& call) : CallMemory{policy, call, start_of(policy, call)} {}
  CallMemory(const Policy& policy, const Call& call, const std::optional<TimePoint>& started) noexcept
      : frame_{call, limits_of(policy, call, started), Now{policy.clock()}},
        state_{policy, frame_, started} {}
  CallMemory(const CallMemory&) = delete;
  CallMemory& operator=(const CallMemory&) = delete;
  ~CallMemory() {
    [[maybe_unused]] const Unmarked unmarked{};
    state_.abandoned();
  }

  State& state() noexcept { return state_; }
  const StopView& stop() const noexcept { return frame_.call().stop; }
  template <class Operation>
  decltype(auto) invoke(Operation& operation) {
    return invoke_attempt(operation, state_.attempt());
  }

  Decision begin() {
    [[maybe_unused]] const Unmarked unmarked{};
    return state_.begin();
  }
  void succeeded() {
    [[maybe_unused]] const Unmarked unmarked{};
    state_.succeeded();
  }
  Decision threw(const std::exception* error) {
    [[maybe_unused]] const Unmarked unmarked{};
    return state_.threw(error);
  }
  template <class Value>
  Decision returned(const Value& value) {
    [[maybe_unused]] const Unmarked unmarked{};
    return state_.returned(value);
  }
  Decision resume(bool cancelled) {
    [[maybe_unused]] const Unmarked unmarked{};
    return state_.resume(cancelled);
  }

 private:
  CallFrame frame_;
  State state_;
};

/// Stands for a call that brings no limits and that nobody looks at.
inline constexpr Call unseen_call{};
struct UnseenCall {
  static constexpr const Call& view() noexcept { return unseen_call; }
};

/// Does nobody look at a call of this operation, and is nothing to be asked before its first attempt?
template <class Policy, class Operation>
inline constexpr bool can_be_unseen =
    Policy::starts_straight && !Policy::reads_call && !takes_attempt<Operation>;

/// The same of such a call, from its first failure on: until then it costs a flag, and a time where there is a budget.
template <class Policy>
class LateCallMemory {
 public:
  LateCallMemory(const Policy& policy, const Call&) : policy_{policy} {
    if (policy.time_budget()) started_ = policy.clock().now();
  }

  auto& state() {
    if (!made_) made_.emplace(policy_, unseen_call, started_);
    return made_->state();
  }
  static StopView stop() noexcept { return {}; }
  template <class Operation>
  decltype(auto) invoke(Operation& operation) {
    return detail::invoke(operation);
  }

  Decision begin() {
    if constexpr (requires { policy_.clock().attempt_started(); }) policy_.clock().attempt_started();
    return {};
  }
  static void succeeded() noexcept {}
  template <class Value>
  Decision returned(const Value& value) {
    const FailedAttempt nothing_known;
    const auto verdict = judge_value(policy_, Returned<Value>{value, nothing_known});
    if (verdict == StopReason::succeeded) return {.stop = verdict};
    return state().returned_failure(value, verdict);
  }
  Decision threw(const std::exception* error) { return state().threw(error); }
  Decision resume(bool cancelled) { return state().resume(cancelled); }

 private:
  const Policy& policy_;
  std::optional<TimePoint> started_;
  std::optional<CallMemory<Policy>> made_;
};

template <class Policy, class Owned>
using memory_of =
    std::conditional_t<std::same_as<Owned, UnseenCall>, LateCallMemory<Policy>, CallMemory<Policy>>;

}  // namespace encore::detail
