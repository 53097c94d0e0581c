// A clock for these programs: the shipped one throws, and needs more of the library than they are about.
#pragma once
#include <encore/clock.hpp>

#include <vector>

struct HandClock {
  using role = encore::role::Clock;
  encore::TimePoint time{};
  std::vector<encore::Duration> slept{};

  HandClock() = default;
  HandClock(const HandClock&) = delete;
  HandClock& operator=(const HandClock&) = delete;
  encore::TimePoint now() const noexcept { return time; }
  encore::WallTime wall() const noexcept { return encore::WallTime{time.time_since_epoch()}; }
  void sleep_for(encore::Duration duration, const encore::StopView&) {
    slept.push_back(duration);
    time += duration;
  }
};
