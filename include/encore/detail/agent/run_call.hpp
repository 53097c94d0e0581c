// Makes one call of a run: under its tool's policy, with its own key, and listed if its outcome is unknown.
#pragma once
#include <encore/agent/call_signature.hpp>
#include <encore/agent/key_reuse.hpp>
#include <encore/agent/refusal.hpp>
#include <encore/agent/run_guard.hpp>
#include <encore/agent/tool_call.hpp>
#include <encore/agent/tool_catalog.hpp>
#include <encore/agent/tool_result.hpp>
#include <encore/agent/unknown_outcome.hpp>
#include <encore/call.hpp>
#include <encore/detail/agent/any_tool.hpp>
#include <encore/detail/agent/pending_calls.hpp>
#include <encore/detail/agent/run_state.hpp>
#include <encore/engine/deferred_cancellation.hpp>
#include <encore/engine/verdict.hpp>
#include <encore/error_type.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD::detail {

/// A call of a turn and its tool. A view.
struct RunCall {
  const ToolCall& call;
  const AnyTool& tool;
  bool known;         // false if the catalog has no such tool: then `tool` stands for it
  IssuedCall issued;  // with its tool's own name, so that an alias evades no limit

  static RunCall of(const ToolCatalog& catalog, const ToolCall& call) {
    const auto* const tool = catalog.tool(call.name);
    const auto name =
        tool != nullptr ? std::string_view{tool->description().name} : std::string_view{call.name};
    return {call,
            tool != nullptr ? *tool : catalog.unknown_tool(),
            tool != nullptr,
            {.name = name, .arguments = call.arguments}};
  }
};

/// A call of a turn, and what happened to it.
struct TurnCall {
  RunCall run_call;
  std::optional<Refusal> refusal{};  // by a limit of the run
  PendingCall* open = nullptr;
  bool resumed = false;  // it was open before this turn
  ToolReport report{};
  StopReason reason = StopReason::none;  // of its answer
  bool answered = false;
  bool escaped = false;  // by an exception that no policy handles

  /// True if it was made before, and may have had its effect. (I3)
  bool may_have_been_made() const noexcept { return resumed && open->effect != PendingCall::Effect::none; }
};

/// The calls of a turn, each with its entry among the run's open calls: a call that ends without an answer stays open. (I2)
class Turn {
 public:
  Turn(PendingCalls& open, std::vector<TurnCall>&& of) noexcept : calls{std::move(of)}, open_{open} {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    for (const auto& call : calls) {
      if (call.open == nullptr) continue;
      if (call.answered && !call.report.outcome.unknown) {
        open_.answered(*call.open);
        continue;
      }
      // An interrupted call is the same call when it is handed in again; after any other end the model issues a new one. (H5)
      if (call.answered || (call.escaped && !call.report.interrupt))
        open_.counted(*call.open, PendingCall::Counted::by_none);
      if (call.answered)
        open_.answered_as_unknown(*call.open);
      else
        open_.abandon(*call.open, effect_of(call));
    }
  }

  std::vector<TurnCall> calls;

 private:
  static PendingCall::Effect effect_of(const TurnCall& call) noexcept {
    using Effect = PendingCall::Effect;
    if (call.report.outcome.unknown) return Effect::unknown;
    if (call.report.attempts == 0) return call.open->effect;
    // Made, neither answered nor escaped: something above it threw, and its answer is lost.
    return call.escaped ? Effect::none : Effect::interrupted;
  }
  PendingCalls& open_;
};

inline ToolResult refused_result(const ToolCall& call, const Refusal& refusal) {
  return {ToolStatus::error, refusal.to_model, call.name, call.id, refusal.reason};
}

/// Makes calls of one run. A view.
template <class Reconciler, class KeyReuseHook>
struct RunCaller {
  RunState& state;
  const Reconciler& reconcile;
  const KeyReuseHook& key_reused;

  /// Answers the call: makes it, or reports to the tool's observers that it was refused. Throws what the tool's policy
  /// propagates.
  ToolResult answer(TurnCall& turn_call, const Call& with) const {
    const auto& [call, tool, known, issued] = turn_call.run_call;
    const auto& refusal = turn_call.refusal;
    auto full_call = call_of_tool(tool, call, with);
    full_call.scope = &state.scope();
    const Call no_id;
    const CurrentCall without_id{no_id};
    if (call.id.empty())
      full_call.id = without_id.id();  // the same in every event and in the list of unknown outcomes

    set_key(full_call, issued, turn_call.open);
    // A refused call is not made, whatever the clock says later. (D7, H2)
    if (refusal)
      full_call.refused = refusal->reason;
    else if (!known)
      full_call.refused = StopReason::unknown_tool;
    note_earlier_effect(full_call, turn_call);
    std::string signature;
    sign(full_call, issued, signature);
    if (refusal && !tool.is_over(full_call)) {  // a deadline that has passed comes before every limit
      tool.refuse(full_call);
      auto result = refused_result(call, *refusal);
      report_unknown(full_call, turn_call, result);
      return result;
    }
    auto result = run(turn_call, full_call);
    if (call.id.empty() && result.call_id == full_call.id) result.call_id.clear();
    return result;
  }

 private:
  ToolResult run(TurnCall& turn_call, const Call& full_call) const {
    auto& report = turn_call.report;
#if defined(__cpp_exceptions)
    try {
#endif
      auto result = turn_call.run_call.tool.run(turn_call.run_call.call, full_call, report);
      // Whatever text a formatter made of a failure, its answer has the reason.
      if (result.is_error() || report.error != nullptr || result.reason != StopReason::none)
        report_unknown(full_call, turn_call, result);
      else
        report.outcome.settle();  // a success needs no `mark_answered`
      return result;
#if defined(__cpp_exceptions)
    } catch (...) {
      remember(full_call, turn_call);
      throw;
    }
#endif
  }

  // A resumed call may have had its effect before, whatever its end here. It is made again only if it may be repeated, under its
  // old key. (I1, I3)
  static void note_earlier_effect(Call& full_call, TurnCall& call) noexcept {
    if (full_call.replay == ReplaySafety::repeatable || !call.may_have_been_made()) return;
    call.report.outcome.unknown = true;
    if (full_call.runs_once() && full_call.refused == StopReason::none)
      full_call.refused = StopReason::unknown_outcome;
  }

  // Lists an unknown outcome, and adds it to the model's text if the tool's policy does not know it.
  void report_unknown(const Call& full_call, TurnCall& call, ToolResult& result) const {
    remember(full_call, call);
    if (call.report.outcome.unknown && call.may_have_been_made() &&
        full_call.refused != StopReason::unknown_outcome)
      result.content.append(" It was called before, and it is unknown whether that had an effect.");
  }

  // Sets the caller's own key, or the run's. No attempt of a refused call gets it. (I2)
  void set_key(Call& full_call, const IssuedCall& issued, const PendingCall* open) const {
    if (full_call.operation_key.empty()) {
      if (open != nullptr) full_call.operation_key = open->key;
    } else if (full_call.replay != ReplaySafety::repeatable &&
               !state.keys().stands_for(full_call.operation_key, issued)) {
      key_reused(KeyReuse{full_call.operation_key, full_call.id, full_call.name});
    }
  }

  void remember(const Call& full_call, TurnCall& turn_call) const {
    auto& report = turn_call.report;
    if (full_call.replay == ReplaySafety::repeatable) report.outcome.settle();  // harmless to repeat
    if (!report.outcome.unknown) return;
    if (report.attempts == 0 && turn_call.open->effect == PendingCall::Effect::unknown)
      return;  // it is already listed
    UnknownOutcome outcome{.call_id = std::string{full_call.id},
                           .call_name = std::string{full_call.name},
                           .resolved_name = std::string{full_call.resolved_name},
                           .request_id = std::string{report.outcome.request_id.view()},
                           .signature = std::string{full_call.signature},
                           .attempts = report.attempts,
                           .error_type = error_type(report.error),
                           .error = report.error};
    if (report.key_used || report.attempts == 0 || full_call.replay == ReplaySafety::repeatable_with_key)
      outcome.idempotency_key = full_call.operation_key;
    auto threw = StopReason::none;  // what the hook does changes nothing for the call
    state.unknown_outcomes().add(outcome);
    deferring_cancellation([&] { evaluate([&] { return reconcile(outcome), true; }, threw); });
  }
};
template <class Reconciler, class KeyReuseHook>
RunCaller(RunState&, const Reconciler&, const KeyReuseHook&)
    -> RunCaller<Reconciler, KeyReuseHook>;  // Clang 16 needs it

}  // namespace ENCORE_BUILD::detail
