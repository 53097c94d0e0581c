#include <encore/guard/allowance.hpp>

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using encore::Allowance;

namespace {

constexpr encore::TimePoint at(encore::Duration since_the_begin) {
  return encore::TimePoint{since_the_begin};
}

int taken_at(Allowance& allowance, encore::TimePoint time) {
  int taken = 0;
  while (taken < 1000 && allowance.take(time)) ++taken;
  return taken;
}

TEST_CASE("so many at once, then one each period / count", "[allowance]") {
  Allowance allowance{10, 1s};
  CHECK(taken_at(allowance, at(0s)) == 10);
  CHECK(!allowance.take(at(100ms) - 1ns));
  CHECK(allowance.take(at(100ms)));
  CHECK(!allowance.take(at(199ms)));
  CHECK(taken_at(allowance, at(500ms)) == 4);
  CHECK(taken_at(allowance, at(24h)) == 10);  // never more than the count
}

TEST_CASE("over a long time, count in each period and the count once", "[allowance]") {
  Allowance allowance{3, 10s};
  int taken = 0;
  for (auto time = at(0s); time <= at(1000s); time += 1s) taken += allowance.take(time);
  CHECK(taken == 3 + 3 * 100);
}

TEST_CASE("what was not used can be given back", "[allowance]") {
  Allowance allowance{2, 1s};
  CHECK(taken_at(allowance, at(0s)) == 2);
  allowance.give_back();
  CHECK(taken_at(allowance, at(0s)) == 1);
  allowance.give_back();
  allowance.give_back();
  CHECK(taken_at(allowance, at(0s)) == 2);
}

TEST_CASE("none is none, and no period is no limit", "[allowance]") {
  Allowance none{0, 1s};
  CHECK(none.allows_nothing());
  CHECK(!none.take(at(24h)));
  Allowance all{1, 0s};
  CHECK(!all.allows_nothing());
  CHECK(taken_at(all, at(0s)) == 1000);
}

TEST_CASE("a clock that is set back makes nobody wait longer than the period [D7]", "[allowance]") {
  Allowance allowance{2, 10s};
  CHECK(taken_at(allowance, at(0s)) == 2);
  CHECK(!allowance.take(at(-1h)));
  CHECK(!allowance.take(at(-1h + 5s) - 1ns));
  CHECK(allowance.take(at(-1h + 5s)));
  CHECK(!allowance.take(at(-2h)));
  CHECK(taken_at(allowance, at(-2h + 10s)) == 2);
}

TEST_CASE("the longest period does not overflow [C7]", "[allowance]") {
  Allowance allowance{2'147'483'647, encore::Duration::max()};
  CHECK(allowance.take(encore::TimePoint::min()));
  CHECK(allowance.take(encore::TimePoint::max()));
  CHECK(!allowance.take(encore::TimePoint::min()));
  CHECK(allowance.take(encore::TimePoint::min() + encore::longest_wait));
}

TEST_CASE("threads take no more than there is [H8]", "[allowance][threads]") {
  Allowance allowance{100, 1h};
  std::atomic<int> taken{0};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) {
          if (!allowance.take(at(0s))) continue;
          if (i % 3 == 0)
            allowance.give_back();
          else
            ++taken;
        }
      });
    }
  }
  CHECK(taken.load() == 100);
}

}  // namespace
