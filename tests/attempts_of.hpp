// How often a policy with a predicate asks a tool that always ends the same way.
#pragma once
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>

#include <stdexcept>

namespace told {

struct TransportError : std::runtime_error {
  TransportError() : std::runtime_error{"transport"} {}
};
struct TimeoutError : TransportError {};

// How many attempts a tool makes that fails for ever.
template <class Predicate, class F>
int attempts_of(const Predicate& predicate, F fail) {
  encore::testing::FakeClock clock;
  int attempts = 0;
  try {
    static_cast<void>(encore::RetryPolicy{clock, predicate}.run([&] {
      ++attempts;
      return fail();
    }));
  } catch (...) {}
  return attempts;
}
template <class E>
auto raise(E error) {
  return [error]() -> int { throw error; };
}

}  // namespace told
