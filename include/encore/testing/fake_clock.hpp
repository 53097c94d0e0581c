// A clock for tests: its time passes only when a test makes it pass, so no test ever sleeps.
#pragma once
#include <encore/clock.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/duration.hpp>
#include <encore/option.hpp>
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

/// Thrown when attempts go on while fake time does not advance, so that the test would never end. No policy retries it. Without
/// exceptions its text goes to stderr and the program aborts. (D8, L3)
class NoProgress : public Unretryable {
 public:
  explicit NoProgress(const std::string& what_happened)
      : Unretryable{"encore: fake time has not advanced for " + what_happened +
                    ", so this would never end: let the attempts take time "
                    "(clock.advance(), or takes() in a script), "
                    "give the policy a wait or a count limit, or raise max_attempts_without_progress"} {}
};

struct FakeClockOptions {
  /// The number of attempts that may start without fake time passing in between; the next one throws `NoProgress`. In loops that
  /// make no attempts, a thousand times as many readings of the clock do.
  Count<"max_attempts_without_progress", 1> max_attempts_without_progress = 10'000;
};

/// A clock whose sleeps take no time: each is recorded, and fake time advances by it. `now()` begins at `TimePoint{}`, `wall()`
/// at 2026-01-01T00:00:00Z. Give it to a policy by name: the policy refers to it. (D1)
/// Thread-safe. Threads do not wait for each other: sleeps on several threads add up.
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
      : max_attempts_{options.max_attempts_without_progress},
        max_readings_{1000 * max_attempts_} {}
  FakeClock(const FakeClock&) = delete;
  FakeClock& operator=(const FakeClock&) = delete;

  /// The fake time. Throws `NoProgress` if it is read too often without advancing.
  TimePoint now() const {
    if (readings_.fetch_add(1, std::memory_order_relaxed) -
            readings_before_.load(std::memory_order_relaxed) >=
        max_readings_)
      throw_no_progress(std::to_string(max_readings_) + " readings of the clock");
    return now_.load(std::memory_order_acquire);
  }
  /// The fake calendar time.
  WallTime wall() const {
    const std::lock_guard lock{mutex_};
    return wall_now();
  }

  /// Advances time by `duration` and records the sleep. A stop requested before, or by a scheduled action on the way, ends it at
  /// that moment, and only the time slept until then is recorded. (K1)
  void sleep_for(Duration duration, const StopView& stop = {}) {
    record_sleep(pass(shared::larger_of(duration, Duration::zero()), stop));
  }

  /// Advances time without a sleep: by the time that an attempt takes, for instance. May be called inside an attempt. A stop
  /// requested by a scheduled action on the way ends it there.
  void advance(Span<"advance"> duration, const StopView& stop = {}) { pass(duration, stop); }
  /// Sets `now()`, forwards or back: a clock that misbehaves. The calendar stays. (D7)
  void set(TimePoint time) {
    {
      const std::lock_guard lock{mutex_};
      set_date(wall_now(), time);
      set_now(time);
    }
    pass(Duration::zero(), {});
  }
  /// Sets `wall()`, as when the system's date is changed. `now()` stays. (D1)
  void set_wall(WallTime time) {
    const std::lock_guard lock{mutex_};
    set_date(time, now_.load(std::memory_order_relaxed));
  }

  /// Runs `action` once, inside the sleep, `advance` or `set` in which `now()` reaches `time`. It may use the clock and request a
  /// stop; what it throws propagates from that sleep.
  void at(TimePoint time, std::function<void()> action) {
    const std::lock_guard lock{mutex_};
    schedule(time, action);
  }
  /// The same, at `duration` from now.
  void after(Span<"after"> duration, std::function<void()> action) {
    const std::lock_guard lock{mutex_};
    schedule(later(now_.load(std::memory_order_relaxed), duration), action);
  }

  /// Records a sleep that something else made of this clock's time: an executor whose tasks sleep at the same time.
  void record_sleep(Duration slept) {
    const std::lock_guard lock{mutex_};
    sleeps_.push_back(slept);
  }

  /// Every sleep that has ended, in order, including those of zero: a policy that does not wait must not sleep. (C5)
  Durations sleeps() const {
    const std::lock_guard lock{mutex_};
    return Durations{std::vector<Duration>(sleeps_.begin(), sleeps_.end())};
  }
  Duration total_slept() const { return sleeps().total(); }
  /// The number of times that `now()` was read. (P5)
  std::int64_t readings() const noexcept { return readings_.load(std::memory_order_relaxed); }

  /// Called by the drivers before each attempt. Throws `NoProgress`. (D8)
  void attempt_started() {
    if (attempts_.fetch_add(1, std::memory_order_relaxed) -
            attempts_before_.load(std::memory_order_relaxed) >=
        max_attempts_)
      throw_no_progress(std::to_string(max_attempts_) + " attempts");
  }

 private:
  [[noreturn]] static void throw_no_progress(const std::string& what_happened) {
#if defined(__cpp_exceptions)
    throw NoProgress{what_happened};
#else
    std::fprintf(stderr, "%s\n", NoProgress{what_happened}.what());
    std::abort();
#endif
  }

  struct Action {
    std::function<void()> what;
    std::int64_t number;  // of two at the same time, the one scheduled first runs first
    Action* next_unused;
  };
  struct Scheduled {
    TimePoint time;
    Action* action;
    friend bool operator>(const Scheduled& one, const Scheduled& other) noexcept {
      return one.time > other.time || (one.time == other.time && one.action->number > other.action->number);
    }
  };

  void schedule(TimePoint time, std::function<void()>& what) {
    Action* const place = unused_ != nullptr ? unused_ : &actions_.emplace_back();
    scheduled_.push_back({time, place});
    unused_ = place->next_unused;
    place->what.swap(what);
    place->number = next_number_++;
    std::push_heap(scheduled_.begin(), scheduled_.end(), std::greater{});
  }
  // Advances to each action that is due on the way, and runs it without the lock. Returns the time that has passed: less than
  // `span` after a stop. What an action does to the clock itself does not count towards the span.
  Duration pass(Duration span, const StopView& stop) {
    auto left = span;
    while (!stop.stop_requested()) {
      std::function<void()> action;
      {
        const std::lock_guard lock{mutex_};
        const auto now = now_.load(std::memory_order_relaxed);
        const auto step = scheduled_.empty() ? (Duration::max)() : time_between(now, scheduled_.front().time);
        if (scheduled_.empty() || step > left) {
          set_now(later(now, left));
          return span;
        }
        left -= step;
        std::pop_heap(scheduled_.begin(), scheduled_.end(), std::greater{});
        const auto [time, place] = scheduled_.back();
        scheduled_.pop_back();
        place->next_unused = std::exchange(unused_, place);
        action.swap(place->what);
        if (step == Duration::zero())
          attempt_started();  // an action that schedules itself for now would never end, either
        else
          advance_to(time);
      }
      action();
    }
    return span - left;
  }
  // The date advances with the time from where both were last set.
  WallTime wall_now() const noexcept {
    return later(date_, time_between(dated_, now_.load(std::memory_order_relaxed)));
  }
  void set_date(WallTime date, TimePoint now) noexcept {
    date_ = date;
    dated_ = now;
  }
  void set_now(TimePoint time) {
    if (time > now_.load(std::memory_order_relaxed))
      advance_to(time);
    else
      now_.store(time, std::memory_order_release);
  }
  void advance_to(TimePoint time) {
    attempts_before_.store(attempts_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    readings_before_.store(readings_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    now_.store(time, std::memory_order_release);
  }

  const std::int64_t max_attempts_;
  const std::int64_t max_readings_;
  std::atomic<TimePoint> now_{TimePoint{}};  // written under the lock, read without
  mutable std::atomic<std::int64_t> readings_{0};
  std::atomic<std::int64_t> readings_before_{0};  // those made before time last advanced
  std::atomic<std::int64_t> attempts_{0};
  std::atomic<std::int64_t> attempts_before_{0};

  mutable std::mutex mutex_;
  WallTime date_ = first_wall;  // at the time `dated_`
  TimePoint dated_{};
  std::deque<Duration>
      sleeps_;  // not a vector: growing one costs more than everything else in a long simulation
  // A heap of small entries. The actions themselves stay where they are; a finished one leaves its place to the next.
  std::vector<Scheduled> scheduled_;
  std::deque<Action> actions_;
  Action* unused_ = nullptr;
  std::int64_t next_number_ = 0;
};
static_assert(Clock<FakeClock>);

}  // namespace ENCORE_BUILD::testing
