// Limits on the number of steps, which are model turns, in a run and in a thread of conversation.
#pragma once
#include <encore/agent/refusal.hpp>
#include <encore/agent/run_counts.hpp>
#include <encore/agent/run_guard.hpp>
#include <encore/durable/saved_state.hpp>
#include <encore/guard/guard.hpp>

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

class StepCounter;

/// Limits the steps in a run, and in all runs of a thread. Validated like `CallLimit`; a step over the limit ends the run, or
/// throws `CallLimitExceeded`, since there is no call to answer.
///   StepLimit{.run_limit = 50}
struct StepLimit {
  using State = StepCounter;
  ThreadLimit thread_limit{};  ///< on the steps in all runs of a thread; empty: no limit
  RunLimit run_limit{};        ///< on the steps in one run; empty: no limit
  OnLimit on_limit = OnLimit::end_run;
  [[no_unique_address]] detail::LimitsAgree limits_agree{thread_limit, run_limit};
};

/// A step begins with a call of the model, so a limit on such calls is the same thing. Its counter guards the model's client, or
/// the client's policy, where a call counts once however many attempts it takes.
///   ModelCallCounter model_calls{ModelCallLimit{.run_limit = 50}};
///   RetryPolicy policy{RetryOn<TimeoutError>{}, model_calls};
using ModelCallLimit = StepLimit;
using ModelCallCounter = StepCounter;

/// Counts the steps of a thread's runs. Thread-safe; not copyable. (H8)
class StepCounter {
 public:
  explicit StepCounter(const StepLimit& limit) : limit_{limit} {
    const detail::LimitsAgree again{limit.thread_limit, limit.run_limit};  // fields may have been changed
    if (limit.on_limit != OnLimit::end_run && limit.on_limit != OnLimit::throw_exception)
      detail::the_on_limit_is_not_allowed(limit.on_limit, "end_run or throw_exception");
  }

  /// Before a step: counts it, or refuses it if a count has reached its limit. A refused step is not counted. Throws
  /// `CallLimitExceeded` if the limit is set to do so.
  [[nodiscard]] std::optional<Refusal> admit() {
    const auto refused = count();
    if (!refused) return std::nullopt;
    const auto message =
        "step limit reached: " + detail::limits_exceeded(*refused, limit_.thread_limit, limit_.run_limit);
    if (limit_.on_limit == OnLimit::throw_exception)
      detail::throw_call_limit_exceeded(message, *refused, limit_.thread_limit, limit_.run_limit);
    return Refusal{.reason = refusal,
                   .to_model = not_called({}, "the step limit is reached. Do not call any tool again."),
                   .to_person = message,
                   .ends_run = true};
  }

  RunCounts counts() const {
    const std::lock_guard lock{mutex_};
    return counts_;
  }

  /// Resets the run's count; the thread's continues.
  void new_run() noexcept {
    const std::lock_guard lock{mutex_};
    counts_.run = 0;
  }

  std::string save() const {
    const auto counted = counts();
    return StateLine{kind}.add("thread", counted.thread).add("run", counted.run).text() + '\n';
  }
  /// Throws `std::invalid_argument` for text that `save` did not write, and changes nothing then.
  void restore(std::string_view text) {
    const auto line = saved_line(text, kind);
    const RunCounts saved{line.count("thread"), line.count("run")};
    const std::lock_guard lock{mutex_};
    counts_ = saved;
  }

  // As a guard of a policy: each call is one step. A refusal is reported by the policy, so nothing is thrown here.
  using role = encore::role::Guard;
  static constexpr auto refusal = StopReason::step_limit_reached;
  static constexpr bool per_call = true;

  class Permit {
   public:
    Permit() = default;
    Permit(Permit&&) = default;
    Permit& operator=(Permit&&) = default;
    static void succeeded(const Now&) noexcept {}
    static void failed(const Now&, bool) noexcept {}
  };
  [[nodiscard]] std::optional<Permit> admit(const AdmissionRequest&) noexcept {
    if (count()) return std::nullopt;
    return Permit{};
  }

 private:
  static constexpr std::string_view kind{"step_limit"};

  /// Counts a step, or returns the counts that would exceed a limit.
  std::optional<RunCounts> count() noexcept {
    const std::lock_guard lock{mutex_};
    const RunCounts next{counts_.thread + 1, counts_.run + 1};
    if (detail::is_over(next, limit_.thread_limit, limit_.run_limit)) return next;
    counts_ = next;
    return std::nullopt;
  }

  const StepLimit limit_;
  mutable std::mutex mutex_;
  RunCounts counts_{};
};
static_assert(RunGuard<StepLimit> && Guard<StepCounter&>);

}  // namespace encore ENCORE_BUILD
