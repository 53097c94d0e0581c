#include <encore/limits.hpp>
#include <encore/never_retry.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/telemetry/shadow_predicate.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <stdexcept>
#include <vector>

namespace {

using namespace std::chrono_literals;
using encore::RetryOn;
using encore::ShadowPredicate;
using encore::ShadowVerdicts;

struct Slow : std::runtime_error {
  Slow() : std::runtime_error{"slow"} {}
  encore::Duration retry_after() const { return 7s; }
};
struct Odd : std::runtime_error {
  Odd() : std::runtime_error{"odd"} {}
};

static_assert(encore::Predicate<ShadowPredicate<RetryOn<Slow>, RetryOn<Odd>>>);

template <class Predicate, class F>
int attempts_of(const Predicate& predicate, F callable) {
  encore::testing::FakeClock clock;
  const encore::RetryPolicy policy{clock, predicate, encore::MaxRetries{1}};
  int attempts = 0;
  try {
    policy.run([&] {
      ++attempts;
      return callable();
    });
  } catch (const std::exception&) {}
  return attempts;
}

TEST_CASE("a narrower shadow predicate is counted, and the policy continues as before",
          "[shadow_predicate]") {
  ShadowVerdicts verdicts;
  const ShadowPredicate shadow{RetryOn<std::runtime_error>{}, RetryOn<Slow>{}, verdicts};
  CHECK(attempts_of(shadow, [] { throw Odd{}; }) == 2);
  CHECK(verdicts.narrower() == 2);
  CHECK(attempts_of(shadow, [] { throw Slow{}; }) == 2);
  CHECK(verdicts.agreed() == 2);
  CHECK(attempts_of(shadow, [] { throw std::logic_error{"bug"}; }) == 1);
  CHECK(verdicts.agreed() == 3);
  CHECK(verdicts.broader() == 0);
}

TEST_CASE("a broader shadow predicate is counted, and the policy stops as before", "[shadow_predicate]") {
  ShadowVerdicts verdicts;
  const ShadowPredicate shadow{RetryOn<Slow>{}, RetryOn<std::exception>{}, verdicts};
  CHECK(attempts_of(shadow, [] { throw Odd{}; }) == 1);
  CHECK(verdicts.broader() == 1);
}

TEST_CASE("a shadow predicate compares returned values too, good ones included", "[shadow_predicate]") {
  ShadowVerdicts verdicts;
  const ShadowPredicate shadow{encore::RetryIfResult{[](int value) { return value < 0; }},
                               encore::RetryIfResult{[](int value) { return value <= 0; }}, verdicts};
  CHECK(attempts_of(shadow, [] { return -1; }) == 2);
  CHECK(attempts_of(shadow, [] { return 0; }) == 1);
  CHECK(attempts_of(shadow, [] { return 1; }) == 1);
  CHECK(verdicts.agreed() == 3);
  CHECK(verdicts.broader() == 1);
}

TEST_CASE("a shadow predicate without an opinion on a kind of failure counts as not retrying it",
          "[shadow_predicate]") {
  ShadowVerdicts verdicts;
  const ShadowPredicate shadow{RetryOn<Slow>{}, encore::RetryIfResult{[](int value) { return value < 0; }},
                               verdicts};
  CHECK(attempts_of(shadow, [] { throw Slow{}; }) == 2);
  CHECK(verdicts.narrower() == 2);
}

TEST_CASE("a shadow predicate that throws changes nothing, and is counted separately [B7]",
          "[shadow_predicate]") {
  ShadowVerdicts verdicts;
  const ShadowPredicate shadow{
      RetryOn<Slow>{},
      encore::RetryIf{[](const std::exception&) -> bool { throw std::logic_error{"candidate"}; }}, verdicts};
  CHECK(attempts_of(shadow, [] { throw Slow{}; }) == 2);
  CHECK(verdicts.threw() == 2);
  CHECK(verdicts.agreed() == 0);
}

TEST_CASE("with a shadow predicate hints and never-lists are still the policy's [B4, E5]",
          "[shadow_predicate]") {
  ShadowVerdicts verdicts;
  const ShadowPredicate shadow{RetryOn<Slow>{}, RetryOn<Odd>{}, verdicts};
  encore::testing::FakeClock clock;
  const encore::RetryPolicy policy{clock, shadow, encore::MaxRetries{1}, encore::NoJitter{}};
  CHECK_THROWS_AS(policy.run([] { throw Slow{}; }), Slow);
  CHECK(clock.sleeps() == encore::testing::Durations{7s});

  CHECK(attempts_of(ShadowPredicate{encore::RetryOnEveryException{}, RetryOn<Slow>{}, verdicts},
                    [] { throw encore::Cancelled{}; }) == 1);
}

}  // namespace
