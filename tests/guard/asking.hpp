// Asking a guard by hand, on fake time.
#pragma once
#include <encore/clock.hpp>
#include <encore/duration.hpp>
#include <encore/guard/guard.hpp>
#include <encore/testing/fake_clock.hpp>

#include <string_view>

namespace guard_test {

/// A fake clock, and what a policy on that clock would ask.
struct Asking {
  encore::testing::FakeClock clock{};
  encore::Now now{clock};

  encore::AdmissionRequest first(std::string_view name = {}) const { return {.call_name = name, .now = now}; }
  encore::AdmissionRequest retry(encore::Duration ahead = {}) const {
    return {.ordinal = 2, .ahead = ahead, .now = now};
  }
};

/// Makes one attempt with a guard: false if it was refused.
template <class Guard>
bool attempt_fails(Guard& guard, const Asking& asking, bool retryable = true) {
  auto permit = guard.admit(asking.first());
  if (!permit) return false;
  permit->began(asking.now);
  permit->failed(asking.now, retryable);
  return true;
}
template <class Guard>
bool attempt_succeeds(Guard& guard, const Asking& asking) {
  auto permit = guard.admit(asking.first());
  if (!permit) return false;
  permit->began(asking.now);
  permit->succeeded(asking.now);
  return true;
}

}  // namespace guard_test
