// Events made by hand, on a clock that stands still unless a test moves it.
#pragma once
#include <encore/clock.hpp>
#include <encore/event.hpp>

#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace tests {

struct StillClock {
  using role = encore::role::Clock;
  encore::TimePoint time{std::chrono::seconds{100}};
  // 2024-05-07T08:03:09.5Z
  encore::WallTime calendar{std::chrono::sys_days{std::chrono::year{2024} / 5 / 7} + std::chrono::hours{8} +
                            std::chrono::minutes{3} + std::chrono::seconds{9} +
                            std::chrono::milliseconds{500}};
  mutable int reads = 0;

  encore::TimePoint now() const { return ++reads, time; }
  encore::WallTime wall() const { return calendar; }
  void sleep_for(encore::Duration, const encore::StopView&) const {}
};

struct TimeoutError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An event of call-17, a lookup with at most three attempts.
inline encore::Event event_of(encore::EventKind kind, int ordinal, const StillClock& clock,
                              std::optional<encore::TimePoint>& started) {
  return {.kind = kind,
          .ordinal = ordinal,
          .call_name = "inventory_lookup",
          .id = "call-17",
          .max_retries = 2,
          .now = encore::Now{clock},
          .started = &started};
}

/// Calls `look` with the exception in flight, as observers are called.
template <class E, class Look>
auto in_handler_of(const E& error, Look look) {
  try {
    throw error;
  } catch (const std::exception& caught) {
    return look(encore::Thrown{&caught});
  } catch (...) {
    return look(encore::Thrown{nullptr});
  }
}

}  // namespace tests
