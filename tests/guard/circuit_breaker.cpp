#include "asking.hpp"
#include "read_only.hpp"
#include <encore/before_retry.hpp>
#include <encore/detail/random.hpp>
#include <encore/duration.hpp>
#include <encore/guard/circuit_breaker.hpp>
#include <encore/guard/per_call.hpp>
#include <encore/limits.hpp>
#include <encore/never_retry.hpp>
#include <encore/observer.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/predicate.hpp>
#include <encore/refused.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/durations.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::CircuitBreaker, encore::CircuitState, encore::StopReason;
using guard_test::Asking, guard_test::attempt_fails, guard_test::attempt_succeeds;

namespace {

static_assert(encore::Guard<CircuitBreaker>);
static_assert(!std::is_copy_constructible_v<CircuitBreaker::Permit>, "a permit is given back once");
static_assert(std::is_nothrow_move_constructible_v<CircuitBreaker::Permit>);

struct Timeout : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct NotFound : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void open(CircuitBreaker& breaker, const Asking& asking) {
  while (attempt_fails(breaker, asking)) {}
}

TEST_CASE("a breaker opens at the Nth failure in a row, refuses, probes and closes [H3]",
          "[circuit_breaker]") {
  Asking asking;
  CircuitBreaker breaker{{.failures_to_open = 3, .open_for = 30s}};
  CHECK(attempt_fails(breaker, asking));
  CHECK(attempt_fails(breaker, asking));
  CHECK(attempt_succeeds(breaker, asking));  // so the count begins anew
  for (int i = 0; i < 3; ++i) {
    CHECK(breaker.state(asking.now) == CircuitState::closed);
    CHECK(attempt_fails(breaker, asking));
  }
  CHECK(breaker.state(asking.now) == CircuitState::open);
  CHECK(!attempt_succeeds(breaker, asking));
  asking.clock.advance(30s);
  CHECK(breaker.state(asking.now) == CircuitState::half_open);
  CHECK(attempt_fails(breaker, asking));
  CHECK(breaker.state(asking.now) == CircuitState::open);
  asking.clock.advance(30s);
  CHECK(attempt_succeeds(breaker, asking));
  CHECK(breaker.state(asking.now) == CircuitState::closed);
}

TEST_CASE("a circuit breaker's defaults are five failures and thirty seconds", "[circuit_breaker]") {
  Asking asking;
  CircuitBreaker breaker;
  for (int i = 0; i < 5; ++i) CHECK(attempt_fails(breaker, asking));
  CHECK(!attempt_fails(breaker, asking));
  asking.clock.advance(30s - 1ns);
  CHECK(!attempt_fails(breaker, asking));
  asking.clock.advance(1ns);
  CHECK(attempt_fails(breaker, asking));
}

TEST_CASE("a half-open circuit breaker admits one attempt, not a thousand (fault 35: Polly #216) [H3]",
          "[circuit_breaker]") {
  Asking asking;
  CircuitBreaker breaker{{.failures_to_open = 1, .open_for = 30s}};
  open(breaker, asking);
  asking.clock.advance(30s);
  auto probe = breaker.admit(asking.first());
  REQUIRE(probe);
  probe->began(asking.now);
  int admitted = 0;
  for (int i = 0; i < 1000; ++i) admitted += breaker.admit(asking.first()).has_value();
  CHECK(admitted == 0);
}

TEST_CASE("a probe that never returns is abandoned when its lease ends (fault 36: OmniRoute #13836) [H3]",
          "[circuit_breaker]") {
  Asking asking;
  CircuitBreaker breaker{{.failures_to_open = 1, .open_for = 30s, .probe_lease = 10s}};
  open(breaker, asking);
  asking.clock.advance(30s);
  auto lost = breaker.admit(asking.first());
  REQUIRE(lost);
  asking.clock.advance(2s);
  lost->began(asking.now);  // the lease runs from here
  asking.clock.advance(10s - 1ns);
  CHECK(!breaker.admit(asking.first()));
  asking.clock.advance(1ns);
  auto next = breaker.admit(asking.first());
  REQUIRE(next);

  lost->failed(asking.now, true);  // after six days it answers all the same: ignored
  CHECK(breaker.state(asking.now) == CircuitState::half_open);
  next->succeeded(asking.now);
  CHECK(breaker.state(asking.now) == CircuitState::closed);
}

TEST_CASE("a probe whose failure does not count is returned (fault 35: resilience4j #544) [H1, H3]",
          "[circuit_breaker]") {
  Asking asking;
  CircuitBreaker breaker{{.failures_to_open = 1, .open_for = 30s}};
  open(breaker, asking);
  asking.clock.advance(30s);
  for (int i = 0; i < 10; ++i) {
    CHECK(attempt_fails(breaker, asking, false));
    CHECK(breaker.state(asking.now) == CircuitState::half_open);
  }
  CHECK(attempt_succeeds(breaker, asking));
  CHECK(breaker.state(asking.now) == CircuitState::closed);
}

TEST_CASE("a permit that is destroyed without a result is returned unspent [H1, H3]", "[circuit_breaker]") {
  Asking asking;
  CircuitBreaker breaker{{.failures_to_open = 1, .open_for = 30s}};
  breaker.admit(asking.first());
  CHECK(breaker.state(asking.now) == CircuitState::closed);
  open(breaker, asking);
  asking.clock.advance(30s);
  {
    auto probe = breaker.admit(asking.first());
    REQUIRE(probe);
    probe->began(asking.now);
    auto moved = std::move(*probe);
    probe.reset();  // what was moved from gives nothing back
    CHECK(!breaker.admit(asking.first()));
  }
  CHECK(breaker.admit(asking.first()));
}

TEST_CASE(
    "failures that are not worth a retry neither count nor end a row of failures, unless configured to count "
    "[H3]",
    "[circuit_breaker]") {
  Asking asking;
  CircuitBreaker usual{{.failures_to_open = 2}};
  for (int i = 0; i < 10; ++i) CHECK(attempt_fails(usual, asking, false));
  CHECK(attempt_fails(usual, asking, true));
  CHECK(attempt_fails(usual, asking, false));
  CHECK(usual.state(asking.now) == CircuitState::closed);
  CHECK(attempt_fails(usual, asking, true));
  CHECK(usual.state(asking.now) == CircuitState::open);

  CircuitBreaker strict{{.failures_to_open = 2, .count_permanent_failures = true}};
  CHECK(attempt_fails(strict, asking, false));
  CHECK(attempt_fails(strict, asking, false));
  CHECK(strict.state(asking.now) == CircuitState::open);
}

TEST_CASE("an attempt that waited through a change of the breaker's state belongs to the new state [H2, H3]",
          "[circuit_breaker]") {
  Asking asking;
  CircuitBreaker breaker{{.failures_to_open = 1, .open_for = 30s}};
  auto counts = breaker.admit(asking.retry(30s));
  auto probes = breaker.admit(asking.retry(30s));
  open(breaker, asking);
  CHECK(!counts->still_admitted(asking.now));
  asking.clock.advance(30s);

  CHECK(probes->still_admitted(asking.now));  // it is the probe now
  CHECK(!breaker.admit(asking.first()));
  probes->succeeded(asking.now);
  CHECK(breaker.state(asking.now) == CircuitState::closed);

  CHECK(counts->still_admitted(asking.now));
  counts->failed(asking.now, true);
  CHECK(breaker.state(asking.now) == CircuitState::open);
}

TEST_CASE("an operator can open and reset a circuit breaker [H3]", "[circuit_breaker]") {
  Asking asking;
  CircuitBreaker breaker;
  auto under_way = breaker.admit(asking.first());
  breaker.force_open();
  under_way->succeeded(asking.now);
  asking.clock.advance(24h * 365);
  CHECK(breaker.state(asking.now) == CircuitState::open);
  CHECK(!breaker.admit(asking.first()));
  breaker.reset();
  CHECK(breaker.state(asking.now) == CircuitState::closed);
  CHECK(breaker.admit(asking.first()));
}

TEST_CASE("a breaker's permit that has its result ignores a second one [H1]", "[circuit_breaker]") {
  Asking asking;
  CircuitBreaker breaker{{.failures_to_open = 2}};
  auto permit = breaker.admit(asking.first());
  permit->failed(asking.now, true);
  permit->failed(asking.now, true);
  permit->succeeded(asking.now);
  permit->began(asking.now);
  CHECK(!permit->still_admitted(asking.now));
  CHECK(breaker.state(asking.now) == CircuitState::closed);
  CHECK(attempt_fails(breaker, asking));
  CHECK(breaker.state(asking.now) == CircuitState::open);
}

TEST_CASE("a healthy circuit breaker reads no clock [P5, P10]", "[circuit_breaker]") {
  Asking asking;
  CircuitBreaker breaker;
  for (int i = 0; i < 100; ++i) {
    auto permit = breaker.admit(asking.retry(1s));
    permit->began(asking.now);
    CHECK(permit->still_admitted(asking.now));
    permit->succeeded(asking.now);
  }
  CHECK(asking.clock.readings() == 0);

  attempt_fails(breaker, asking);  // needs the time in case it opens
  const auto readings = asking.clock.readings();
  CHECK(
      breaker.admit(asking.first()));  // one failure in five bars nobody's way, and asks nobody for the time
  CHECK(asking.clock.readings() == readings);
}

#ifdef ENCORE_TESTS_READ_ONLY
TEST_CASE("a healthy circuit breaker writes nothing to shared memory [P10]", "[circuit_breaker]") {
  Asking asking;
  guard_test::ReadOnly<CircuitBreaker> breaker;
  attempt_fails(breaker.get(), asking);
  attempt_succeeds(breaker.get(), asking);  // healthy again
  breaker.forbid_writing();
  for (int i = 0; i < 3; ++i) CHECK(attempt_succeeds(breaker.get(), asking));
  auto permit = breaker.get().admit(asking.retry(1s));
  CHECK(permit->still_admitted(asking.now));
  permit.reset();
}
#endif

// ---- in a policy ------------------------------------------------------------------------------------------------------

struct Setting {
  FakeClock clock{};
  CircuitBreaker breaker{{.failures_to_open = 3, .open_for = 30s}};
  auto policy(int retries) {
    return encore::RetryPolicy{clock,
                               breaker,
                               encore::RetryOn<Timeout>{},
                               encore::MaxRetries{retries},
                               encore::NoJitter{},
                               encore::ConstantBackoff{.delay = 1s}};
  }
};

TEST_CASE("in a policy each attempt counts for the breaker, and no call waits only to be refused [H2, H3]",
          "[circuit_breaker]") {
  Setting setting;
  Scripted<int> tool{times(3, throws<Timeout>("slow")), always(returns(1))};
  const auto outcome = setting.policy(9).with(encore::ReturnOutcome{}).run({.name = "lookup"}, tool);
  CHECK(outcome.reason() == StopReason::circuit_open);
  CHECK(outcome.attempts() == 3);
  CHECK(outcome.failure().error != nullptr);           // the last real failure is kept
  CHECK(setting.clock.sleeps() == Durations{1s, 1s});  // and there is no sleep before the refusal

  const auto refused = setting.policy(9).with(encore::ReturnOutcome{}).run({.name = "lookup"}, tool);
  CHECK(refused.reason() == StopReason::circuit_open);
  CHECK(refused.attempts() == 0);
  CHECK(refused.failure().error == nullptr);

  setting.clock.advance(30s);
  CHECK(setting.policy(0).run(tool) == 1);
  CHECK(setting.breaker.state(encore::Now{setting.clock}) == CircuitState::closed);
}

TEST_CASE("a wait that ends after the breaker's open time is allowed: the retry is the probe [H2]",
          "[circuit_breaker]") {
  Setting setting;
  Scripted<int> tool{times(3, throws<Timeout>("slow")), returns(1)};
  CHECK(setting.policy(9).with(encore::ConstantBackoff{.delay = 30s}).run(tool) == 1);
  CHECK(setting.clock.sleeps() == Durations{30s, 30s, 30s});
}

TEST_CASE(
    "a circuit breaker that opened during the wait refuses when the wait ends, with the last real failure "
    "[H2]",
    "[circuit_breaker]") {
  Setting setting;
  Asking others;
  setting.clock.after(500ms, [&] { open(setting.breaker, others); });
  Scripted<int> tool{throws<Timeout>("slow"), always(returns(1))};
  const auto outcome = setting.policy(9).with(encore::ReturnOutcome{}).run(tool);
  CHECK(outcome.reason() == StopReason::circuit_open);
  CHECK(outcome.attempts() == 1);
  CHECK(outcome.failure().error != nullptr);
  CHECK(tool.calls() == 1);
}

TEST_CASE("a probe whose wait is stopped lets the next one start at once [H2, K1]", "[circuit_breaker]") {
  Setting setting;
  std::stop_source source;
  const auto token = source.get_token();
  setting.clock.after(65s, [&] { source.request_stop(); });
  Scripted<int> tool{times(3, throws<Timeout>("slow")), always(returns(1))};
  const auto outcome = setting.policy(9)
                           .with(encore::ReturnOutcome{}, encore::ConstantBackoff{.delay = 30s})
                           .run({.stop = token}, tool);
  CHECK(outcome.reason() == StopReason::cancelled);
  CHECK(outcome.attempts() == 3);
  CHECK(setting.breaker.state(encore::Now{setting.clock}) == CircuitState::open);
  setting.clock.advance(25s);
  CHECK(setting.policy(0).run(tool) == 1);
}

TEST_CASE("a probe is returned however its attempt ends (fault 35: resilience4j #544, #2488) [H1]",
          "[circuit_breaker]") {
  Setting setting;
  const encore::Now now{setting.clock};
  Scripted<int> broken{always(throws<Timeout>("slow"))};
  CHECK_THROWS_AS(setting.policy(2).run(broken), Timeout);
  setting.clock.advance(30s);
  REQUIRE(setting.breaker.state(now) == CircuitState::half_open);

  CHECK_THROWS_AS(setting.policy(0).run([]() -> int { throw NotFound{"not a failure of the tool"}; }),
                  NotFound);
  CHECK_THROWS_AS(setting.policy(0).run([]() -> int { throw 42; }), int);
  CHECK_THROWS_AS(setting.policy(0).run([]() -> int { throw encore::Cancelled{}; }), encore::Cancelled);
  const auto throwing =
      setting.policy(0).with(encore::NeverRetryIf{[](const std::exception&) -> bool { throw 1; }});
  CHECK_THROWS_AS(throwing.run([]() -> int { throw Timeout{"the predicate throws"}; }), Timeout);
  CHECK(setting.breaker.state(now) == CircuitState::half_open);
  CHECK(setting.policy(0).run([] { return 1; }) == 1);
  CHECK(setting.breaker.state(now) == CircuitState::closed);
}

TEST_CASE("several policies can share one circuit breaker [H8]", "[circuit_breaker]") {
  Setting setting;
  const auto one = setting.policy(0);
  const auto other = setting.policy(0);
  for (int i = 0; i < 3; ++i) CHECK_THROWS_AS(one.run([]() -> int { throw Timeout{"slow"}; }), Timeout);
  CHECK_THROWS_AS(other.run([] { return 1; }), encore::Refused);
}

// ---- properties -------------------------------------------------------------------------------------------------------

// Its own failures at every point: reading the time and sleeping throw now and then.
struct FaultyClock {
  using role = encore::role::Clock;
  FakeClock& fake;
  double share;
  mutable std::atomic<std::uint64_t> draws{0};

  FaultyClock(FakeClock& clock, double share_of_faults) : fake{clock}, share{share_of_faults} {}
  FaultyClock(const FaultyClock&) = delete;
  void may_throw() const {
    if (encore::shared::Random{encore::shared::mix(draws.fetch_add(1))}.draw() < share)
      throw std::runtime_error{"the clock broke"};
  }
  encore::TimePoint now() const { return may_throw(), fake.now(); }
  encore::WallTime wall() const { return fake.wall(); }
  void sleep_for(encore::Duration duration, const encore::StopView& stop) {
    may_throw(), fake.sleep_for(duration, stop);
  }
};

// One call that may fail in every way that there is.
template <class Policy>
void call_at_random(const Policy& policy, encore::shared::Random& random) {
  std::stop_source source;
  const auto token = source.get_token();
  if (random.draw() < 0.05) source.request_stop();
  const auto tool = [&]() -> int {
    const auto draw = random.draw();
    if (draw < 0.40) throw Timeout{"slow"};
    if (draw < 0.50) throw NotFound{"permanent"};
    if (draw < 0.55) throw 42;
    if (draw < 0.60) source.request_stop();
    if (draw < 0.65) throw Timeout{"slow, and stopped"};
    return 1;
  };
  try {
    static_cast<void>(policy.run({.stop = token}, tool));
  } catch (...) {}  // Catch2's own are not thrown in here
}

auto policy_with_faults(FaultyClock& clock, CircuitBreaker& breaker, double share) {
  const auto may_throw = [share, draws = std::make_shared<std::atomic<std::uint64_t>>(1'000'000)] {
    if (encore::shared::Random{encore::shared::mix(draws->fetch_add(1))}.draw() < share)
      throw std::logic_error{"broken"};
  };
  return encore::RetryPolicy{clock,
                             breaker,
                             encore::RetryIf{[may_throw](const std::exception& error) {
                               may_throw();
                               return dynamic_cast<const Timeout*>(&error) != nullptr;
                             }},
                             [may_throw](const encore::Event&) { may_throw(); },
                             encore::BeforeRetry{may_throw},
                             encore::MaxRetries{3},
                             encore::NoJitter{},
                             encore::ConstantBackoff{.delay = 4s}};
}

TEST_CASE("no exception at any point leaks a probe's place [H1]", "[circuit_breaker]") {
  FakeClock fake;
  FaultyClock clock{fake, 0.1};
  CircuitBreaker breaker{{.failures_to_open = 2, .open_for = 10s, .probe_lease = 24h}};
  const auto policy = policy_with_faults(clock, breaker, 0.1);
  encore::shared::Random random{1};
  int half_open = 0;
  int opened = 0;
  for (int i = 0; i < 5000; ++i) {
    call_at_random(policy, random);
    const encore::Now now{fake};
    const auto state = breaker.state(now);
    opened += state == CircuitState::open;
    if (state == CircuitState::half_open) {
      ++half_open;
      REQUIRE(breaker.admit({.now = now}));  // no call is under way, so nobody holds the probe
    }
    fake.advance(3s);
  }
  CHECK(opened > 100);
  CHECK(half_open > 100);
}

TEST_CASE("of sixteen threads at a half-open breaker exactly one is admitted [H3, H8]",
          "[circuit_breaker][threads]") {
  constexpr int threads = 16;
  constexpr int rounds = 60;
  Asking asking;
  CircuitBreaker breaker{{.failures_to_open = 1, .open_for = 30s}};
  std::atomic<int> admitted{0};
  std::vector<int> let_through;
  open(breaker, asking);
  asking.clock.advance(30s);
  std::barrier meet{threads};
  std::barrier counted{threads, [&]() noexcept { let_through.push_back(admitted.exchange(0)); }};
  std::barrier over{threads, [&]() noexcept { asking.clock.advance(30s); }};

  std::vector<std::jthread> crowd;
  for (int i = 0; i < threads; ++i) {
    crowd.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        meet.arrive_and_wait();
        auto permit = breaker.admit(asking.first());
        if (permit) {
          ++admitted;
          permit->began(asking.now);
        }
        counted.arrive_and_wait();
        if (permit && round % 3 == 0) permit->failed(asking.now, true);   // open anew
        if (permit && round % 3 == 1) permit->failed(asking.now, false);  // half open still
        permit.reset();                                                   // or withdrawn
        over.arrive_and_wait();
      }
    });
  }
  crowd.clear();
  CHECK(let_through == std::vector<int>(rounds, 1));
}

TEST_CASE(
    "under contention and exceptions no probe's place is lost, and a breaker ignores results of old states "
    "[H1, H8]",
    "[circuit_breaker][threads]") {
  FakeClock fake{{.max_attempts_without_progress = 1'000'000}};
  FaultyClock clock{fake, 0.05};
  CircuitBreaker breaker{{.failures_to_open = 2, .open_for = 10s, .probe_lease = std::chrono::hours{8'760}}};
  const auto policy = policy_with_faults(clock, breaker, 0.05);
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&, thread] {
        encore::shared::Random random{100 + thread};
        for (int i = 0; i < 400; ++i) {
          call_at_random(policy, random);
          fake.advance(1s);
        }
      });
    }
  }
  const encore::Now now{fake};
  fake.advance(10s);
  if (breaker.state(now) == CircuitState::half_open) {
    auto probe = breaker.admit({.now = now});
    REQUIRE(probe);
    probe->succeeded(now);
  }
  CHECK(breaker.state(now) == CircuitState::closed);
  CHECK(breaker.admit({.now = now}));
}

TEST_CASE(
    "a returned failure that is neither retried nor counted is an answer: it ends a row of failures and a "
    "probe [H3, B8]",
    "[circuit_breaker]") {
  encore::testing::FakeClock clock;
  const encore::Now now{clock};
  CircuitBreaker breaker{{.failures_to_open = 2, .open_for = 30s}};
  CircuitBreaker of_calls{{.failures_to_open = 2, .open_for = 30s}};
  CircuitBreaker strict{{.failures_to_open = 2, .open_for = 30s, .count_permanent_failures = true}};
  constexpr int not_found = -2, busy = -1;
  const encore::RetryPolicy policy{clock, encore::RetryIfResult{[](int n) { return n < 0; }},
                                   encore::NeverRetryIf{[](int n) { return n == not_found; }},
                                   encore::MaxRetries{0}};
  const auto ask = [&](auto&& guard, int answer) {
    CHECK(policy.with(std::forward<decltype(guard)>(guard)).run([&] { return answer; }) == answer);
  };
  const auto per_call = [&] { return encore::PerCall{of_calls}; };
  for (int i = 0; i < 5; ++i)
    for (const auto answer : {busy, not_found})
      ask(breaker, answer), ask(per_call(), answer);  // no two failures in a row
  CHECK(breaker.state(now) == CircuitState::closed);
  CHECK(of_calls.state(now) == CircuitState::closed);

  for (int i = 0; i < 2; ++i) ask(breaker, busy), ask(per_call(), busy);
  CHECK(breaker.state(now) == CircuitState::open);
  CHECK(of_calls.state(now) == CircuitState::open);
  clock.advance(30s);
  ask(breaker, not_found), ask(per_call(), not_found);
  CHECK(breaker.state(now) == CircuitState::closed);
  CHECK(of_calls.state(now) == CircuitState::closed);

  for (int i = 0; i < 2; ++i) ask(strict, not_found);
  CHECK(strict.state(now) == CircuitState::open);
}

}  // namespace
