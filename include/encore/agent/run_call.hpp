// Making one call of a run: under its tool's policy, with a key of its own, and remembered if its outcome is unknown.
#pragma once
#include <encore/agent/any_tool.hpp>
#include <encore/agent/call_signature.hpp>
#include <encore/agent/key_reuse.hpp>
#include <encore/agent/pending_calls.hpp>
#include <encore/agent/refusal.hpp>
#include <encore/agent/run_guard.hpp>
#include <encore/agent/run_state.hpp>
#include <encore/agent/tool_call.hpp>
#include <encore/agent/tool_catalog.hpp>
#include <encore/agent/tool_result.hpp>
#include <encore/agent/unknown_outcome.hpp>
#include <encore/call.hpp>
#include <encore/engine/deferred_cancellation.hpp>
#include <encore/engine/verdict.hpp>
#include <encore/error_type.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD::detail {

/// A call as it stands in a turn. A view.
struct RunCall {
  const ToolCall& call;
  const AnyTool& tool;
  bool known;         // else the catalog has no such tool, and `tool` stands for it
  IssuedCall issued;  // under its tool's own name, so that no alias evades a limit

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

/// A call of a turn, and what became of it.
struct TurnCall {
  RunCall made_of;
  std::optional<Refusal> refusal{};  // by a limit of the run
  PendingCall* open = nullptr;
  bool came_back = false;  // it was open before this turn
  ToolReport report{};
  StopReason reason = StopReason::none;  // of its answer
  bool answered = false;
  bool escaped = false;  // by an exception that no policy answers for

  /// It came back, and may have had its effect before. (I3)
  bool may_have_been_made() const noexcept { return came_back && open->effect != PendingCall::Effect::none; }
};

/// The calls of a turn, each with its entry among the run's open calls: those that end without an answer stay open. (I2)
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
      // What asks a person is the same call when it comes back; after another end it is one that the model issues again. (H5)
      if (call.answered || (call.escaped && !call.report.asks))
        open_.counted(*call.open, PendingCall::Counted::by_none);
      if (call.answered)
        open_.answered_as_unknown(*call.open);
      else
        open_.left(*call.open, left_behind_by(call));
    }
  }

  std::vector<TurnCall> calls;

 private:
  static PendingCall::Effect left_behind_by(const TurnCall& call) noexcept {
    using Effect = PendingCall::Effect;
    if (call.report.outcome.unknown) return Effect::unknown;
    if (call.report.attempts == 0) return call.open->effect;
    // Made, and neither answered nor let go: something above it threw, and its answer is lost.
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

  /// Answers the call: makes it, or tells the tool's observers that it was refused. Throws what the tool's policy lets out.
  ToolResult answer(TurnCall& turn_call, const Call& with) const {
    const auto& [call, tool, known, issued] = turn_call.made_of;
    const auto& refusal = turn_call.refusal;
    auto its = call_of_tool(tool, call, with);
    its.scope = &state.scope();
    const Call nobody;
    const CurrentCall without_id{nobody};
    if (call.id.empty())
      its.id = without_id.id();  // the same in every event and in the list of unknown outcomes

    give_key(its, issued, turn_call.open);
    // Whatever the clock says at the next look, a refused call is not made. (D7, H2)
    if (refusal)
      its.refused = refusal->reason;
    else if (!known)
      its.refused = StopReason::unknown_tool;
    go_on(its, turn_call);
    std::string signature;
    sign(its, issued, signature);
    if (refusal && !tool.is_over(its)) {  // a deadline that has passed comes before every limit
      tool.refuse(its);
      auto result = refused_result(call, *refusal);
      tell_of_what_was(its, turn_call, result);
      return result;
    }
    auto result = run(turn_call, its);
    if (call.id.empty() && result.call_id == its.id) result.call_id.clear();
    return result;
  }

 private:
  ToolResult run(TurnCall& turn_call, const Call& its) const {
    auto& report = turn_call.report;
#if defined(__cpp_exceptions)
    try {
#endif
      auto result = turn_call.made_of.tool.run(turn_call.made_of.call, its, report);
      // Whatever a formatter made of a failure, its answer has the reason.
      if (result.is_error() || report.error != nullptr || result.reason != StopReason::none)
        tell_of_what_was(its, turn_call, result);
      else
        report.outcome.settle();  // it succeeded, and whoever succeeds need not say that he was answered
      return result;
#if defined(__cpp_exceptions)
    } catch (...) {
      remember(its, turn_call);
      throw;
    }
#endif
  }

  // A call that came back may have had its effect before, of which its end here settles nothing. Made again is only what may be
  // repeated, under the key that it had. (I1, I3)
  static void go_on(Call& its, TurnCall& call) noexcept {
    if (its.replay == ReplaySafety::repeatable || !call.may_have_been_made()) return;
    call.report.outcome.unknown = true;
    if (its.runs_once() && its.refused == StopReason::none) its.refused = StopReason::unknown_outcome;
  }

  // Remembers an outcome that is unknown, and tells the model where the tool's policy knows nothing of it.
  void tell_of_what_was(const Call& its, TurnCall& call, ToolResult& result) const {
    remember(its, call);
    if (call.report.outcome.unknown && call.may_have_been_made() &&
        its.refused != StopReason::unknown_outcome)
      result.content.append(" It was called before, and whether that had an effect is unknown.");
  }

  // The caller's own key, or that of the run. No attempt of a refused call is handed it. (I2)
  void give_key(Call& its, const IssuedCall& issued, const PendingCall* open) const {
    if (its.operation_key.empty()) {
      if (open != nullptr) its.operation_key = open->key;
    } else if (its.replay != ReplaySafety::repeatable &&
               !state.keys().stands_for(its.operation_key, issued)) {
      key_reused(KeyReuse{its.operation_key, its.id, its.name});
    }
  }

  void remember(const Call& its, TurnCall& turn_call) const {
    auto& report = turn_call.report;
    if (its.replay == ReplaySafety::repeatable) report.outcome.settle();  // nobody needs to know
    if (!report.outcome.unknown) return;
    if (report.attempts == 0 && turn_call.open->effect == PendingCall::Effect::unknown)
      return;  // it is listed already
    UnknownOutcome outcome{.call_id = std::string{its.id},
                           .call_name = std::string{its.name},
                           .resolved_name = std::string{its.resolved_name},
                           .request_id = std::string{report.outcome.request_id.view()},
                           .signature = std::string{its.signature},
                           .attempts = report.attempts,
                           .error_type = error_type(report.error),
                           .error = report.error};
    if (report.key_used || report.attempts == 0 || its.replay == ReplaySafety::repeatable_with_key)
      outcome.idempotency_key = its.operation_key;
    auto threw = StopReason::none;  // whatever the hook does, the call has ended as it has
    state.unknown_outcomes().add(outcome);
    deferring_cancellation([&] { holds([&] { return reconcile(outcome), true; }, threw); });
  }
};
template <class Reconciler, class KeyReuseHook>
RunCaller(RunState&, const Reconciler&, const KeyReuseHook&)
    -> RunCaller<Reconciler, KeyReuseHook>;  // Clang 16 finds none by itself

}  // namespace ENCORE_BUILD::detail
