// A clock for tests: its time passes only when it is told to, so no test ever sleeps.
#pragma once
#include <encore/clock.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/duration.hpp>
#include <encore/ingredient.hpp>
#include <encore/setting.hpp>
#include <encore/stop.hpp>
#include <encore/testing/durations.hpp>
#include <encore/unretryable.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD::testing {

/// Attempts go on and on while fake time stands still, so the test would never end. No policy retries it. Without exceptions its text
/// goes to stderr, and the program ends. (D8, L3)
class NoProgress : public Unretryable {
 public:
  explicit NoProgress(const std::string& what_happened)
      : Unretryable{"encore: fake time has stood still for " + what_happened +
                    ", so this would go on for ever: let the attempts take time "
                    "(clock.advance(), or takes() in a script), "
                    "give the policy a wait or a count limit, or raise most_attempts_without_progress"} {}
};

struct FakeClockOptions {
  /// So many attempts without any fake time between them are believed; the next one throws `NoProgress`. So do, for
  /// loops that make no attempts, a thousand times as many readings.
  Count<"most_attempts_without_progress", 1> most_attempts_without_progress = 10'000;
};

/// A clock whose sleeps take no time: each is written down, and fake time moves on by it. `now()` begins at `TimePoint{}`,
/// `wall()` at 2026-01-01T00:00:00Z. Give it to a policy by name; it is held by reference. (D1)
/// Thread-safe. There is no waiting for each other: sleeps on several threads add up.
///   FakeClock clock;
///   clock.after(100ms, [&] { source.request_stop(); });
///   policy.with(clock).run(call, lookup);
///   CHECK(clock.sleeps() == Durations{100ms});
class FakeClock {
 public:
  using role = encore::role::Clock;
  static constexpr WallTime first_wall =
      std::chrono::sys_days{std::chrono::year{2026} / std::chrono::January / 1};

  FakeClock() : FakeClock{FakeClockOptions{}} {}
  explicit FakeClock(FakeClockOptions options)
      : most_attempts_{options.most_attempts_without_progress},
        most_readings_{1000 * most_attempts_} {}
  FakeClock(const FakeClock&) = delete;
  FakeClock& operator=(const FakeClock&) = delete;

  /// Throws `NoProgress` when it was read again and again while time stood still.
  TimePoint now() const {
    if (readings_.fetch_add(1, std::memory_order_relaxed) -
            readings_before_.load(std::memory_order_relaxed) >=
        most_readings_)
      stand_still(std::to_string(most_readings_) + " readings of the clock");
    return now_.load(std::memory_order_acquire);
  }
  WallTime wall() const {
    const std::lock_guard lock{mutex_};
    return wall_;
  }

  /// Moves time on by `duration` and writes it down. A stop requested before, or by a scheduled action on the way, ends it at
  /// that moment, and only what was slept till then is written down. (K1)
  void sleep_for(Duration duration, const StopView& stop = {}) {
    std::unique_lock lock{mutex_};
    const auto slept = pass(larger_of(duration, Duration::zero()), stop, lock);
    sleeps_.push_back(slept);
  }

  /// Lets time pass that nobody sleeps through: the time an attempt takes, say. Callable inside an attempt. A stop requested
  /// by a scheduled action on the way ends it there.
  void advance(Span<"advance"> duration, const StopView& stop = {}) {
    std::unique_lock lock{mutex_};
    pass(duration, stop, lock);
  }
  /// Puts `now()` elsewhere, back in time as well: a clock that misbehaves. The calendar stays. (D7)
  void set(TimePoint time) {
    std::unique_lock lock{mutex_};
    go_to(time);
    pass(Duration::zero(), {}, lock);
  }
  /// Puts `wall()` elsewhere, as when somebody sets the date. `now()` stays. (D1)
  void set_wall(WallTime time) {
    const std::lock_guard lock{mutex_};
    wall_ = time;
  }

  /// Runs `action` once, inside the sleep, `advance` or `set` in which `now()` reaches `time`. It may use the clock and
  /// request a stop; if it throws, so does that sleep.
  void at(TimePoint time, std::function<void()> action) {
    const std::lock_guard lock{mutex_};
    schedule(time, action);
  }
  void after(Span<"after"> duration, std::function<void()> action) {
    const std::lock_guard lock{mutex_};
    schedule(later(now_.load(std::memory_order_relaxed), duration), action);
  }

  /// Writes down a sleep that somebody else made of this clock's time: an executor whose tasks sleep side by side.
  void record_sleep(Duration slept) {
    const std::lock_guard lock{mutex_};
    sleeps_.push_back(slept);
  }

  /// Every sleep that has ended, in order. Zeros too: a policy that does not wait must not sleep. (C5)
  Durations sleeps() const {
    const std::lock_guard lock{mutex_};
    return Durations{std::vector<Duration>(sleeps_.begin(), sleeps_.end())};
  }
  Duration total_slept() const { return sleeps().total(); }
  /// How often `now()` was read. (P5)
  std::int64_t readings() const noexcept { return readings_.load(std::memory_order_relaxed); }

  /// Called by the drivers before each attempt. Throws `NoProgress`. (D8)
  void attempt_started() {
    if (attempts_.fetch_add(1, std::memory_order_relaxed) -
            attempts_before_.load(std::memory_order_relaxed) >=
        most_attempts_)
      stand_still(std::to_string(most_attempts_) + " attempts");
  }

 private:
  [[noreturn]] static void stand_still(const std::string& what_happened) {
#if defined(__cpp_exceptions)
    throw NoProgress{what_happened};
#else
    std::fprintf(stderr, "%s\n", NoProgress{what_happened}.what());
    std::abort();
#endif
  }

  struct Action {
    std::function<void()> what;
    Action* next_unused;
  };
  struct Scheduled {
    TimePoint time;
    std::int64_t number;  // of two at the same time, the one that was scheduled first comes first
    Action* action;
    friend bool operator>(const Scheduled& one, const Scheduled& other) noexcept {
      if (one.time == other.time) [[unlikely]]
        return one.number > other.number;
      return one.time > other.time;
    }
  };

  void schedule(TimePoint time, std::function<void()>& what) {
    Action* const place = unused_ != nullptr ? unused_ : &actions_.emplace_back();
    scheduled_.push_back({time, next_number_++, place});
    unused_ = place->next_unused;
    place->what.swap(what);
    std::push_heap(scheduled_.begin(), scheduled_.end(), std::greater{});
  }
  // Lets time pass up to each action that is due on the way, and runs it without the lock. Answers with the time that has
  // passed: less than `span` after a stop. What an action does to the clock itself is beside the span.
  Duration pass(Duration span, const StopView& stop, std::unique_lock<std::mutex>& lock) {
    auto left = span;
    while (!stop.stop_requested()) {
      const auto now = now_.load(std::memory_order_relaxed);
      const auto step = scheduled_.empty() ? (Duration::max)() : time_between(now, scheduled_.front().time);
      if (scheduled_.empty() || step > left) {
        move_on(left);
        return span;
      }
      move_on(step);
      left -= step;
      std::pop_heap(scheduled_.begin(), scheduled_.end(), std::greater{});
      Action* const place = scheduled_.back().action;
      scheduled_.pop_back();
      place->next_unused = std::exchange(unused_, place);
      const auto action = std::move(place->what);
      if (step == Duration::zero())
        attempt_started();  // an action that schedules itself for now would never end either
      lock.unlock();
      action();
      lock.lock();
    }
    return span - left;
  }
  void move_on(Duration span) {
    go_to(later(now_.load(std::memory_order_relaxed), span));
    wall_ = later(wall_, span);
  }
  void go_to(TimePoint time) {
    if (time > now_.load(std::memory_order_relaxed)) {
      attempts_before_.store(attempts_.load(std::memory_order_relaxed), std::memory_order_relaxed);
      readings_before_.store(readings_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
    now_.store(time, std::memory_order_release);
  }

  const std::int64_t most_attempts_;
  const std::int64_t most_readings_;
  std::atomic<TimePoint> now_{TimePoint{}};  // written under the lock, read without
  mutable std::atomic<std::int64_t> readings_{0};
  std::atomic<std::int64_t> readings_before_{0};  // those made before time last moved
  std::atomic<std::int64_t> attempts_{0};
  std::atomic<std::int64_t> attempts_before_{0};

  mutable std::mutex mutex_;
  WallTime wall_ = first_wall;
  std::deque<Duration> sleeps_;  // not a vector: in a long simulation, growing it costs more than all else
  // A heap of small entries, and actions that stay where they are, each in the place of one that is over.
  std::vector<Scheduled> scheduled_;
  std::deque<Action> actions_;
  Action* unused_ = nullptr;
  std::int64_t next_number_ = 0;
};
static_assert(Clock<FakeClock>);

}  // namespace ENCORE_BUILD::testing
