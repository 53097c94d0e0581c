#include <encore/encore.hpp>
#include <encore/ingredient.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <concepts>
#include <memory>
#include <utility>

using namespace encore;
using encore::testing::FakeClock;
using encore::testing::Recorder;

namespace {

/// A user's own backoff: one line makes it an ingredient.
struct Patient {
  using role = encore::role::Backoff;
  constexpr Duration operator()(int retry) const { return std::chrono::minutes{retry + 1}; }
};
struct StatefulObserver {
  int events = 0;
  void operator()(const Event&) { ++events; }
};

}  // namespace

TEST_CASE("a type joins by naming its role, and any callable that takes an event is an observer [F4]",
          "[ingredient]") {
  STATIC_REQUIRE(Plays<Patient, role::Backoff>);
  STATIC_REQUIRE(!Plays<Patient, role::Jitter>);
  const auto lambda = [](const Event&) {};
  STATIC_REQUIRE(Plays<decltype(lambda), role::Observer>);
  STATIC_REQUIRE(Plays<StatefulObserver&, role::Observer>);
  STATIC_REQUIRE(!Ingredient<int>);
  STATIC_REQUIRE(!Ingredient<void (*)(int)>);
  CHECK(RetryPolicy{RetryOnEveryException{}, Patient{}}.backoff()(1) == std::chrono::minutes{2});
}

TEST_CASE("lvalues of shared things are referred to, values are copied, temporaries moved in [F4]",
          "[ingredient]") {
  STATIC_REQUIRE(std::same_as<Held<FakeClock&>, FakeClock&>);
  STATIC_REQUIRE(std::same_as<Held<Recorder&>, Recorder&>);
  STATIC_REQUIRE(
      std::same_as<Held<StatefulObserver&>, StatefulObserver&>);  // copyable, but an observer by name
  STATIC_REQUIRE(std::same_as<Held<StatefulObserver>, StatefulObserver>);
  STATIC_REQUIRE(std::same_as<Held<ExponentialBackoff&>, ExponentialBackoff>);
  STATIC_REQUIRE(std::same_as<Held<const SteadyClock&>, SteadyClock>);  // no state: a copy is the same
  STATIC_REQUIRE(encore::detail::would_dangle<FakeClock>);
  STATIC_REQUIRE(!encore::detail::would_dangle<FakeClock&>);
}

TEST_CASE("an observer that is referred to sees the events of every policy it was given to [F4]",
          "[ingredient]") {
  StatefulObserver observer;
  const RetryPolicy one{RetryOnEveryException{}, observer};
  const auto two = one.with(MaxRetries{5});
  one.run([] {});
  two.run([] {});
  CHECK(observer.events == 6);  // started, succeeded, finished; twice
}

TEST_CASE("assigning a policy rebinds what it refers to instead of assigning through it", "[ingredient]") {
  StatefulObserver first;
  StatefulObserver second;
  RetryPolicy policy{RetryOnEveryException{}, first};
  policy = RetryPolicy{RetryOnEveryException{}, second};
  policy.run([] {});
  CHECK(first.events == 0);
  CHECK(second.events == 3);
}
