// A tool of a catalog without the types of its function and its policy.
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

/// What happened in a call, beside its answer.
struct ToolReport {
  int attempts = 0;
  OutcomeSoFar outcome{};
  bool key_used = false;
  std::exception_ptr error{};  // of the last attempt
  bool asks = false;  // what left is never retried: the call is not over, but asks a person, say (B4)

  void ended(const Attempt& attempt, const std::exception_ptr& thrown) {
    const auto& notes = attempt.notes();
    attempts = attempt.ordinal;
    outcome.add(notes);
    key_used = key_used || notes.key_used();
    error = thrown;
  }
};

/// May be used from many threads, if the tool's function may.
class AnyTool {
 public:
  explicit AnyTool(ToolDescription description) : description_{std::move(description)} {}
  AnyTool(const AnyTool&) = delete;
  AnyTool& operator=(const AnyTool&) = delete;
  virtual ~AnyTool() = default;

  const ToolDescription& description() const noexcept { return description_; }

  /// Makes the call under the tool's policy. Throws what the policy lets out. (B3)
  virtual ToolResult run(const ToolCall& call, const Call& with, ToolReport& report) const = 0;
  /// Tells the policy's observers of a call that is not made, because `with.refused`. (F1)
  virtual void refuse(const Call& with) const = 0;
  /// Is it too late for this call, or was it stopped, before it began?
  virtual bool is_over(const Call& with) const = 0;

 private:
  const ToolDescription description_;
};

/// A bound on all waits of a call, server hints aside. What takes too many retries to add up is bounded by time alone.
template <class Policy>
std::optional<Duration> worst_wait(const Policy& policy) {
  constexpr int most_added_up = 10'000;
  const auto budget = policy.time_budget();
  if (policy.max_retries() > most_added_up) return budget;
  const auto total = policy.schedule().total().greatest;
  return budget ? smaller_of(total, *budget) : total;
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

/// A failure strategy whose answer says why, also where a formatter left it out. (H9)
template <class Strategy>
struct SaysWhy {
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

/// A policy as a catalog uses it: failures are answered, and nesting is noticed, on fibers if the catalog or the policy says so.
/// (J1, J3)
template <class Policy>
auto catalog_policy(const Policy& policy, OnFibers fibers = {.on = false}) {
  static_assert(std::same_as<typename Policy::FailureStrategyType::template result<ToolResult>, ToolResult>,
                "a tool in a catalog is answered with a ToolResult: give its policy TellModel{}, "
                "TellModelWith{...}, or a FormatFailure{...} that returns one");
  const auto with_default = [](const auto& given, auto already_said, auto ingredient) {
    if constexpr (already_said)
      return given;
    else
      return given.with(ingredient);
  };
  const auto answering = [&] {
    if constexpr (Policy::rethrows)
      return policy.with(SaysWhy<TellModel>{});
    else
      return policy.with(SaysWhy<typename Policy::FailureStrategyType>{policy.failure_strategy()});
  }();
  const auto nested = with_default(answering, std::bool_constant<Policy::notices_nesting>{}, WhenNested{});
  return with_default(nested, std::bool_constant<Policy::says_fibers>{}, fibers);
}

template <class Policy, ToolHandler Handler>
class ToolOf final : public AnyTool {
 public:
  ToolOf(ToolDescription description, Policy policy, Handler handler)
      : AnyTool{std::move(description)},
        policy_{std::move(policy)},
        handler_(std::move(handler)) {}

  ToolResult run(const ToolCall& call, const Call& with, ToolReport& report) const override {
    auto its = with;
    std::string signature;
    if constexpr (Policy::observed)
      sign(its, {.name = description().name, .arguments = call.arguments}, signature);
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
      return policy_.run(its, attempts);
    } catch (const std::exception& error) {
      report.asks = asks(&error);
      throw;
    } catch (...) {
      report.asks = asks(nullptr);
      throw;
    }
#else
    return policy_.run(its, attempts);
#endif
  }
  void refuse(const Call& with) const override { static_cast<void>(Retrying{policy_, with}.begin()); }
  bool is_over(const Call& with) const override {
    return with.stop.stop_requested() || (with.deadline && policy_.clock().now() >= *with.deadline);
  }

 private:
  bool asks(const std::exception* error) const {
    return never_verdict(policy_, Thrown{error}) == StopReason::never_retry_type;
  }

  Policy policy_;
  mutable Handler handler_;  // it is called as the lvalue that was given, const or not
};

}  // namespace ENCORE_BUILD::detail
