// An executor for coroutines on fake time.
#pragma once
#include <encore/clock.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/duration.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/task.hpp>

#include <coroutine>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

namespace encore ENCORE_BUILD::testing {

/// Runs coroutines on one thread and on fake time, in a fixed order: first what is ready, then the sleep that ends first, then
/// the one that began first. Coroutines run only inside `run` and `run_for`. Not thread-safe.
///   ManualExecutor executor{clock};
///   CHECK(executor.run(co_run(policy, {.id = "call-17"}, lookup, executor.sleeper())) == 17);
///   CHECK(clock.sleeps() == Durations{1s, 2s});
class ManualExecutor {
  using Timers = std::multimap<TimePoint, std::coroutine_handle<>>;

 public:
  explicit ManualExecutor(FakeClock& clock) noexcept : clock_{clock} {}
  ManualExecutor(const ManualExecutor&) = delete;
  ManualExecutor& operator=(const ManualExecutor&) = delete;

  /// One sleep, to be awaited. A stop request ends it in the executor's next turn. A sleep that is destroyed early is removed.
  class [[nodiscard]] Sleep {
   public:
    Sleep(ManualExecutor& executor, Duration duration, const StopView& stop) noexcept
        : executor_{executor},
          duration_{duration},
          stop_{stop} {}
    Sleep(const Sleep&) = delete;
    Sleep& operator=(const Sleep&) = delete;
    ~Sleep() { remove(); }

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> sleeper) {
      sleeper_ = sleeper;
      began_ = executor_.clock_.now();
      timer_ = executor_.timers_.emplace(later(began_, duration_), sleeper);
      if (stop_.watches())
        subscription_.emplace(
            stop_, StopAction{[](void* sleep) noexcept { static_cast<Sleep*>(sleep)->wake(); }, this});
    }
    void await_resume() {
      subscription_.reset();
      remove();
      executor_.clock_.record_sleep(
          shared::smaller_of(duration_, time_between(began_, executor_.clock_.now())));
    }

   private:
    friend class ManualExecutor;
    void wake() noexcept {
      if (!timer_) return;
      executor_.timers_.erase(*std::exchange(timer_, std::nullopt));
      executor_.ready_.push_back(sleeper_);
      woken_ = true;
    }
    void remove() noexcept {
      subscription_.reset();
      if (timer_) executor_.timers_.erase(*std::exchange(timer_, std::nullopt));
      if (std::exchange(woken_, false)) std::erase(executor_.ready_, sleeper_);
    }

    ManualExecutor& executor_;
    Duration duration_;
    const StopView stop_;
    std::coroutine_handle<> sleeper_{};
    TimePoint began_{};
    std::optional<Timers::iterator> timer_{};
    bool woken_ = false;
    std::optional<StopSubscription> subscription_{};
  };

  /// A sleeper for `co_run` that sleeps on this executor. Copyable; the executor must outlive it.
  auto sleeper() noexcept {
    return [this](Duration duration, const StopView& stop) { return Sleep{*this, duration, stop}; };
  }

  /// Runs until nothing is left to run, advancing fake time from sleep to sleep.
  void run() {
    while (run_ready() || run_next_sleep(std::nullopt)) {}
  }
  /// The same, up to and including `duration` from now; afterwards that much time has passed.
  void run_for(Duration duration) {
    const auto until = later(clock_.now(), duration);
    while (run_ready() || run_next_sleep(until)) {}
    clock_.advance(time_between(clock_.now(), until));
    run_ready();
  }
  /// Starts a task and runs everything; returns or throws what the task did. Throws `std::logic_error` if the task is still
  /// waiting.
  template <class T>
  T run(Task<T> task) {
    task.start();
    run();
    if (!task.done())
      throw std::logic_error{"encore: this task is waiting for something outside this executor"};
    return task.result();
  }

  std::size_t sleeping() const noexcept { return timers_.size(); }

 private:
  bool run_ready() {
    auto ran = false;
    while (!ready_.empty()) {
      const auto next = ready_.front();
      ready_.pop_front();
      next.resume();
      ran = true;
    }
    return ran;
  }
  bool run_next_sleep(const std::optional<TimePoint>& until) {
    const auto next = timers_.begin();
    if (next == timers_.end() || (until && next->first > *until)) return false;
    // An action on the way may wake or destroy sleepers: then time stops for them.
    const WokenToken woken{*this};
    clock_.advance(time_between(clock_.now(), next->first), woken);
    if (!ready_.empty()) return true;
    const auto due = timers_.begin();
    if (due != timers_.end() && due->first <= clock_.now()) due->second.resume();
    return true;
  }
  /// Asks the clock to stop as soon as a sleeper has been woken.
  struct WokenToken {
    template <class Function>
    struct callback_type {  // never sleeps, so it never has to be called
      callback_type(const WokenToken&, Function) noexcept {}
    };
    const ManualExecutor& executor;
    bool stop_requested() const noexcept { return !executor.ready_.empty(); }
    bool stop_possible() const noexcept { return true; }
  };

  FakeClock& clock_;
  Timers timers_{};
  std::deque<std::coroutine_handle<>> ready_{};
};

}  // namespace ENCORE_BUILD::testing
