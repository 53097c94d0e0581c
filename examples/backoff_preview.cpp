// A policy's waits, known before anything runs: printed for people, and held to a bound by the compiler.
#include <encore/encore.hpp>

#include <fmt/core.h>

#include <chrono>
#include <stdexcept>

using namespace std::chrono_literals;

// Two retries, 250 ms and 500 ms before them, each a quarter shorter or longer by chance.
constexpr encore::Schedule lookup_waits{
    encore::ExponentialBackoff{.initial_delay = 250ms, .factor = 2.0, .max_delay = 2s},
    encore::ProportionalJitter{0.25}, 2};
static_assert(lookup_waits[0].median == 250ms && lookup_waits[1].median == 500ms);
static_assert(lookup_waits.total().max < 1s, "a lookup may spend a second on waiting, and no more");

void print(const encore::WaitRange& wait) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  fmt::print("{:>10.1f}{:>10.1f}{:>10.1f}\n", Milliseconds{wait.min}.count(),
             Milliseconds{wait.median}.count(), Milliseconds{wait.max}.count());
}

template <class Backoff, class Jitter>
void show(const char* name, const encore::Schedule<Backoff, Jitter>& waits) {
  fmt::print("{}\n{:<10}{:>10}{:>10}{:>10}\n", name, "  ms", "min", "median", "max");
  int retry = 0;
  for (const encore::WaitRange& wait : waits) {
    fmt::print("  retry {:<2}", ++retry);
    print(wait);
  }
  fmt::print("  in all  ");
  print(waits.total());
}

int main() {
  using namespace encore;
  show("exponential, 25 % proportional jitter", lookup_waits);
  show("exponential, full jitter", Schedule{ExponentialBackoff{.initial_delay = 250ms}, FullJitter{}, 4});
  show("Fibonacci, no jitter", Schedule{FibonacciBackoff{.initial_delay = 100ms}, NoJitter{}, 6});
  show("two quick ones, then patience",
       Schedule{ChainedBackoff{2, ConstantBackoff{10ms}, LinearBackoff{.initial_delay = 1s, .step = 2s}},
                EqualJitter{}, 4});

  // A policy tells its own schedule; this one has all the defaults.
  show("the defaults", RetryPolicy{RetryOn<std::runtime_error>{}}.schedule());
}
