// How many steps, which are turns of the model, a run and a thread of conversation may take.
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

/// At most so many steps in a run, and in all runs of a thread. Checked as `CallLimit` is; a step over the limit ends the run, or
/// throws `CallLimitExceeded`: there is nothing else that could be answered. (langchain.md §3, §4)
///   StepLimit{.run_limit = 50}
struct StepLimit {
  using State = StepCounter;
  ThreadLimit thread_limit{};
  RunLimit run_limit{};
  OnLimit on_limit = OnLimit::end_run;
  [[no_unique_address]] LimitsAgree limits_agree{thread_limit, run_limit};
};

/// A step begins with a call of the model, so the limit on such calls is the same thing. Its counter stands before the client, or
/// in the client's policy, where a call counts once however many attempts it takes.
///   ModelCallCounter model_calls{ModelCallLimit{.run_limit = 50}};
///   RetryPolicy policy{RetryOn<TimeoutError>{}, model_calls};
using ModelCallLimit = StepLimit;
using ModelCallCounter = StepCounter;

/// Counts the steps of a thread's runs. Thread-safe; not copied. (H8)
class StepCounter {
 public:
  explicit StepCounter(const StepLimit& limit) : limit_{limit} {
    const LimitsAgree again{limit.thread_limit, limit.run_limit};  // the fields may have changed since
    if (limit.on_limit != OnLimit::end_run && limit.on_limit != OnLimit::throw_exception)
      the_on_limit_is_none_of_those_allowed(limit.on_limit, "end_run or throw_exception");
  }

  /// Before a step: counts it, unless a count has reached its limit. A refused step is not counted. Throws
  /// `CallLimitExceeded` if the limit is set so.
  [[nodiscard]] std::optional<Refusal> admit() {
    const auto refused = count();
    if (!refused) return std::nullopt;
    const auto message =
        "step limit reached: " + limits_exceeded(*refused, limit_.thread_limit, limit_.run_limit);
    if (limit_.on_limit == OnLimit::throw_exception)
      throw_call_limit_exceeded(message, *refused, limit_.thread_limit, limit_.run_limit);
    return Refusal{.reason = refusal,
                   .to_model = not_called({}, "the step limit is reached. Do not call any tool again."),
                   .to_person = message,
                   .ends_run = true};
  }

  RunCounts counts() const {
    const std::lock_guard lock{mutex_};
    return counts_;
  }

  /// The run's count begins anew; the thread's goes on.
  void new_run() noexcept {
    const std::lock_guard lock{mutex_};
    counts_.run = 0;
  }

  std::string save() const {
    const auto counted = counts();
    return StateLine{kind}.add("thread", counted.thread).add("run", counted.run).text() + '\n';
  }
  /// Throws `std::invalid_argument` for text that is not what `save` wrote, and changes nothing then.
  void restore(std::string_view text) {
    const auto line = saved_line(text, kind);
    const RunCounts saved{line.count("thread"), line.count("run")};
    const std::lock_guard lock{mutex_};
    counts_ = saved;
  }

  // As a guard of a policy: one step for each call. A refusal is the policy's to answer, so this way nothing is thrown here.
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

  /// Counts a step, or gives the counts with which it would be over a limit.
  std::optional<RunCounts> count() noexcept {
    const std::lock_guard lock{mutex_};
    const RunCounts next{counts_.thread + 1, counts_.run + 1};
    if (is_over(next, limit_.thread_limit, limit_.run_limit)) return next;
    counts_ = next;
    return std::nullopt;
  }

  const StepLimit limit_;
  mutable std::mutex mutex_;
  RunCounts counts_{};
};
static_assert(RunGuard<StepLimit> && Guard<StepCounter&>);

}  // namespace encore ENCORE_BUILD
