// A tool of a catalog, without the types of its function and its policy.
#pragma once
#include <encore/agent/call_signature.hpp>
#include <encore/agent/error_result.hpp>
#include <encore/agent/policy_text.hpp>
#include <encore/agent/tell_model.hpp>
#include <encore/agent/tool_call.hpp>
#include <encore/agent/tool_description.hpp>
#include <encore/agent/tool_handler.hpp>
#include <encore/agent/tool_result.hpp>
#include <encore/attempt.hpp>
#include <encore/call.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/engine/policy_parts.hpp>
#include <encore/engine/verdict.hpp>
#include <encore/nesting.hpp>
#include <encore/on_failure.hpp>
#include <encore/retry_policy.hpp>
#include <encore/retrying.hpp>
#include <encore/schedule.hpp>

#include <concepts>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD::detail {

/// What happened in a call, apart from its answer.
struct ToolReport {
  int attempts = 0;
  OutcomeSoFar outcome{};
  bool key_used = false;
  std::exception_ptr error{};  // of the last attempt
  // A never-retried exception: the call is not over, but waits for a person, for instance. (B4)
  bool interrupt = false;

  void ended(const Attempt& attempt, const std::exception_ptr& thrown) {
    const auto& notes = attempt.notes();
    attempts = attempt.ordinal;
    outcome.add(notes);
    key_used = key_used || notes.key_used();
    error = thrown;
  }
};

/// Thread-safe if the tool's function is.
class AnyTool {
 public:
  explicit AnyTool(ToolDescription description) : description_{std::move(description)} {}
  AnyTool(const AnyTool&) = delete;
  AnyTool& operator=(const AnyTool&) = delete;
  virtual ~AnyTool() = default;

  const ToolDescription& description() const noexcept { return description_; }

  /// Makes the call under the tool's policy. Throws what the policy propagates. (B3)
  virtual ToolResult run(const ToolCall& call, const Call& with, ToolReport& report) const = 0;
  /// Reports to the policy's observers a call that is not made, because of `with.refused`. (F1)
  virtual void refuse(const Call& with) const = 0;
  /// True if this call was stopped, or its deadline has passed, before it began.
  virtual bool is_over(const Call& with) const = 0;

 private:
  const ToolDescription description_;
};

/// A bound on the sum of all waits of a call, without server hints. If there are too many retries to add up, only the time budget
/// is one.
template <class Policy>
std::optional<Duration> worst_wait(const Policy& policy) {
  constexpr int max_added_up = 10'000;
  const auto budget = policy.time_budget();
  if (policy.max_retries() > max_added_up) return budget;
  const auto total = policy.schedule().total().max;
  return budget ? shared::smaller_of(total, *budget) : total;
}

template <class Policy>
ToolDescription describe_tool(std::string_view name, ReplaySafety replay, const Policy& policy) {
  ToolDescription tool{
      .name = std::string{name}, .replay = replay, .on_failure = Policy::FailureStrategyType::mode};
  if (replay != ReplaySafety::never) {
    tool.max_attempts = policy.max_attempts();
    tool.worst_wait = worst_wait(policy);
  }
  tool.inner_attempts = policy.inner_attempts();
  tool.policy = policy_text(policy);
  return tool;
}

/// Adds the stop reason to a failure strategy's answer that has none. (H9)
template <class Strategy>
struct WithReason {
  using role = encore::role::OnFailure;
  static constexpr auto mode = Strategy::mode;
  static constexpr bool reports_time = requires { requires Strategy::reports_time; };
  template <class R>
  using result = typename Strategy::template result<R>;
  Strategy strategy;

  template <class R, class... Last>
  R failed(Failure&& failure, Last&&... last) const {
    const auto reason = failure.reason;
    R answer = strategy.template failed<R>(std::move(failure), std::forward<Last>(last)...);
    if (answer.reason == StopReason::none) answer.reason = reason;
    return answer;
  }
};

/// A policy as a catalog uses it: failures are answered, and nested retries are noticed, on fibers if the catalog or the policy
/// says so. (J1, J3)
template <class Policy>
auto catalog_policy(const Policy& policy, OnFibers fibers = {.on = false}) {
  static_assert(std::same_as<typename Policy::FailureStrategyType::template result<ToolResult>, ToolResult>,
                "the failure strategy of a tool in a catalog must return a ToolResult: give its policy "
                "TellModel{}, TellModelWith{...}, or a FormatFailure{...} that returns one");
  const auto with_default = [](const auto& given, auto already_given, auto option) {
    if constexpr (already_given)
      return given;
    else
      return given.with(option);
  };
  const auto answering = [&] {
    if constexpr (Policy::rethrows)
      return policy.with(WithReason<TellModel>{});
    else
      return policy.with(WithReason<typename Policy::FailureStrategyType>{policy.failure_strategy()});
  }();
  const auto nested =
      with_default(answering, std::bool_constant<PartsOf<Policy>::notices_nesting>{}, WhenNested{});
  return with_default(nested, std::bool_constant<PartsOf<Policy>::says_fibers>{}, fibers);
}

template <class Policy, ToolHandler Handler>
class ToolOf final : public AnyTool {
 public:
  ToolOf(ToolDescription description, Policy policy, Handler handler)
      : AnyTool{std::move(description)},
        policy_{std::move(policy)},
        handler_(std::move(handler)) {}

  ToolResult run(const ToolCall& call, const Call& with, ToolReport& report) const override {
    auto full_call = with;
    std::string signature;
    if constexpr (PartsOf<Policy>::observed)
      sign(full_call, {.name = description().name, .arguments = call.arguments}, signature);
    const auto attempts = [&](const Attempt& attempt) -> ToolResult {
#if defined(__cpp_exceptions)
      try {
#endif
        auto result = call_tool(handler_, call, attempt);
        report.ended(attempt, nullptr);
        return result;
#if defined(__cpp_exceptions)
      } catch (const ToolError& error) {
        const auto answers = is_answer(policy_, error, attempt);
        report.ended(attempt, answers ? nullptr : std::current_exception());
        if (!answers) throw;
        return answer_of(error, attempt);
      } catch (...) {
        report.ended(attempt, std::current_exception());
        throw;
      }
#endif
    };
#if defined(__cpp_exceptions)
    try {
      return policy_.run(full_call, attempts);
    } catch (const std::exception& error) {
      report.interrupt = is_interrupt(&error);
      throw;
    } catch (...) {
      report.interrupt = is_interrupt(nullptr);
      throw;
    }
#else
    return policy_.run(full_call, attempts);
#endif
  }
  void refuse(const Call& with) const override { static_cast<void>(Retrying{policy_, with}.begin()); }
  bool is_over(const Call& with) const override {
    return with.stop.stop_requested() || (with.deadline && policy_.clock().now() >= *with.deadline);
  }

 private:
  bool is_interrupt(const std::exception* error) const {
    return never_verdict(policy_parts(policy_), Thrown{error}) == StopReason::never_retry_type;
  }

  Policy policy_;
  mutable Handler handler_;  // called as the lvalue that was given, const or not
};

}  // namespace ENCORE_BUILD::detail
