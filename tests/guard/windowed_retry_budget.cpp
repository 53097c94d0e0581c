#include "asking.hpp"
#include <encore/duration.hpp>
#include <encore/guard/windowed_retry_budget.hpp>
#include <encore/limits.hpp>
#include <encore/predicate.hpp>
#include <encore/retry_policy.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using encore::WindowedRetryBudget;
using guard_test::Asking;

namespace {

static_assert(encore::Guard<WindowedRetryBudget>);
static_assert(!std::is_copy_constructible_v<WindowedRetryBudget::Permit>, "a permit is given back once");

struct Down : std::runtime_error {
  Down() : std::runtime_error{"down"} {}
};

void deposit(WindowedRetryBudget& budget, const Asking& asking) { guard_test::attempt_fails(budget, asking); }
bool retry(WindowedRetryBudget& budget, const Asking& asking) {
  auto permit = budget.admit(asking.retry());
  if (permit) permit->began(asking.now);
  return permit.has_value();
}
int retries_until_refused(WindowedRetryBudget& budget, const Asking& asking) {
  int retries = 0;
  while (retry(budget, asking)) ++retries;
  return retries;
}

TEST_CASE("as Finagle's defaults: a hundred retries in hand, and a fifth of the requests [H4]",
          "[windowed_retry_budget]") {
  Asking asking;
  WindowedRetryBudget budget;  // ttl 10 s, minRetriesPerSec 10, percentCanRetry 0.2
  CHECK(budget.tokens(asking.now) == 100.0);
  for (int i = 0; i < 1000; ++i) deposit(budget, asking);
  CHECK(retries_until_refused(budget, asking) == 100 + 200);
}

TEST_CASE("as Finagle's own tests: of 10,000 requests the share is retried, and the reserve [H4]",
          "[windowed_retry_budget]") {
  // (twitter/finagle, RetryBudgetTest: each request deposits and then tries to withdraw; time stands still)
  struct Case {
    encore::Duration ttl;
    int floor_per_second;
    double share;
    int retries;
  };
  const auto one = GENERATE(Case{60s, 0, 0.1, 1000}, Case{60s, 0, 0.5, 5000}, Case{60s, 0, 0.25, 2500},
                            Case{60s, 0, 0.75, 7500}, Case{60s, 0, 0.99, 9900}, Case{60s, 0, 0.999, 9990},
                            Case{60s, 0, 0.9999, 9999}, Case{60s, 0, 0.01, 100}, Case{60s, 0, 0.001, 10},
                            Case{60s, 0, 0.0001, 1}, Case{1s, 10, 0.0, 10}, Case{2s, 5, 0.0, 10},
                            Case{1s, 10, 0.1, 1010}, Case{2s, 5, 0.5, 5010});
  CAPTURE(one.share, one.floor_per_second);
  Asking asking;
  WindowedRetryBudget budget{
      {.share = one.share, .floor_per_second = one.floor_per_second, .window = one.ttl}};
  CHECK(budget.tokens(asking.now) == std::chrono::duration<double>{one.ttl}.count() * one.floor_per_second);
  int retried = 0;
  for (int i = 0; i < 10'000; ++i) {
    deposit(budget, asking);
    retried += retry(budget, asking);
  }
  CHECK(retried == one.retries);
}

TEST_CASE("deposits expire: as tower's tests of its window [H4]", "[windowed_retry_budget]") {
  // (tower-rs/tower, tps_budget: tps_leaky, tps_slots, tps_reserve)
  Asking asking;
  WindowedRetryBudget leaky{{.share = 1.0, .floor_per_second = 0, .window = 1s}};
  CHECK(!retry(leaky, asking));
  deposit(leaky, asking);
  asking.clock.advance(3s);
  CHECK(!retry(leaky, asking));

  WindowedRetryBudget slots{{.share = 0.5, .floor_per_second = 0, .window = 1s}};
  deposit(slots, asking);
  deposit(slots, asking);
  asking.clock.advance(901ms);
  CHECK(retry(slots, asking));
  asking.clock.advance(2001ms);
  deposit(slots, asking);
  asking.clock.advance(301ms);
  deposit(slots, asking);
  asking.clock.advance(801ms);
  deposit(slots, asking);
  CHECK(retry(slots, asking));  // the first deposit has expired, the second and the third have not
  CHECK(!retry(slots, asking));

  WindowedRetryBudget reserve{{.share = 1.0, .floor_per_second = 5, .window = 1s}};
  CHECK(retries_until_refused(reserve, asking) == 5);
}

TEST_CASE("a deposit lasts for the window, to within a tenth [H4]", "[windowed_retry_budget]") {
  Asking asking;
  WindowedRetryBudget budget{{.share = 1.0, .floor_per_second = 0, .window = 10s}};
  deposit(budget, asking);
  asking.clock.advance(500ms);
  deposit(budget, asking);
  asking.clock.advance(9'499ms);  // the window's tenth tenth
  CHECK(budget.tokens(asking.now) == 2.0);
  asking.clock.advance(1ms);
  CHECK(budget.tokens(asking.now) == 0.0);
}

TEST_CASE("what was taken expires too, and the reserve is whole again [H4]", "[windowed_retry_budget]") {
  Asking asking;
  WindowedRetryBudget budget{{.share = 0.2, .floor_per_second = 1, .window = 10s}};
  CHECK(retries_until_refused(budget, asking) == 10);
  asking.clock.advance(10s - 1ns);
  CHECK(!retry(budget, asking));
  asking.clock.advance(1ns);
  CHECK(retries_until_refused(budget, asking) == 10);
}

TEST_CASE("by default load grows to 1.2 + 10 / rps in a total outage [H4]", "[windowed_retry_budget]") {
  const int rps = GENERATE(20, 50, 100);
  CAPTURE(rps);
  encore::testing::FakeClock clock;
  WindowedRetryBudget budget;
  const encore::RetryPolicy policy{clock,
                                   budget,
                                   encore::RetryOn<Down>{},
                                   encore::UnlimitedRetries{},
                                   encore::ConstantBackoff{.delay = 0s},
                                   encore::NoJitter{}};
  int calls = 0;
  int attempts = 0;
  const auto down = [&]() -> int {
    ++attempts;
    throw Down{};
  };
  const auto outage_of = [&](int seconds) {
    for (int i = 0; i < seconds * rps; ++i) {
      ++calls;
      CHECK_THROWS_AS(policy.run(down), Down);
      clock.advance(encore::Duration{1s} / rps);
    }
  };
  outage_of(30);  // past the beginning, when the reserve is spent at once
  calls = attempts = 0;
  outage_of(30);
  // Three windows. Retries come in bursts, one a window: within one burst's share of the exact value.
  CHECK(std::abs(1.0 * attempts / calls - (1.2 + 10.0 / rps)) < 0.01);
}

TEST_CASE("a retry that does not begin gives back what it took, as long as it still counts [H1]",
          "[windowed_retry_budget]") {
  Asking asking;
  WindowedRetryBudget budget{{.share = 0.0, .floor_per_second = 1, .window = 10s}};
  {
    auto permit = budget.admit(asking.retry());
    REQUIRE(permit);
    CHECK(budget.tokens(asking.now) == 9.0);
    asking.clock.advance(5s);
    auto moved = std::move(*permit);
    permit.reset();
    CHECK(budget.tokens(asking.now) == 9.0);
  }
  CHECK(budget.tokens(asking.now) == 10.0);
  {
    auto permit = budget.admit(asking.retry());
    asking.clock.advance(20s);
    CHECK(budget.tokens(asking.now) == 10.0);  // what it took has expired
  }
  CHECK(budget.tokens(asking.now) == 10.0);
}

TEST_CASE(
    "a spent budget stops retries but never a first attempt; one that is not made deposits nothing [H1, H4]",
    "[windowed_retry_budget]") {
  Asking asking;
  WindowedRetryBudget budget{{.share = 0.2, .floor_per_second = 0}};
  for (int i = 0; i < 100; ++i) CHECK(budget.admit(asking.first()));
  CHECK(budget.tokens(asking.now) == 0.0);
  CHECK(!budget.admit(asking.retry()));
}

TEST_CASE("a clock that is set back makes nobody wait longer than the window [D7]",
          "[windowed_retry_budget]") {
  Asking asking;
  WindowedRetryBudget budget{{.share = 0.0, .floor_per_second = 1, .window = 10s}};
  CHECK(retries_until_refused(budget, asking) == 10);
  asking.clock.set(encore::TimePoint{-1h});
  CHECK(!retry(budget, asking));
  asking.clock.set(encore::TimePoint{-1h + 10s});
  CHECK(retries_until_refused(budget, asking) == 10);
}

TEST_CASE("a percentage is refused, and a window that is none (fault 37: linkerd #2236) [C3]",
          "[windowed_retry_budget]") {
  using Catch::Matchers::ContainsSubstring;
  using Catch::Matchers::MessageMatches;
  CHECK_THROWS_MATCHES((WindowedRetryBudget{{.share = 20}}), std::invalid_argument,
                       MessageMatches(ContainsSubstring("share = 20")));
  CHECK_THROWS_MATCHES((WindowedRetryBudget{{.floor_per_second = -1}}), std::invalid_argument,
                       MessageMatches(ContainsSubstring("floor_per_second")));
  CHECK_THROWS_MATCHES((WindowedRetryBudget{{.window = 0s}}), std::invalid_argument,
                       MessageMatches(ContainsSubstring("window")));
  CHECK_NOTHROW(
      WindowedRetryBudget{{.floor_per_second = 2'147'483'647, .window = std::chrono::hours::max()}});
}

TEST_CASE("threads neither lose nor find a retry [H8]", "[windowed_retry_budget][threads]") {
  Asking asking;
  WindowedRetryBudget budget{{.share = 0.5, .floor_per_second = 1, .window = 10s}};
  std::atomic<int> taken{0};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) {
          deposit(budget, asking);
          auto permit = budget.admit(asking.retry());
          if (!permit || i % 2 == 0) continue;
          permit->began(asking.now);
          ++taken;
        }
      });
    }
  }
  CHECK(budget.tokens(asking.now) == 10.0 + 4000 * 0.5 - taken.load());
}

}  // namespace
