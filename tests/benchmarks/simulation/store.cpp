// An overload that outlasts its cause, and what ends it: Bronson et al., Metastable Failures in Distributed Systems, HotOS 2021.
#include "store.hpp"

#include <encore/encore.hpp>
#include <encore/guard/circuit_breaker.hpp>
#include <encore/guard/retry_budget.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <chrono>

namespace {

using namespace std::chrono_literals;
using namespace encore;
using Catch::Matchers::WithinAbs;
using simulation::rates;
using simulation::StoreOptions;
using simulation::TimedOut;
using simulation::Traffic;

// A store good for 300 requests per second, an outage from second 10 to second 20, callers that give up after 1 s.
const StoreOptions store{.requests_per_second = 300, .outage_begins = 10s, .outage_lasts = 10s};

/// One retry, at once.
const RetryPolicy one_retry{RetryIfResult{TimedOut{}}, MaxRetries{1}, ConstantBackoff{0s}, NoJitter{}};

/// The queue that an outage leaves shrinks if less comes in than goes out: does it, in the 30 s that begin 5 s after it?
template <class MakePolicy>
bool recovers(double calls_per_second, const MakePolicy& with_policy) {
  return with_policy([&](const auto& policy) {
    const auto seconds =
        simulation::load(policy, store, {.calls_per_second = calls_per_second, .lasts = 55s});
    return rates(seconds, 25, 30).requests < store.requests_per_second;
  });
}

/// The greatest rate of calls from which the store recovers, to half a call per second.
template <class MakePolicy>
double line(const MakePolicy& with_policy) {
  double recovering = 50, stuck = 400;
  REQUIRE(recovers(recovering, with_policy));
  REQUIRE_FALSE(recovers(stuck, with_policy));
  while (stuck - recovering > 0.5) {
    const double middle = (recovering + stuck) / 2;
    (recovers(middle, with_policy) ? recovering : stuck) = middle;
  }
  return recovering;
}

}  // namespace

TEST_CASE(
    "a store at 280 calls a second stays stuck at 560 requests after its outage, and answers none in time",
    "[metastability]") {
  const auto seconds = simulation::load(one_retry, store, Traffic{.calls_per_second = 280, .lasts = 600s});
  const auto before = rates(seconds, 0, 10);
  CHECK_THAT(before.requests, WithinAbs(280, 1));
  CHECK_THAT(before.answered_in_time, WithinAbs(280, 3));
  const auto after = rates(seconds, 25, 570);  // ten minutes on, the outage being long over
  CHECK_THAT(after.requests, WithinAbs(560, 1));
  CHECK(after.answered_in_time == 0.0);
}

TEST_CASE("without retries the same store recovers", "[metastability]") {
  // It works off the 2,800 requests of its outage with the 20 a second that it can do more: in 140 s.
  const auto seconds =
      simulation::load(one_retry.with(MaxRetries{0}), store, Traffic{.calls_per_second = 280, .lasts = 200s});
  CHECK(rates(seconds, 25, 100).answered_in_time == 0.0);
  CHECK_THAT(rates(seconds, 170, 30).answered_in_time, WithinAbs(280, 1));
}

TEST_CASE("backoff and jitter alone do not free the store: they move the retries, and do not reduce them",
          "[metastability]") {
  const auto patient = one_retry.with(ExponentialBackoff{.initial_delay = 4s}, FullJitter{}, Seed{17});
  const auto seconds = simulation::load(patient, store, Traffic{.calls_per_second = 280, .lasts = 120s});
  const auto after = rates(seconds, 30, 90);
  CHECK_THAT(after.requests, WithinAbs(560, 3));
  CHECK(after.answered_in_time == 0.0);
}

TEST_CASE("an outage persists beyond capacity / attempts: 150 calls a second", "[metastability]") {
  CHECK_THAT(line([](const auto& simulate) { return simulate(one_retry); }), WithinAbs(300.0 / 2, 1));
  CHECK_THAT(line([](const auto& simulate) { return simulate(one_retry.with(MaxRetries{2})); }),
             WithinAbs(300.0 / 3, 1));
}

TEST_CASE("below that load the store recovers in the time that its queue takes", "[metastability]") {
  // 120 calls a second are 240 requests while all are late: a queue of 2,280 shrinks by 60 a second, until second 58. The last
  // 300 of it are answered within the timeout.
  const auto seconds = simulation::load(one_retry, store, Traffic{.calls_per_second = 120, .lasts = 120s});
  CHECK(rates(seconds, 25, 25).answered_in_time == 0.0);
  CHECK_THAT(rates(seconds, 60, 50).answered_in_time, WithinAbs(120, 1));
}

TEST_CASE("a retry budget of a tenth moves that load to 272.7 calls a second", "[metastability]") {
  // Capacity / 1.1: in the worst case each call makes 1.1 requests.
  const auto with_budget = [](const auto& simulate) {
    RetryBudget budget{{.share = 0.1, .floor = 0}};
    return simulate(one_retry.with(budget));
  };
  CHECK_THAT(line(with_budget), WithinAbs(300 / 1.1, 1));
}

TEST_CASE("a breaker gives the store the time to work off its queue, at 280 calls a second too",
          "[metastability]") {
  CircuitBreaker breaker{{.failures_to_open = 5, .open_for = 5s}};
  const auto seconds =
      simulation::load(one_retry.with(breaker), store, Traffic{.calls_per_second = 280, .lasts = 90s});
  CHECK(rates(seconds, 11, 9).requests < 5);  // while the outage lasts, little but probes
  CHECK_THAT(rates(seconds, 60, 30).answered_in_time, WithinAbs(280, 1));
}
