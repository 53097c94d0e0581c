// Policy options that change as they are used and can be copied, so that a policy has to be told whether it shares them.
#pragma once
#include <encore/clock.hpp>
#include <encore/option.hpp>
#include <encore/stop.hpp>

namespace encore_tests {

struct CountingObserver {
  int events = 0;
  void operator()(const encore::Event&) { ++events; }
};
struct CopyableClock {
  using role = encore::role::Clock;
  encore::Duration slept{};
  encore::TimePoint now() { return encore::TimePoint{slept}; }
  encore::WallTime wall() { return {}; }
  void sleep_for(encore::Duration wait, const encore::StopView&) { slept += wait; }
};

}  // namespace encore_tests
