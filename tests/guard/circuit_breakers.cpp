#include "asking.hpp"
#include "read_only.hpp"
#include <encore/guard/circuit_breakers.hpp>
#include <encore/limits.hpp>
#include <encore/predicate.hpp>
#include <encore/refused.hpp>
#include <encore/retry_policy.hpp>

#include <catch2/catch_test_macros.hpp>

#include <barrier>
#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using encore::CircuitBreaker, encore::CircuitBreakers, encore::CircuitState;
using guard_test::Asking;

namespace {

static_assert(encore::Guard<CircuitBreakers>);

bool fails(CircuitBreakers& breakers, const Asking& asking, std::string_view name) {
  auto permit = breakers.admit(asking.first(name));
  if (permit) permit->failed(asking.now, true);
  return permit.has_value();
}

TEST_CASE("each call name has a circuit breaker of its own [H3]", "[circuit_breakers]") {
  Asking asking;
  CircuitBreakers breakers{{.each = {.failures_to_open = 2, .open_for = 5s}}};
  CHECK(fails(breakers, asking, "ship"));
  CHECK(fails(breakers, asking, "lookup"));
  CHECK(fails(breakers, asking, std::string{"ship"}));  // the name counts, not where it is kept
  CHECK(!fails(breakers, asking, "ship"));
  CHECK(breakers.state("ship", asking.now) == CircuitState::open);
  CHECK(breakers.state("lookup", asking.now) == CircuitState::closed);
  CHECK(breakers.admit(asking.first("lookup")));
  CHECK(breakers.admit(asking.first()));  // a call without a name is one of them
  asking.clock.advance(5s);
  CHECK(fails(breakers, asking, "ship"));
}

TEST_CASE("a circuit breaker is found by its call's name, always the same one", "[circuit_breakers]") {
  Asking asking;
  CircuitBreakers breakers;
  CircuitBreaker& ship = breakers["ship"];
  for (int i = 0; i < 100; ++i) breakers[std::to_string(i)];
  CHECK(&breakers["ship"] == &ship);
  ship.force_open();
  CHECK(!breakers.admit(asking.first("ship")));
  CHECK(breakers.admit(asking.first("17")));
  breakers["ship"].reset();
  CHECK(breakers.admit(asking.first("ship")));
}

TEST_CASE("asking for the state of a name creates no breaker, and all existing ones can be listed",
          "[circuit_breakers]") {
  Asking asking;
  CircuitBreakers breakers;
  CHECK(breakers.state("unseen", asking.now) == CircuitState::closed);
  for (const auto* name : {"a", "b", "b", "c"}) static_cast<void>(breakers.admit(asking.first(name)));
  std::set<std::string> names;
  breakers.for_each([&](std::string_view name, CircuitBreaker& breaker) {
    names.emplace(name);
    breaker.force_open();
  });
  CHECK(names == std::set<std::string>{"a", "b", "c"});
  CHECK(breakers.state("b", asking.now) == CircuitState::open);
}

#ifdef ENCORE_TESTS_READ_ONLY
TEST_CASE("a known name's circuit breaker is found without a lock or a write [P10]", "[circuit_breakers]") {
  Asking asking;
  guard_test::ReadOnly<CircuitBreakers> breakers;
  CHECK(breakers.get().admit(asking.first("ship")));
  breakers.forbid_writing();
  for (int i = 0; i < 3; ++i) CHECK(guard_test::attempt_succeeds(breakers.get()["ship"], asking));
  CHECK(breakers.get().admit(asking.first("ship")));
}
#endif

TEST_CASE("call names beyond the maximum share one circuit breaker", "[circuit_breakers]") {
  Asking asking;
  CircuitBreakers breakers{{.each = {.failures_to_open = 1, .open_for = 5s}, .max_names = 3}};
  for (const auto* name : {"a", "b", "c"}) breakers[name];
  CHECK(&breakers["d"] == &breakers["e"]);
  CHECK(&breakers["a"] != &breakers["b"]);
  CHECK(breakers.state("d", asking.now) == CircuitState::closed);
  CHECK(fails(breakers, asking, "d"));
  CHECK(!fails(breakers, asking, "e"));
  CHECK(breakers.state("e", asking.now) == CircuitState::open);
  CHECK(breakers.admit(asking.first("a")));
  int names = 0;
  breakers.for_each([&](auto, auto&) { ++names; });
  CHECK(names == 3);
}

TEST_CASE("in a policy the call's name selects the circuit breaker [H3]", "[circuit_breakers]") {
  encore::testing::FakeClock clock;
  CircuitBreakers breakers{{.each = {.failures_to_open = 2}}};
  const encore::RetryPolicy policy{clock, breakers, encore::RetryOn<std::runtime_error>{},
                                   encore::MaxRetries{0}};
  const auto fail = []() -> int { throw std::runtime_error{"down"}; };
  CHECK_THROWS_AS(policy.run({.name = "ship"}, fail), std::runtime_error);
  CHECK_THROWS_AS(policy.run({.name = "ship"}, fail), std::runtime_error);
  CHECK_THROWS_AS(policy.run({.name = "ship"}, fail), encore::Refused);
  CHECK(policy.run({.name = "lookup"}, [] { return 17; }) == 17);
}

TEST_CASE("each name's circuit breaker says for itself when it admits again [H3]", "[circuit_breakers]") {
  encore::testing::FakeClock clock;
  const encore::Now now{clock};
  CircuitBreakers breakers{{.each = {.failures_to_open = 1, .open_for = 30s}}};
  breakers.admit({.call_name = "ship", .now = now})->failed(now, true);
  CHECK(breakers.admits_again({.call_name = "ship", .now = now}) == 30s);
  CHECK(breakers.admits_again({.call_name = "lookup", .now = now}) == std::nullopt);
}

TEST_CASE("threads that use a name for the first time at once get the same circuit breaker [H8]",
          "[circuit_breakers][threads]") {
  constexpr int threads = 8;
  constexpr int names = 300;  // more than are kept
  CircuitBreakers breakers{{.max_names = 200}};
  std::vector<std::vector<CircuitBreaker*>> met(threads);
  std::barrier start{threads};
  {
    std::vector<std::jthread> crowd;
    for (auto& mine : met) {
      crowd.emplace_back([&] {
        start.arrive_and_wait();
        for (int i = 0; i < names; ++i) mine.push_back(&breakers["tool " + std::to_string(i)]);
      });
    }
  }
  int kept = 0;
  breakers.for_each([&](auto, auto&) { ++kept; });
  CHECK(kept == 200);
  for (int i = 0; i < names; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto* settled = &breakers["tool " + std::to_string(i)];
    int same = 0;
    for (const auto& mine : met) same += mine[at] == settled;
    CHECK(same == threads);
  }
}

}  // namespace
