#include <encore/encore.hpp>
#include <encore/telemetry/format.hpp>

#include <fmt/core.h>

#include <stdexcept>

using namespace std::chrono_literals;

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};

// Stands for a request to a server: too slow twice, then answered.
int look_up() {
  static int requests = 0;
  if (++requests < 3) throw TimeoutError{"no answer"};
  return 17;
}

const encore::RetryPolicy lookup_policy{
    encore::RetryOn<TimeoutError>{},  // which failures deserve another attempt; only this has no default
    encore::MaxRetries{2},            // after the first attempt, so three attempts at most
    encore::ExponentialBackoff{.initial_delay = 20ms, .factor = 2.0, .max_delay = 2s},
    encore::TimeBudget{5s},  // no attempt begins after that
    encore::Observe{[](const encore::Event& event) { fmt::print("{}\n", event); }},
};

int main() {
  const int units = lookup_policy.run({.id = "call-17", .name = "inventory_lookup"}, look_up);
  fmt::print("{} units\n", units);
}
