// A callable that plays a list of steps, one a call, and records how it was called.
#pragma once
#include <encore/attempt.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/step.hpp>
#include <encore/unretryable.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD::testing {

/// Thrown when a script is called more often than it has steps. No policy retries it.
class ScriptExhausted : public Unretryable {
 public:
  ScriptExhausted(int length, std::string_view call_id, int ordinal)
      : Unretryable{message(length, call_id, ordinal)} {}

 private:
  static std::string message(int length, std::string_view call_id, int ordinal) {
    auto text = "encore: this script has only " + std::to_string(length) +
                (length == 1 ? " step" : " steps") + ": there is none for attempt " +
                std::to_string(ordinal) + " of ";
    return text.append(encore::detail::shown(call_id));
  }
};

namespace detail {

template <class T>
struct AnyStep {
  explicit AnyStep(StepPlan plan_of_it) : plan{std::move(plan_of_it)} {}
  AnyStep(const AnyStep&) = delete;
  AnyStep& operator=(const AnyStep&) = delete;
  virtual ~AnyStep() = default;
  virtual T play(const Attempt& attempt, bool last) = 0;

  const StepPlan plan;
  bool endless = false;
  int played = 0;
};

template <class T, class End>
struct StepWith final : AnyStep<T> {
  StepWith(StepPlan plan_of_it, End how) : AnyStep<T>{std::move(plan_of_it)}, end(std::move(how)) {}
  T play(const Attempt& attempt, bool last) override { return end.template play<T>(attempt, last); }
  End end;
};

}  // namespace detail

/// A function made of steps, to be called through a policy: each call plays the next one. `T` is what it returns: void, a
/// reference, or a move-only type too. One call too many throws `ScriptExhausted`. Thread-safe; give it by name.
///   Scripted<int> inventory{throws<TimeoutError>("slow"), times(2, throws<TimeoutError>("slow")), returns(17)};
///   CHECK(policy.run({.id = "call-17"}, inventory) == 17);
///   CHECK(inventory.ordinals() == std::vector{1, 2, 3, 4});
template <class T>
class Scripted {
 public:
  template <class... Steps>
    requires(detail::is_step<std::remove_cvref_t<Steps>> && ...)
  explicit Scripted(Steps&&... steps) {
    static_assert(!(detail::takes_time<std::remove_cvref_t<Steps>> || ...),
                  "a step takes() time, so the script needs a clock: Scripted<T>{clock, steps...}");
    add(std::forward<Steps>(steps)...);
  }
  template <class... Steps>
    requires(detail::is_step<std::remove_cvref_t<Steps>> && ...)
  explicit Scripted(FakeClock& clock, Steps&&... steps) : clock_{&clock} {
    add(std::forward<Steps>(steps)...);
  }
  Scripted(const Scripted&) = delete;
  Scripted& operator=(const Scripted&) = delete;

  T operator()(const Attempt& attempt) {
    const auto [step, last] = next(attempt);
    const auto& plan = step->plan;
    if (plan.uses_key) remember_key(attempt);
    if (plan.dispatched) attempt.mark_dispatched();
    if (plan.takes > Duration::zero()) clock_->advance(plan.takes);
    if (plan.answered) attempt.mark_answered();
    if (plan.not_run) attempt.mark_not_run();
    if (plan.status) attempt.note_status(*plan.status);
    if (!plan.request_id.empty()) attempt.note_request_id(plan.request_id);
    return step->play(attempt, last);
  }

  /// The number of calls, including those that had no step.
  int calls() const { return static_cast<int>(ordinals().size()); }
  /// The call id of each call, in order. (A4)
  std::vector<std::string> ids() const { return locked_copy(ids_); }
  /// The attempt's ordinal in each call. (A4)
  std::vector<int> ordinals() const { return locked_copy(ordinals_); }
  /// The idempotency key of each call whose step uses_key(). (I2)
  std::vector<std::string> keys() const { return locked_copy(keys_); }
  /// True if every step has been played. A step of `always` counts as played.
  bool finished() const {
    const std::lock_guard lock{mutex_};
    return position_ == steps_.size() || steps_[position_]->endless;
  }

 private:
  struct Next {
    detail::AnyStep<T>* step;
    bool last;
  };

  void add() noexcept {}
  template <class Step, class... Later>
  void add(Step&& step, Later&&... later) {
    constexpr bool endless = detail::is_endless<std::remove_cvref_t<Step>>;
    static_assert(!endless || sizeof...(Later) == 0,
                  "always() never ends, so it must be the last step of a script");
    auto plan = step.plan_;
    if (plan.times > 0) {
      length_ += plan.times;
      using End = decltype(step.end_);
      steps_.push_back(
          std::make_unique<detail::StepWith<T, End>>(std::move(plan), std::forward<Step>(step).end_));
      steps_.back()->endless = endless;
    }
    add(std::forward<Later>(later)...);
  }

  Next next(const Attempt& attempt) {
    const std::lock_guard lock{mutex_};
    ids_.emplace_back(attempt.call_id());
    ordinals_.push_back(attempt.ordinal);
    if (position_ == steps_.size()) throw ScriptExhausted{length_, attempt.call_id(), attempt.ordinal};
    auto& step = *steps_[position_];
    if (step.endless) return {&step, false};
    const auto last = ++step.played == step.plan.times;
    if (last) ++position_;
    return {&step, last};
  }
  void remember_key(const Attempt& attempt) {
    auto key = attempt.idempotency_key();
    const std::lock_guard lock{mutex_};
    keys_.push_back(std::move(key));
  }
  template <class Values>
  Values locked_copy(const Values& values) const {
    const std::lock_guard lock{mutex_};
    return values;
  }

  FakeClock* clock_ = nullptr;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<detail::AnyStep<T>>> steps_;
  std::size_t position_ = 0;
  int length_ = 0;
  std::vector<std::string> ids_;
  std::vector<int> ordinals_;
  std::vector<std::string> keys_;
};

}  // namespace ENCORE_BUILD::testing
