// May the calls of a turn be made? The guards are asked in their order, and a run that is over stays over.
#pragma once
#include <encore/guard/refusal.hpp>
#include <encore/guard/run_guard.hpp>
#include <encore/tool/run_call.hpp>
#include <encore/tool/run_state.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace encore::detail {

/// Asks the guards of one run. A view; as thread-safe as they are.
template <class Guards>
struct RunAdmission {
  Guards& guards;
  RunState& state;

  std::optional<Refusal> begin_step() const {
    if (auto over = state.over()) return over;
    auto refusal = guards.admit_step();
    if (refusal)
      note_end(*refusal);
    else
      state.step_begins();
    return refusal;
  }

  /// Before any call of a turn is made: one answer for each. As long as the run is not over, every guard is asked, whatever the
  /// others said: they count what the model issued. What comes after its end is no longer counted, against its thread least
  /// of all. (H5)
  std::vector<std::optional<Refusal>> admit(std::span<const RunCall> turn) const {
    if (turn.empty()) return {};
    if (const auto over = state.over()) {
      std::vector<std::optional<Refusal>> refusals;
      for (const auto& call : turn) refusals.emplace_back(run_is_over(*over, call.call.name));
      return refusals;
    }
    const auto step = state.belongs_to_step() ? std::nullopt : guards.admit_step_with_calls();
    std::vector<IssuedCall> issued;
    for (const auto& call : turn) issued.push_back(call.issued);
    auto verdict = guards.admit_batch(issued);
    if (step) {
      note_end(*step);
      for (auto& refusal : verdict.calls) refusal = step;
    }
    if (verdict.ends_run) note_end(*verdict.ends_run);
    return std::move(verdict.calls);
  }

  /// Right before a call: the guards that look at each call are asked, whatever was said of its turn, if the run is not over.
  void admit(const RunCall& call, std::optional<Refusal>& refusal) const {
    if (const auto over = state.over()) {
      if (!refusal) refusal = run_is_over(*over, call.call.name);
      return;
    }
    auto own = guards.admit_call(call.issued);
    if (own) note_end(*own);
    if (!refusal) refusal = std::move(own);
  }

 private:
  void note_end(const Refusal& refusal) const {
    if (refusal.ends_run) state.end(refusal);
  }
  static Refusal run_is_over(Refusal why, std::string_view name) {
    why.to_model = not_called(name, "the run is over.");
    return why;
  }
};

}  // namespace encore::detail
