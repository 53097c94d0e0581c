// The state of one run of an agent, except its guards' counts.
#pragma once
#include <encore/agent/call_signature.hpp>
#include <encore/agent/refusal.hpp>
#include <encore/agent/refused_turns.hpp>
#include <encore/agent/unknown_outcomes.hpp>
#include <encore/detail/agent/key_ledger.hpp>
#include <encore/detail/agent/pending_calls.hpp>
#include <encore/durable/saved_state.hpp>
#include <encore/scope.hpp>
#include <encore/stop_reason.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace encore ENCORE_BUILD::detail {

/// The run's scope, whether it is over, its open calls with their keys, the operation keys that it has seen, and its unknown
/// outcomes. Thread-safe, except `new_run` and `restore`, during which no call may be under way; not copyable.
class RunState {
 public:
  RunState() = default;
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;

  /// Belongs to this run only, so that ids which models reuse in each run make new keys. (I2)
  const Scope& scope() const noexcept { return scope_; }
  /// The same, but renewed after a fork: parent and child may both continue the run, and must not make one key for two calls. For
  /// new calls; open ones have their keys.
  const Scope& scope_of_this_process() {
    const std::lock_guard lock{mutex_};
    if (const auto process = Scope::process(); process != process_) {
      scope_ = Scope::random();
      process_ = process;
    }
    return scope_;
  }

  /// Locked while calls are counted, and while the counts are saved.
  std::mutex& counting() const noexcept { return counting_; }

  /// Why the run is over, if it is: the first refusal that ended it.
  std::optional<Refusal> over() const {
    const std::lock_guard lock{mutex_};
    return over_;
  }
  void end(const Refusal& why) {
    const std::lock_guard lock{mutex_};
    if (!over_) over_ = why;
  }

  /// The host has counted a step: the next turn's calls belong to it.
  void step_begins() noexcept { step_begun_.store(true, std::memory_order_relaxed); }
  bool belongs_to_step() noexcept { return step_begun_.exchange(false, std::memory_order_relaxed); }

  PendingCalls& pending_calls() noexcept { return pending_calls_; }
  RefusedTurnCount& refused_turns() noexcept { return refused_turns_; }
  /// The callers' operation keys, and the calls that they stand for.
  KeyLedger& keys() noexcept { return keys_; }
  UnknownOutcomes& unknown_outcomes() noexcept { return unknown_outcomes_; }
  const UnknownOutcomes& unknown_outcomes() const noexcept { return unknown_outcomes_; }

  /// Starts a new run: a new scope, no open calls, and not over. Outcomes to reconcile and the caller's keys stay: they outlive a
  /// run.
  void new_run() {
    scope_ = Scope::random();
    pending_calls_.new_run();
    refused_turns_.new_run();
    over_.reset();
    step_begun_ = false;
  }

  std::string save() const {
    const auto over_now = over();
    StateLine line{kind};
    line.add("scope", scope_.text());
    if (step_begun_.load(std::memory_order_relaxed)) line.add("step_begun", 1);
    if (over_now)
      line.add("over", to_string(over_now->reason)).add_bytes("over_because", over_now->to_person);
    // Saved before the list, so that a call which is saved as listed is in it.
    const auto open = pending_calls_.save();
    const auto unknown = unknown_outcomes_.save();
    line.add("unknown_outcomes", static_cast<std::int64_t>(std::ranges::count(unknown, '\n')));
    return line.text() + '\n' + open + refused_turns_.save() + keys_.save() + unknown;
  }
  /// Throws `std::invalid_argument` for text that `save` did not write, and changes nothing then.
  void restore(std::string_view text) {
    const auto line = saved_line(text, kind);
    const auto digits = signature_of("scope", line.text("scope"));
    std::optional<Refusal> over_then;
    if (line.has("over"))
      over_then = Refusal{.reason = stop_reason_in(line, "over"),
                          .to_model = not_called({}, "the run is over."),
                          .to_person = line.bytes("over_because"),
                          .ends_run = true};
    const auto step_begun = line.has("step_begun") && line.count("step_begun") != 0;
    static_cast<void>(saved_lines(text, UnknownOutcomes::kind, line, "unknown_outcomes"));
    UnknownOutcomes{}.restore(text);  // these throw for invalid text, before anything changes
    KeyLedger{}.restore(text);
    RefusedTurnCount{}.restore(text);
    pending_calls_.restore(text);
    refused_turns_.restore(text);
    keys_.restore(text);
    unknown_outcomes_.restore(text);
    scope_ = Scope{digits.high(), digits.low()};
    process_ = Scope::process();
    step_begun_ = step_begun;
    over_ = std::move(over_then);
  }

 private:
  static constexpr std::string_view kind{"tool_run"};

  Scope scope_ = Scope::random();
  Scope process_ = Scope::process();  // the process in which that is the run's scope
  mutable std::mutex counting_;
  PendingCalls pending_calls_{};
  RefusedTurnCount refused_turns_{};
  std::atomic<bool> step_begun_{false};
  KeyLedger keys_{};
  UnknownOutcomes unknown_outcomes_{};
  mutable std::mutex mutex_;
  std::optional<Refusal> over_{};
};

}  // namespace ENCORE_BUILD::detail
