// The tool layer: runs a model's tool calls under a policy, and repeats only declared tools.
#pragma once
#include <encore/agent/call_signature.hpp>
#include <encore/agent/error_result.hpp>
#include <encore/agent/key_reuse.hpp>
#include <encore/agent/repeatable.hpp>
#include <encore/agent/tell_model.hpp>
#include <encore/agent/tool_call.hpp>
#include <encore/agent/unknown_outcome.hpp>
#include <encore/as_value.hpp>
#include <encore/call.hpp>
#include <encore/detail/agent/tool_parts.hpp>
#include <encore/engine/erased_operation.hpp>
#include <encore/engine/policy_parts.hpp>
#include <encore/option.hpp>
#include <encore/retry_policy.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

/// Runs tool calls under a policy. Only declared tools may be repeated; every other tool runs once, and its result or exception
/// is returned or propagates unchanged. If its outcome is unknown, the failure strategy answers, whatever the tool. (I1, I3)
///   ToolRetry tools{policy, Repeatable{"inventory_lookup"}, RepeatableWithKey{"ship"}, TellModel{}};
///   ToolResult result = tools.handle(tool_call, [&](const auto& call, const Attempt& attempt) { return dispatch(call, attempt); });
/// Under `TellModel` and similar strategies, a `ToolError` that the policy's filter does not match is the tool's answer, if the
/// tool was declared. Beside the declarations it takes a failure strategy (`TellModel`, `TellModelWith`, `FormatFailure`,
/// `ReturnOutcome`; without one exceptions are rethrown), `ErrorResultIf`, `OnUnknownOutcome`, `OnKeyReused`, and every option of
/// a policy. An immutable value: may be used from any number of threads. It holds no lock while a tool runs or a call waits.
template <class Policy, class Parts>
class ToolRetry {
 public:
  using PolicyType = Policy;

  template <class C, class P, class X, class... G>
  explicit ToolRetry(const RetryPolicy<C, P, X>& policy, G&&... given)
      : policy_{detail::tool_policy(policy, std::forward<G>(given)...)},
        parts_{detail::forward_parts<true>(std::forward<G>(given)...)} {
    static_assert(
        RetryPolicy<C, P, X>::rethrows,
        "this policy already has a failure strategy: leave it out of the policy, and give TellModel{}, "
        "FormatFailure{...} or ReturnOutcome{} to the ToolRetry");
  }

  /// Runs `callable(call, attempt)`, or `callable(call)`, with the caller's own object each time. Returns or throws what the
  /// failure strategy decides, like `RetryPolicy::run`.
  template <ToolCallLike C, class F>
  decltype(auto) handle(const C& call, F&& callable) const {
    return handle(call, Call{}, callable);
  }
  /// The same with the settings of this one call: its deadline, stop token, run scope, operation key, and the resolved name,
  /// which is then the one that must be declared. (D2, F2, I2)
  template <ToolCallLike C, class F>
  decltype(auto) handle(const C& call, const Call& with, F&& callable) const {
    using Callable = std::remove_reference_t<F>;
    static_assert(
        detail::can_be_repeated<Callable, const C>,
        "a ToolRetry calls `callable(call, attempt)` or `callable(call)`, with your own call as a const "
        "lvalue: this callable takes neither");
    if constexpr (detail::can_be_repeated<Callable, const C>) {
      using R = detail::raw_t<F, const C>;
      auto full_call = with;
      full_call.id = call.id;
      full_call.name = call.name;
      if (full_call.operation_key.empty()) full_call.operation_key = detail::operation_key_of(call);
      const DeclaredCall declared{full_call.resolved_name.empty() ? full_call.name : full_call.resolved_name,
                                  call.arguments};
      full_call.replay = safety_of(declared);
      parts_.key_reuse.look_at(full_call, {.name = declared.name, .arguments = declared.arguments});
      std::string signature;
      if constexpr (detail::PartsOf<Policy>::observed)
        detail::sign(full_call, {.name = declared.name, .arguments = declared.arguments}, signature);
      auto attempt = [&](const Attempt& now) -> R { return attempt_with<R>(call, callable, now); };
      static_assert(detail::knows_its_result<F, R>());
      if constexpr (detail::Deferred<R>)  // a callable marked with `as_value`
        return policy_.run(full_call, detail::operation_of<R>(attempt));
      else
        return policy_.run(full_call, attempt);
    }
  }

  /// What was declared about this call; `excluded` if nothing was.
  ReplaySafety safety_of(const DeclaredCall& call) const { return parts_.declarations.safety_of(call); }
  /// All names in the declarations, to compare with those of the existing tools.
  ToolNames names() const { return parts_.declarations.names(); }
  const Policy& policy() const noexcept { return policy_; }

  /// A copy with other policy options: `tools.with(clock, trace)`. The declarations stay.
  template <class... G>
  [[nodiscard]] auto with(G&&... options) const {
    static_assert(!(detail::is_tool_part<G> || ...),
                  "ToolRetry::with changes the policy only: make another ToolRetry for other declarations");
    auto changed = policy_.with(std::forward<G>(options)...);
    return ToolRetry<decltype(changed), Parts>{std::move(changed), parts_};
  }

 private:
  template <class, class>
  friend class ToolRetry;
  using ErrorTest = typename detail::ToolParts<Parts>::ErrorTest;

  ToolRetry(Policy&& policy, const detail::ToolParts<Parts>& parts)
      : policy_{std::move(policy)},
        parts_{parts} {}

  // Under a strategy that answers in the tool's place, a `ToolError` may be the tool's answer. An excluded tool's exceptions are
  // not touched. (I1)
  template <class R>
  static constexpr bool takes_answers =
      !Policy::rethrows && !std::is_reference_v<R> && std::convertible_to<ToolResult, R> &&
      std::same_as<typename Policy::FailureStrategyType::template result<R>, R>;

  template <class R, class C, class F>
  R attempt_with(const C& call, F& callable, const Attempt& now) const {
#if defined(__cpp_exceptions)
    if constexpr (takes_answers<R>) {
      try {
        return call_once<R>(call, callable, now);
      } catch (const ToolError& error) {
        if (now.call().replay == ReplaySafety::excluded || !detail::is_answer(policy_, error, now)) throw;
        return detail::answer_of(error, now);
      }
    } else
#endif
      return call_once<R>(call, callable, now);
  }
  template <class R, class C, class F>
  R call_once(const C& call, F& callable, const Attempt& now) const {
    using Value = std::remove_cvref_t<R>;
    detail::refuse_misfit_error_test<Value, ErrorTest>();
    if constexpr (std::is_void_v<R>) {
      detail::invoke_attempt(callable, now, call);
    } else if constexpr (detail::is_classified<Value, ErrorTest> &&
                         (std::is_reference_v<R> || std::move_constructible<R>)) {
      R result = detail::invoke_attempt(callable, now, call);
      if (detail::says_error<Value>(parts_.error_test, result)) now.mark_error_result();
      if constexpr (std::is_reference_v<R>)
        return static_cast<R>(result);
      else
        return result;
    } else {
      return detail::invoke_attempt(callable, now, call);
    }
  }

  Policy policy_;
  detail::ToolParts<Parts> parts_;
};

template <class C, class P, class X, class... G>
ToolRetry(const RetryPolicy<C, P, X>&, G&&...)
    -> ToolRetry<detail::tool_policy_t<RetryPolicy<C, P, X>, G...>, detail::tool_parts_t<G...>>;

}  // namespace encore ENCORE_BUILD
