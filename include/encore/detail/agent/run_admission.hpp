// Decides which calls of a turn may be made: it asks the guards in their order, and a run that is over stays over.
#pragma once
#include <encore/agent/call_signature.hpp>
#include <encore/agent/refusal.hpp>
#include <encore/agent/refused_turns.hpp>
#include <encore/agent/run_guard.hpp>
#include <encore/detail/agent/pending_calls.hpp>
#include <encore/detail/agent/run_call.hpp>
#include <encore/detail/agent/run_state.hpp>

#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD::detail {

/// Asks the guards of one run. A view; as thread-safe as they are. Its counts are never saved half-way.
template <class Guards>
struct RunAdmission {
  Guards& guards;
  RunState& state;

  std::optional<Refusal> begin_step() const {
    const std::lock_guard lock{state.counting()};
    if (auto over = state.over()) return over;
    auto refusal = guards.admit_step();
    if (refusal)
      note_end(*refusal);
    else
      state.step_begins();
    return refusal;
  }

  /// Before any call of a turn is made: sets the refusal of each refused call, and gives every call its key, by its place in the
  /// turn. While the run is not over, every guard is asked, even after a refusal: they count what the model issued. An open call
  /// has been counted already. Calls after the run's end are not counted, and not against the thread either. (H5, I2)
  void admit(std::span<TurnCall> turn) const {
    if (turn.empty()) return;
    const std::lock_guard lock{state.counting()};
    auto& pending_calls = state.pending_calls();
    std::vector<IssuedCall> issued;
    for (auto& call : turn) {
      call.open = pending_calls.resume(call.run_call.call.id, CallSignature{call.run_call.issued});
      call.resumed = call.open != nullptr;
      if (call.resumed && call.open->refused != StopReason::none)
        call.refusal =
            Refusal{.reason = call.open->refused,
                    .to_model = not_called(call.run_call.call.name, "the run's limits refused it."),
                    .to_person = "refused before the run was saved"};
      if (!was_counted(call)) issued.push_back(call.run_call.issued);
    }
    if (const auto over = state.over()) {
      for (auto& call : turn) call.refusal = run_is_over(*over, call.run_call.call.name);
      return;
    }
    if (!issued.empty()) {
      const auto step = state.belongs_to_step() ? std::nullopt : guards.admit_step_with_calls();
      auto verdict = guards.admit_batch(issued);
      std::size_t next = 0;
      for (auto& call : turn)
        if (!was_counted(call)) call.refusal = std::move(verdict.calls[next++]);
      if (step) {
        note_end(*step);
        for (auto& call : turn) call.refusal = step;
      }
      if (verdict.ends_run) note_end(*verdict.ends_run);
    }
    const auto& scope = state.scope_of_this_process();
    for (auto& call : turn) {
      if (call.open == nullptr)
        call.open = &pending_calls.issue(call.run_call.call.id, CallSignature{call.run_call.issued}, scope);
      if (call.refusal) pending_calls.refused(*call.open, call.refusal->reason);
      if (!was_counted(call)) pending_calls.counted(*call.open, PendingCall::Counted::with_its_turn);
    }
  }

  /// Directly before a call: asks the guards that look at single calls, even if the call was refused with its turn, unless the
  /// run is over.
  void admit(TurnCall& call) const {
    const std::lock_guard lock{state.counting()};
    if (const auto over = state.over()) {
      if (!call.refusal) call.refusal = run_is_over(*over, call.run_call.call.name);
      return;
    }
    const auto counted = call.open != nullptr && call.open->counted == PendingCall::Counted::by_all;
    auto own = guards.admit_call(call.run_call.issued, counted);
    if (call.open != nullptr) state.pending_calls().counted(*call.open, PendingCall::Counted::by_all);
    if (own) note_end(*own);
    if (!call.refusal) call.refusal = std::move(own);
    if (call.refusal && call.open != nullptr) state.pending_calls().refused(*call.open, call.refusal->reason);
  }

  /// After the turn: counts it if none of its calls was made, which may end the run. (H9)
  void ended(std::span<const TurnCall> turn, const RefusedTurns& limits) const {
    if (turn.empty() || state.over()) return;
    auto outcome = TurnOutcome::refused;
    auto last = StopReason::none;
    for (const auto& call : turn) {
      const auto reason =
          call.reason == StopReason::none && call.refusal ? call.refusal->reason : call.reason;
      if (call.report.attempts == 0 && reason == StopReason::none) continue;  // the host skipped it
      last = reason;
      const auto interrupted_again = call.resumed && call.report.interrupt;
      if (call.report.attempts > 0 && !interrupted_again) outcome = TurnOutcome::made;
      const auto by_limits =
          (call.refusal && reason == call.refusal->reason) || reason == StopReason::unknown_tool;
      if (!by_limits && outcome == TurnOutcome::refused) outcome = TurnOutcome::passing;
    }
    if (last == StopReason::none && outcome != TurnOutcome::made) return;
    if (const auto end = state.refused_turns().add(outcome, last, limits)) note_end(*end);
  }

 private:
  static bool was_counted(const TurnCall& call) noexcept {
    return call.open != nullptr && call.open->counted != PendingCall::Counted::by_none;
  }
  void note_end(const Refusal& refusal) const {
    if (refusal.ends_run) state.end(refusal);
  }
  static Refusal run_is_over(Refusal why, std::string_view name) {
    why.to_model = not_called(name, "the run is over.");
    return why;
  }
};
template <class Guards>
RunAdmission(Guards&, RunState&) -> RunAdmission<Guards>;  // Clang 16 needs it

}  // namespace ENCORE_BUILD::detail
