// Limits on the number of tool calls in a run and in a thread of conversation.
#pragma once
#include <encore/agent/refusal.hpp>
#include <encore/agent/run_counts.hpp>
#include <encore/agent/run_guard.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/durable/saved_state.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD {

class CallCounter;

/// Limits the calls in a run, and in all runs of a thread: of one tool (its exact name) or of all tools together. It counts calls
/// that the model issued, never attempts. At least one limit must be set, and the run's limit must not exceed the thread's;
/// otherwise `std::invalid_argument` names fields and values, and in a constant it is a compile error. (H5)
///   CallLimit{.run_limit = 20};  CallLimit{.tool = "search", .thread_limit = 10, .on_limit = OnLimit::end_run};
struct CallLimit {
  using State = CallCounter;
  std::optional<std::string> tool{};  ///< if absent, calls of every tool count
  ThreadLimit thread_limit{};         ///< on the calls in all runs of a thread; empty: no limit
  RunLimit run_limit{};               ///< on the calls in one run; empty: no limit
  OnLimit on_limit = OnLimit::answer_calls;
  [[no_unique_address]] detail::LimitsAgree limits_agree{thread_limit, run_limit};

  bool counts(std::string_view name) const noexcept { return !tool || *tool == name; }
};

/// The decision about the calls of one model turn.
struct BatchVerdict {
  std::vector<std::optional<Refusal>> calls{};  ///< one for each call, in order; empty if it may run
  std::optional<Refusal> ends_run{};  ///< if set, the run is over: no call may run, and each has its refusal
};

/// Counts the calls of a thread's runs against one or more limits that apply together. Thread-safe; not copyable. (H8)
class CallCounter {
 public:
  explicit CallCounter(const CallLimit& limit) : CallCounter{std::vector{limit}} {}
  explicit CallCounter(std::vector<CallLimit> limits) : limits_{std::move(limits)}, counts_(limits_.size()) {
    for (const auto& limit : limits_) validate(limit);
  }

  /// Decides about the calls of one model turn, in order and before any of them runs, and counts them. A call is refused if it
  /// would bring the thread's or the run's count over a limit; the thread's count grows by the admitted calls, the run's by all.
  /// A limit that ends the run leaves the thread's count unchanged. Throws `CallLimitExceeded` if a limit is set to do so; then
  /// no limit has counted anything. (H5)
  [[nodiscard]] BatchVerdict admit(std::span<const IssuedCall> batch) {
    BatchVerdict verdict{.calls = std::vector<std::optional<Refusal>>(batch.size())};
    const std::lock_guard lock{mutex_};
    auto counts = counts_;
    for (std::size_t i = 0; i < limits_.size(); ++i) walk(limits_[i], counts[i], batch, verdict);
    if (verdict.ends_run) refuse_the_rest(batch, verdict);
    counts_.swap(counts);
    return verdict;
  }
  /// The same for a single call.
  [[nodiscard]] std::optional<Refusal> admit(const IssuedCall& call) {
    return std::move(admit(std::span{&call, 1}).calls.front());
  }

  /// The counts of each limit, in order.
  std::vector<RunCounts> counts() const {
    const std::lock_guard lock{mutex_};
    return counts_;
  }

  /// Resets the run's counts; the thread's continue.
  void new_run() noexcept {
    const std::lock_guard lock{mutex_};
    for (auto& counted : counts_) counted.run = 0;
  }

  /// One line for each limit, for `restore`.
  std::string save() const {
    const auto counted = counts();
    std::string text;
    for (std::size_t i = 0; i < limits_.size(); ++i) {
      StateLine line{kind};
      if (limits_[i].tool) line.add("tool", *limits_[i].tool);
      text += line.add("thread", counted[i].thread).add("run", counted[i].run).text() + '\n';
    }
    return text;
  }
  /// Restores what a counter with the same limits saved; their numbers may have changed since. Throws `std::invalid_argument` for
  /// any other text, and changes nothing then.
  void restore(std::string_view text) {
    const auto lines = saved_lines(text, kind, limits_.size());
    std::vector<RunCounts> counts;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto saved_tool = lines[i].has("tool") ? in_quotes(lines[i].text("tool")) : "every tool";
      if (const auto tool = name_of(limits_[i]); saved_tool != tool)
        refuse_setting("tool", saved_tool, "is invalid: this limit is for " + tool);
      counts.push_back({lines[i].count("thread"), lines[i].count("run")});
    }
    const std::lock_guard lock{mutex_};
    counts_.swap(counts);
  }

 private:
  static constexpr std::string_view kind{"call_limit"};

  static void validate(const CallLimit& limit) {
    const detail::LimitsAgree again{limit.thread_limit, limit.run_limit};  // fields may have been changed
    if (limit.tool && limit.tool->empty())
      refuse_setting("tool", "\"\"", "is invalid: leave it out to count the calls of every tool");
    if (limit.on_limit > OnLimit::end_run)
      detail::the_on_limit_is_not_allowed(limit.on_limit, "answer_calls, throw_exception or end_run");
  }
  static std::string name_of(const CallLimit& limit) {
    return limit.tool ? in_quotes(*limit.tool) : "every tool";
  }

  static void walk(const CallLimit& limit, RunCounts& counts, std::span<const IssuedCall> batch,
                   BatchVerdict& verdict) {
    RunCounts allowed = counts;
    RunCounts issued = counts;
    std::optional<Refusal> last;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (!limit.counts(batch[i].name)) continue;
      ++issued.thread, ++issued.run;
      if (!detail::is_over({allowed.thread + 1, allowed.run + 1}, limit.thread_limit, limit.run_limit)) {
        ++allowed.thread, ++allowed.run;
        continue;
      }
      last = refusal(limit, batch[i], issued);
      if (!verdict.calls[i]) verdict.calls[i] = last;
    }
    if (last && limit.on_limit == OnLimit::throw_exception)
      detail::throw_call_limit_exceeded(last->to_person, issued, limit.thread_limit, limit.run_limit);
    if (last && limit.on_limit == OnLimit::end_run) {
      if (!verdict.ends_run) verdict.ends_run = last;
    } else {
      counts.thread = allowed.thread;
    }
    counts.run = issued.run;
  }
  static Refusal refusal(const CallLimit& limit, const IssuedCall& call, const RunCounts& counts) {
    return {.reason = StopReason::call_limit_reached,
            .to_model = not_called(
                call.name, limit.tool ? "its call limit is reached. Do not call it again."
                                      : "the limit on tool calls is reached. Do not call any tool again."),
            .to_person = "call limit of " + name_of(limit) +
                         " reached: " + detail::limits_exceeded(counts, limit.thread_limit, limit.run_limit),
            .ends_run = limit.on_limit == OnLimit::end_run};
  }
  // The run is over: calls that no limit refused are not made either, and get an answer. (langchain #34159)
  static void refuse_the_rest(std::span<const IssuedCall> batch, BatchVerdict& verdict) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (verdict.calls[i]) continue;
      verdict.calls[i] = verdict.ends_run;
      verdict.calls[i]->to_model = not_called(batch[i].name, "the run is over.");
    }
  }

  const std::vector<CallLimit> limits_;
  mutable std::mutex mutex_;
  std::vector<RunCounts> counts_;
};
static_assert(RunGuard<CallLimit>);

}  // namespace encore ENCORE_BUILD
