// The curves of "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015), at a size that takes little time. All of them,
// with all numbers of clients: tests/benchmarks/run.sh simulation.
#include "contention.hpp"

#include "reference.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <algorithm>
#include <array>

namespace {

using Catch::Matchers::WithinRel;
using simulation::contend;

constexpr std::array<int, 5> few_numbers{1, 2, 5, 20, 100};

}  // namespace

TEST_CASE(
    "clients that contend need as many calls and as much time as in the AWS simulation, with each strategy",
    "[contention]") {
  int compared = 0;
  for (const auto& row : encore_tests::rows_of("aws_backoff.csv")) {
    if (std::ranges::find(few_numbers, row.whole("clients")) == few_numbers.end()) continue;
    INFO(row.where());
    const auto [calls, time] = simulation::compare(row, 10, 17);
    INFO("calls " << calls.simulated << ", time " << time.simulated << " ms");
    CHECK(calls.agrees(4.0));
    CHECK(time.agrees(4.0));
    ++compared;
  }
  CHECK(compared == 5 * few_numbers.size());
}

TEST_CASE("a single client never contends, and two clients do once", "[contention]") {
  for (const auto strategy : simulation::strategies) {
    INFO(strategy);
    CHECK(contend(strategy, 1, 5, 1).writes.mean() == 1.0);
    // Both have read before either writes, as the hops are far from 20 ms apart: one is stale, and then alone.
    CHECK(contend(strategy, 2, 5, 1).writes.mean() == 3.0);
  }
}

TEST_CASE("the library's decorrelated jitter takes less time than AWS's form, which piles draws on the cap",
          "[contention]") {
  // About 8 % at 100 clients.
  const auto piled = contend("decorr", 100, 100, 17).milliseconds;
  const auto spread = contend("decorrelated", 100, 100, 17).milliseconds;
  CHECK_THAT(spread.mean() / piled.mean(), WithinRel(0.92, 0.05));
}

TEST_CASE("the same seed gives the same trial, and another seed another one", "[contention]") {
  const encore::ExponentialBackoff backoff{};
  const auto first = contend(backoff, encore::FullJitter{}, 20, 1);
  const auto again = contend(backoff, encore::FullJitter{}, 20, 1);
  const auto other = contend(backoff, encore::FullJitter{}, 20, 2);
  CHECK(first.time == again.time);
  CHECK(first.writes == again.writes);
  CHECK(first.time != other.time);
}
