// How many requests retries make of one call: published figures, worked out elsewhere, met by the library's own parts.
#include "sample.hpp"
#include "store.hpp"
#include <encore/detail/random.hpp>
#include <encore/encore.hpp>
#include <encore/guard/retry_budget.hpp>
#include <encore/guard/retry_quota.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>

namespace {

using namespace std::chrono_literals;
using namespace encore;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using encore::testing::FakeClock;
using simulation::Answer;
using simulation::Sample;
using simulation::TimedOut;

const RetryIfResult retry_timeouts{TimedOut{}};
const ExponentialBackoff backoff{.initial_delay = 100ms};

/// A backend in a total outage, and how many requests come to it.
struct Outage {
  int requests = 0;
  Answer operator()() noexcept {
    ++requests;
    return Answer::timed_out;
  }
};

/// So many calls, one after another, all refused.
template <class Policy>
int requests_of(int calls, const Policy& policy) {
  Outage outage;
  for (int call = 0; call < calls; ++call) static_cast<void>(policy.run({}, outage));
  return outage.requests;
}

/// A service of `depth` layers, each of which calls the next under the policy. The lowest is the backend.
template <class Policy>
Answer call_through(int depth, const Policy& policy, Outage& backend) {
  if (depth == 0) return backend();
  return policy.run({}, [&] { return call_through(depth - 1, policy, backend); });
}
template <class Policy>
int requests_through(int depth, const Policy& policy) {
  Outage backend;
  static_cast<void>(call_through(depth, policy, backend));
  return backend.requests;
}

/// Requests per call in the second minute of a total outage, at so many calls per second.
template <class Policy>
double growth(const Policy& policy, double calls_per_second) {
  const auto seconds =
      simulation::load(policy, {.outage_begins = 0s, .outage_lasts = 1h},
                       {.calls_per_second = calls_per_second, .timeout = 10ms, .lasts = 120s});
  const auto [calls, requests, answered] = simulation::rates(seconds, 60, 60);
  REQUIRE(answered == 0.0);
  return requests / calls;
}

}  // namespace

TEST_CASE("a call whose attempts fail with probability p makes (1 - p^A) / (1 - p) of A attempts",
          "[amplification]") {
  // The sum of p^k for k below A: the k-th retry is made if the k attempts before it have failed.
  for (const double p : {0.1, 0.5, 0.9}) {
    for (const int most : {1, 2, 3, 5}) {
      INFO("p = " << p << ", A = " << most);
      FakeClock clock;
      const RetryPolicy policy{retry_timeouts, MaxAttempts{most}, backoff, clock};
      shared::Random random{17};
      Sample attempts;
      for (int call = 0; call < 4'000; ++call) {
        int made = 0;
        static_cast<void>(policy.run({}, [&] {
          ++made;
          return random.draw() < p ? Answer::timed_out : Answer::in_time;
        }));
        attempts.add(made);
      }
      const double expected = (1 - std::pow(p, most)) / (1 - p);
      CHECK_THAT(attempts.mean(), WithinAbs(expected, 4 * attempts.standard_error() + 1e-9));
    }
  }
}

TEST_CASE("in an outage three attempts triple the load, and a budget of a tenth leaves it at 1.1 times",
          "[amplification]") {
  // Site Reliability Engineering, ch. 21: "a maximum of three attempts" is 3x the requests, a per-client ratio of 10 % 1.1x.
  FakeClock clock;
  const RetryPolicy policy{retry_timeouts, MaxAttempts{3}, backoff, clock};
  CHECK(requests_of(1'000, policy) == 3'000);
  RetryBudget budget{{.share = 0.1, .floor = 0}};
  CHECK(requests_of(1'000, policy.with(budget)) == 1'100);
}

TEST_CASE("layers that each retry multiply: 4 attempts in 3 layers are 64, 3 in 5 are 243",
          "[amplification]") {
  // Site Reliability Engineering, ch. 22: "4^3 = 64 attempts"; AWS Builders' Library, Timeouts, retries, and backoff with
  // jitter: five layers that try three times each, "243x".
  FakeClock clock;
  const RetryPolicy four{retry_timeouts, MaxAttempts{4}, backoff, clock};
  const RetryPolicy three{retry_timeouts, MaxAttempts{3}, backoff, clock};
  CHECK(requests_through(3, four) == 64);
  CHECK(requests_through(5, three) == 243);

  // One layer retries if the others notice that they are inside it. (J1)
  const WhenNested single{Nested::make_single};
  CHECK(requests_through(3, four.with(single)) == 4);
  CHECK(requests_through(5, three.with(single)) == 3);
}

TEST_CASE("token buckets allow a fixed number of retries in a total outage, and no more", "[amplification]") {
  FakeClock clock;
  const RetryPolicy policy{retry_timeouts, MaxAttempts{5}, backoff, clock};

  // gRPC proposal A6: max_tokens 10 and token_ratio 0.1; a failure takes one, no retries at 5 or less: after 4 failures.
  RetryQuota like_grpc{GrpcRetryThrottling{.max_tokens = 10, .token_ratio = 0.1}};
  CHECK(requests_of(1'000, policy.with(like_grpc)) == 1'004);

  // The AWS SDKs' standard mode: a retry takes 14 of 500 tokens, until 2026 it took 5.
  RetryQuota like_aws{AwsRetryQuota{}};
  CHECK(requests_of(1'000, policy.with(like_aws)) == 1'035);
  RetryQuota until_2026{AwsRetryQuota{.retry_cost = 5}};
  CHECK(requests_of(1'000, policy.with(until_2026)) == 1'100);
}

TEST_CASE("token buckets allow as many retries when thousands of calls are under way", "[amplification]") {
  const simulation::StoreOptions outage{.outage_begins = 0s, .outage_lasts = 1h};
  const simulation::Traffic traffic{.calls_per_second = 1'000, .timeout = 2s, .lasts = 60s};
  const RetryPolicy at_once{retry_timeouts, MaxAttempts{5}, ConstantBackoff{0s}, Seed{17}};
  const auto retries = [&](const auto& policy) {
    int sum = 0;
    for (const auto& second : simulation::load(policy, outage, traffic))
      sum += second.requests - second.calls;
    return sum;
  };
  RetryQuota like_grpc{GrpcRetryThrottling{.max_tokens = 10, .token_ratio = 0.1}};
  CHECK(retries(at_once.with(like_grpc)) == 4);
  RetryQuota like_aws{AwsRetryQuota{}};
  CHECK(retries(at_once.with(like_aws)) == 35);

  // Waits change nothing where a retry has paid. Where it has not, it is asked again on waking: others have failed since. (H2)
  RetryQuota like_aws_with_waits{AwsRetryQuota{}};
  CHECK(retries(at_once.with(backoff, like_aws_with_waits)) == 35);
  RetryQuota like_grpc_with_waits{GrpcRetryThrottling{.max_tokens = 10, .token_ratio = 0.1}};
  CHECK(retries(at_once.with(backoff, like_grpc_with_waits)) == 0);
}

TEST_CASE("Finagle's default budget lets the load of an outage grow by 1.2 + 10 / calls per second",
          "[amplification]") {
  // Finagle, RetryBudget: 20 % of the requests of ten seconds, and ten retries per second.
  for (const double calls_per_second : {5.0, 20.0, 100.0, 400.0}) {
    INFO(calls_per_second << " calls/s");
    RetryBudget budget{{.share = 0.2, .floor = 0, .floor_per_second = 10}};
    const RetryPolicy policy{retry_timeouts, UnlimitedRetries{}, backoff, TimeBudget{10s}, Seed{17}, budget};
    CHECK_THAT(growth(policy, calls_per_second), WithinRel(1.2 + 10 / calls_per_second, 0.01));
  }
}
