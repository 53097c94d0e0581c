// One delay with jitter, in the running form: gate P9.
#include "measure.hpp"
#include <encore/encore.hpp>
#include <encore/jitter_shapes.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>

using namespace std::chrono_literals;
using namespace benchmarks;

// One call's waits, as the retry decision keeps them.
template <class Backoff, class Jitter>
struct Generator {
  const Backoff& backoff;
  const Jitter& jitter;
  encore::WaitGenerator<Backoff, Jitter> waits;
  encore::shared::Random random{17};

  encore::Duration next() {
    auto draw = 0.0;
    if constexpr (encore::draws<Jitter>) draw = random.draw();
    return waits.next(backoff, jitter, draw);
  }
};

static std::size_t greatest_state = 0;

template <class Backoff, class Jitter>
static void measure_delay(const char* gate, const std::string& name, const Backoff& backoff,
                          const Jitter& jitter) {
  using Waits = encore::WaitGenerator<Backoff, Jitter>;
  greatest_state = std::max(greatest_state, sizeof(Waits) + sizeof(encore::shared::Random));
  Generator<Backoff, Jitter> from_the_start{backoff, jitter, Waits{backoff}};
  measure(gate, name, "encore", [&](int) { return from_the_start.next().count(); });
  Generator<Backoff, Jitter> late{backoff, jitter, Waits{backoff, 1'000'000}};
  measure(gate, name + " from retry 1000000", "encore", [&](int) { return late.next().count(); });
}

int main() {
  const auto exponential = encore::ExponentialBackoff{.initial_delay = 1ms, .factor = 1.01, .max_delay = 1h};
  measure("figure", "empty loop", "hand", [](int i) { return std::int64_t{i}; });
  measure_delay("P9", "exponential + none", exponential, encore::NoJitter{});
  measure_delay("P9", "exponential + full", exponential, encore::FullJitter{});
  measure_delay("P9", "exponential + equal", exponential, encore::EqualJitter{});
  measure_delay("P9", "exponential + proportional", exponential, encore::ProportionalJitter{});
  measure_delay("P9", "exponential + decorrelated", exponential, encore::DecorrelatedJitter{});
  measure_delay("P9", "constant + proportional", encore::ConstantBackoff{1s}, encore::ProportionalJitter{});
  measure_delay("figure", "linear + proportional", encore::LinearBackoff{.step = 1ms},
                encore::ProportionalJitter{});
  measure_delay("figure", "Fibonacci + proportional", encore::FibonacciBackoff{1us},
                encore::ProportionalJitter{});
  measure_delay("figure", "listed + proportional", encore::ListedBackoff{1s, 2s, 3s},
                encore::ProportionalJitter{});
  measure_delay("figure", "chained + proportional",
                encore::ChainedBackoff{3, encore::ConstantBackoff{1s}, exponential},
                encore::ProportionalJitter{});
  using encore::BackoffShape;
  using encore::JitterShape;
  const auto measure_settings = [&](const char* name, BackoffShape backoff, JitterShape jitter) {
    const encore::RetrySettings settings{.backoff = backoff, .delays = exponential, .jitter = jitter};
    measure_delay("figure", std::string{"settings: "} + name, settings.part<encore::role::Backoff>(),
                  settings.part<encore::role::Jitter>());
  };
  measure_settings("exponential + none", BackoffShape::exponential, JitterShape::none);
  measure_settings("exponential + full", BackoffShape::exponential, JitterShape::full);
  measure_settings("exponential + equal", BackoffShape::exponential, JitterShape::equal);
  measure_settings("exponential + proportional", BackoffShape::exponential, JitterShape::proportional);
  measure_settings("exponential + decorrelated", BackoffShape::exponential, JitterShape::decorrelated);
  measure_settings("constant + proportional", BackoffShape::constant, JitterShape::proportional);
  measure_settings("linear + proportional", BackoffShape::linear, JitterShape::proportional);
  measure_settings("Fibonacci + proportional", BackoffShape::fibonacci, JitterShape::proportional);
  std::printf("state,the greatest of these,%zu\n", greatest_state);
}
