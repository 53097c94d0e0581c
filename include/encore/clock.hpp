// The clock of a policy: the source of its sleeps, deadlines and timestamps.
#pragma once
#include <encore/detail/address_of.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>
#include <encore/option.hpp>
#include <encore/stop.hpp>

#include <chrono>
#include <concepts>
#if __has_include(<unistd.h>)
#include <cerrno>
#include <ctime>
#else
#include <thread>
#endif

namespace encore {

/// Gives the time and waits. Only differences of `now()` are meaningful; `wall()` is calendar time; `sleep_for` returns when the
/// duration has passed, or at once when a stop is requested. All three must be thread-safe. (D1, K1)
template <class C>
concept Clock =
    shared::HasRole<C, role::Clock> && requires(C& clock, Duration duration, const StopView& stop) {
      { clock.now() } -> std::same_as<TimePoint>;
      { clock.wall() } -> std::same_as<WallTime>;
      clock.sleep_for(duration, stop);
    };

/// The real clock: `std::chrono::steady_clock`, and a wait that a stop request ends at once. Stateless.
class SteadyClock {
 public:
  using role = encore::role::Clock;
  static TimePoint now() noexcept {
    return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now());
  }
  static WallTime wall() noexcept {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  }

  /// `duration` is at most `max_wait`: longer ones would overflow inside the standard library. (C7)
  ENCORE_COLD static void sleep_for(Duration duration, const StopView& stop) {
    if (stop.watches())
      stop.operations_->wait_for(duration, stop);
    else
      sleep_through(duration);
  }

 private:
#if __has_include(<unistd.h>)
  // As `std::this_thread::sleep_for`, without including `<thread>`.
  static void sleep_through(Duration duration) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
    timespec left{static_cast<std::time_t>(seconds.count()), static_cast<long>((duration - seconds).count())};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {}
  }
#else
  static void sleep_through(Duration duration) { std::this_thread::sleep_for(duration); }
#endif
};
static_assert(Clock<SteadyClock>);

/// Reads a clock only when called, so that unused timestamps cost nothing. A view: the clock must outlive it. (F2, P5)
class Now {
 public:
  template <Clock C>
  constexpr explicit Now(C& clock) noexcept : clock_{shared::address_of(clock)},
                                              reads_{&reads_of<C>} {}

  TimePoint operator()() const { return reads_->now(clock_); }
  WallTime wall() const { return reads_->wall(clock_); }

 private:
  struct Reads {
    TimePoint (*now)(const void*);
    WallTime (*wall)(const void*);
  };
  template <class C>
  static constexpr Reads reads_of{
      [](const void* clock) { return static_cast<C*>(const_cast<void*>(clock))->now(); },
      [](const void* clock) { return static_cast<C*>(const_cast<void*>(clock))->wall(); }};

  const void* clock_;
  const Reads* reads_;
};

}  // namespace encore
