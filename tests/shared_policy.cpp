// One policy, used by many threads at once. Built with ThreadSanitizer in CI.
#include <encore/any_retry_policy.hpp>
#include <encore/limits.hpp>
#include <encore/nesting.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::RetryOn, encore::RetryPolicy;

namespace {

struct TimeoutError : std::runtime_error {
  TimeoutError() : std::runtime_error{"slow"} {}
};

constexpr int threads = 4, calls = 200;

template <class F>
void on_all_threads(F&& function) {
  std::vector<std::jthread> running;
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([&function, thread] { function(thread); });
}

// Makes calls on all threads, each of which fails twice, and checks that each had its own three attempts.
template <class Policy>
void run_everywhere(const Policy& policy) {
  std::atomic<int> wrong{0};
  on_all_threads([&](int) {
    for (int call = 0; call < calls; ++call) {
      int attempts = 0;
      const auto result = policy.run([&](const encore::Attempt& attempt) {
        if (attempt.ordinal != ++attempts) ++wrong;
        if (attempts < 3) throw TimeoutError{};
        return attempts;
      });
      if (result != 3) ++wrong;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE(
    "a policy shared by threads keeps no state of their calls (fault 15: pinot #2711; fault 32: otel-cpp "
    "#4398) [L1]",
    "[shared_policy][threads]") {
  FakeClock clock;
  Recorder trace;
  const RetryPolicy policy{clock, RetryOn<TimeoutError>{}};
  run_everywhere(policy);
  run_everywhere(policy.with(trace));
  CHECK(trace.events().size() == std::size_t{threads} * calls * 7);
  CHECK(trace.events().call_ids().size() == std::size_t{threads} * calls);
  run_everywhere(policy.with(encore::TimeBudget{1000h}));
  run_everywhere(policy.with(encore::WhenNested{}));
  run_everywhere(policy.with(encore::Seed{17}));
  run_everywhere(policy.with(
      encore::RetryIf{[](const encore::Thrown& failure) { return !failure.attempt().call_id().empty(); }}));
  run_everywhere(encore::AnyRetryPolicy<int>{policy});
}

TEST_CASE(
    "threads and calls draw different random streams without a seed, and the same ones with it [C8, L1]",
    "[shared_policy][threads]") {
  FakeClock clock;
  const RetryPolicy policy{clock, RetryOn<TimeoutError>{}, encore::MaxRetries{1}};
  const auto first_waits = [&](const auto& under_test) {
    Recorder trace;
    const auto observed = under_test.with(trace);
    on_all_threads([&](int thread) {
      for (int call = 0; call < calls; ++call) {
        const auto id = std::to_string(thread) + '/' + std::to_string(call);
        auto fails = true;
        observed.run({.id = id}, [&] {
          if (std::exchange(fails, false)) throw TimeoutError{};
        });
      }
    });
    std::multiset<encore::Duration> waits;
    for (const auto& event : trace.events())
      if (event.will_retry) waits.insert(event.wait);
    return waits;
  };
  const auto unseeded = first_waits(policy);
  CHECK(std::set<encore::Duration>(unseeded.begin(), unseeded.end()).size() == std::size_t{threads} * calls);
  CHECK(unseeded != first_waits(policy));
  const auto seeded = first_waits(policy.with(encore::Seed{17}));
  CHECK(seeded == first_waits(policy.with(encore::Seed{17})));
  CHECK(seeded != first_waits(policy.with(encore::Seed{18})));
}

TEST_CASE("policies constructed at the same time draw different waits (Polly #530) [C8]", "[shared_policy]") {
  FakeClock clock;
  std::set<encore::Duration> waits;
  for (int policy = 0; policy < 100; ++policy) {
    auto fails = true;
    RetryPolicy{clock, RetryOn<TimeoutError>{}}.run([&] {
      if (std::exchange(fails, false)) throw TimeoutError{};
    });
    waits.insert(clock.sleeps().back());
  }
  CHECK(waits.size() == 100);
}

}  // namespace
