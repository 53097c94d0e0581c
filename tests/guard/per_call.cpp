#include <encore/guard/circuit_breaker.hpp>
#include <encore/guard/per_call.hpp>
#include <encore/limits.hpp>
#include <encore/nesting.hpp>
#include <encore/never_retry.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/predicate.hpp>
#include <encore/refused.hpp>
#include <encore/retry_policy.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <stdexcept>
#include <stop_token>
#include <type_traits>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::CircuitBreaker, encore::CircuitState, encore::PerCall;

namespace {

static_assert(encore::Guard<PerCall<CircuitBreaker>>);
static_assert(PerCall<CircuitBreaker>::refusal == encore::StopReason::circuit_open);
static_assert(!std::is_constructible_v<PerCall<CircuitBreaker>, CircuitBreaker>,
              "a temporary guard would dangle");

struct Timeout : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct NotFound : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Setting {
  FakeClock clock{};
  encore::Now now{clock};
  CircuitBreaker breaker{{.failures_to_open = 2, .open_for = 30s, .probe_lease = 20s}};
  auto policy(int retries) {
    return encore::RetryPolicy{clock,
                               PerCall{breaker},
                               encore::RetryOn<Timeout>{},
                               encore::MaxRetries{retries},
                               encore::NoJitter{},
                               encore::ConstantBackoff{.delay = 1s}};
  }
};

TEST_CASE("a PerCall breaker says when it admits again [H3, G5]", "[per_call]") {
  Setting setting;
  const auto policy = setting.policy(0).with(encore::ReturnOutcome{});
  Scripted<int> tool{always(throws<Timeout>("slow"))};
  for (int call = 0; call < 2; ++call) CHECK_FALSE(policy.run(tool).failure().retry_after);
  setting.clock.advance(5s);
  CHECK(policy.run(tool).failure().retry_after == 25s);
}

TEST_CASE("a PerCall breaker counts exhausted calls and not their attempts [H3]", "[per_call]") {
  Setting setting;
  Scripted<int> tool{always(throws<Timeout>("slow"))};
  CHECK_THROWS_AS(setting.policy(4).run(tool), Timeout);
  CHECK(tool.calls() == 5);
  CHECK(setting.breaker.state(setting.now) == CircuitState::closed);
  CHECK_THROWS_AS(setting.policy(4).run(tool), Timeout);
  CHECK(setting.breaker.state(setting.now) == CircuitState::open);
  CHECK_THROWS_AS(setting.policy(4).run(tool), encore::Refused);
  CHECK(tool.calls() == 10);
}

TEST_CASE("a PerCall breaker counts a call that succeeds after retries as a success [G6, H3]", "[per_call]") {
  Setting setting;
  for (int i = 0; i < 5; ++i) {
    Scripted<int> tool{times(3, throws<Timeout>("slow")), returns(1)};
    CHECK(setting.policy(4).run(tool) == 1);
  }
  CHECK(setting.breaker.state(setting.now) == CircuitState::closed);
}

TEST_CASE("a PerCall breaker ignores calls that failed permanently or were stopped [H3]", "[per_call]") {
  Setting setting;
  for (int i = 0; i < 5; ++i)
    CHECK_THROWS_AS(setting.policy(4).run([]() -> int { throw NotFound{"no such thing"}; }), NotFound);
  for (int i = 0; i < 5; ++i) {
    std::stop_source source;
    const auto token = source.get_token();
    setting.clock.after(500ms, [&] { source.request_stop(); });
    CHECK_THROWS_AS(setting.policy(4).run({.stop = token}, []() -> int { throw Timeout{"slow"}; }), Timeout);
  }
  CHECK(setting.breaker.state(setting.now) == CircuitState::closed);
}

TEST_CASE("a PerCall breaker's probe may retry, and its lease runs from the begin of its last attempt [H3]",
          "[per_call]") {
  Setting setting;
  Scripted<int> broken{always(throws<Timeout>("slow"))};
  for (int i = 0; i < 2; ++i) CHECK_THROWS_AS(setting.policy(0).run(broken), Timeout);
  setting.clock.advance(30s);

  int admitted_beside = 0;
  int attempts = 0;
  const auto result = setting.policy(4).run([&] {
    setting.clock.advance(15s);
    admitted_beside += setting.breaker.admit({.now = setting.now}).has_value();
    if (++attempts < 4) throw Timeout{"slow"};
    return 1;
  });
  CHECK(result == 1);
  CHECK(attempts == 4);  // 4 · 15 s and 3 waits of 1 s: three times the lease
  CHECK(admitted_beside == 0);
  CHECK(setting.breaker.state(setting.now) == CircuitState::closed);
}

TEST_CASE("one breaker can count the calls of one policy and the attempts of another [H8]", "[per_call]") {
  Setting setting;
  const encore::RetryPolicy attempts{setting.clock, setting.breaker, encore::RetryOn<Timeout>{},
                                     encore::MaxRetries{0}};
  CHECK_THROWS_AS(attempts.run([]() -> int { throw Timeout{"slow"}; }), Timeout);
  CHECK_THROWS_AS(setting.policy(4).run([]() -> int { throw Timeout{"slow"}; }), Timeout);
  CHECK_THROWS_AS(attempts.run([] { return 1; }), encore::Refused);
}

TEST_CASE("a PerCall breaker counts calls whose retry another guard refused [H1, H3]", "[per_call]") {
  Setting setting;
  encore::CircuitBreaker other{{.failures_to_open = 1}};
  Scripted<int> tool{always(throws<Timeout>("slow"))};
  const auto policy = setting.policy(2).with(other);
  CHECK_THROWS_AS(policy.run(tool), Timeout);
  other.reset();
  CHECK(setting.breaker.state(setting.now) == CircuitState::closed);
  CHECK_THROWS_AS(policy.run(tool), Timeout);
  CHECK(tool.calls() == 2);
  CHECK(setting.breaker.state(setting.now) == CircuitState::open);
}

TEST_CASE("a PerCall breaker counts calls that failed as a single attempt inside another policy [H3, J1]",
          "[per_call]") {
  Setting setting;
  const encore::RetryPolicy outer{setting.clock, encore::RetryOn<Timeout>{}, encore::MaxRetries{0},
                                  encore::WhenNested{}};
  const auto inner = setting.policy(2).with(encore::WhenNested{encore::Nested::make_single});
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_AS(outer.run([&] { return inner.run([]() -> int { throw Timeout{"slow"}; }); }), Timeout);
  CHECK(setting.breaker.state(setting.now) == CircuitState::open);
}

TEST_CASE("a PerCall breaker does not count calls that another guard refused on entry [H1, H3]",
          "[per_call]") {
  Setting setting;
  encore::CircuitBreaker other{{.failures_to_open = 1}};
  const auto policy = setting.policy(0).with(other);
  CHECK_THROWS_AS(policy.run([]() -> int { throw Timeout{"slow"}; }), Timeout);
  for (int i = 0; i < 5; ++i) CHECK_THROWS_AS(policy.run([] { return 1; }), encore::Refused);
  CHECK(setting.breaker.state(setting.now) == CircuitState::closed);
}

TEST_CASE("a PerCall breaker counts a call that ran once by declaration as its failure says [H3, I1]",
          "[per_call]") {
  Setting setting;
  const encore::Call once{.replay = encore::ReplaySafety::excluded};
  for (int i = 0; i < 3; ++i)
    CHECK_THROWS_AS(setting.policy(2).run(once, []() -> int { throw NotFound{"no such thing"}; }), NotFound);
  CHECK(setting.breaker.state(setting.now) == CircuitState::closed);
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_AS(setting.policy(2).run(once, []() -> int { throw Timeout{"slow"}; }), Timeout);
  CHECK(setting.breaker.state(setting.now) == CircuitState::open);
}

TEST_CASE(
    "for a PerCall breaker a failure on the never-list is permanent, and a cancellation is not [B4, H3]",
    "[per_call]") {
  Setting setting;
  CircuitBreaker strict{{.failures_to_open = 2, .count_permanent_failures = true}};
  CircuitBreaker strict_about_attempts{{.failures_to_open = 2, .count_permanent_failures = true}};
  const encore::RetryPolicy policy{setting.clock, PerCall{strict}, strict_about_attempts,
                                   encore::RetryOnEveryException{}, encore::NeverRetry<NotFound>{}};
  for (int i = 0; i < 5; ++i)
    CHECK_THROWS_AS(policy.run([]() -> int { throw encore::Cancelled{}; }), encore::Cancelled);
  for (int i = 0; i < 5; ++i)
    CHECK_THROWS_AS(policy.run([&]() -> int {
      return encore::RetryPolicy{setting.clock, encore::RetryOn<Timeout>{}}.run(
          {.deadline = setting.clock.now()}, [] { return 1; });
    }),
                    encore::Refused);
  for (int i = 0; i < 5; ++i)  // whether the filter names it or not
    CHECK_THROWS_AS(policy.with(encore::RetryOn<Timeout>{}).run([]() -> int { throw encore::Cancelled{}; }),
                    encore::Cancelled);
  CHECK(strict.state(setting.now) == CircuitState::closed);
  CHECK(strict_about_attempts.state(setting.now) == CircuitState::closed);
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_AS(policy.run([]() -> int { throw NotFound{"no such thing"}; }), NotFound);
  CHECK(strict.state(setting.now) == CircuitState::open);
  CHECK(strict_about_attempts.state(setting.now) == CircuitState::open);
}

}  // namespace
