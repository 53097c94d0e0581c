// What is called: functions in a unit of their own, which the optimiser cannot look into, as it cannot into a request.
#pragma once
#include <encore/clock.hpp>
#include <encore/option.hpp>

#include <stdexcept>
#include <string>

namespace benchmarks {

struct TransientError : std::runtime_error {
  using runtime_error::runtime_error;
};
struct TimeoutError : TransientError {
  using TransientError::TransientError;
};
struct ConnectionError : std::runtime_error {
  using runtime_error::runtime_error;
};
struct QuotaError : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Answers, unless it is asked for less than nothing.
int answer(int question);
const int& reference(int question);
void perform(int question);
std::string text(int question);

/// 3, but that is known at run time only, as a setting from a configuration is.
extern const int max_retries;

/// Throws a `TimeoutError` the first three times, then answers, then begins anew.
int answer_after_three_failures();
int always_too_slow();
/// Negative three times, then not, then begins anew.
int value_after_three_failures();

/// Where nobody sleeps in a benchmark.
void pass_time(encore::Duration wait);

/// The real clock, but for its sleep.
struct UnhurriedClock {
  using role = encore::role::Clock;
  static encore::TimePoint now() noexcept { return encore::SteadyClock::now(); }
  static encore::WallTime wall() noexcept { return encore::SteadyClock::wall(); }
  static void sleep_for(encore::Duration wait, const encore::StopView&) { pass_time(wait); }
};
static_assert(encore::Clock<UnhurriedClock>);

}  // namespace benchmarks
