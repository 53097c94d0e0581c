#include "outer_attempt.hpp"
#include <encore/limits.hpp>
#include <encore/nesting.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::Attempt, encore::Nested, encore::RetryOn, encore::RetryPolicy, encore::StopReason,
    encore::WhenNested;
using encore_tests::outer_attempt_of_a_call;

namespace {

struct TimeoutError : std::runtime_error {
  TimeoutError() : std::runtime_error{"slow"} {}
};

const RetryPolicy plain{RetryOn<TimeoutError>{}, encore::NoJitter{}};
const RetryPolicy outer_policy = plain.with(WhenNested{}, encore::MaxAttempts{4});

// How many requests are made when both layers retry what always fails, and what the inner one tells.
struct Layers {
  int requests = 0;
  Recording inner;
  Durations sleeps;
};
template <class Outer, class Inner>
Layers layers(const Outer& outer, const Inner& inner) {
  FakeClock clock;
  Recorder trace;
  Layers made;
  CHECK_THROWS_AS(outer.with(clock).run({.id = "outer"},
                                        [&] {
                                          inner.with(clock, trace).run({.id = "inner"}, [&] {
                                            ++made.requests;
                                            throw TimeoutError{};
                                          });
                                        }),
                  TimeoutError);
  made.inner = trace.of("inner");
  made.sleeps = clock.sleeps();
  return made;
}

TEST_CASE(
    "two policy layers multiply, 4 x 3 = 12, and where that is allowed nothing is reported (livekit #5335) "
    "[J1]",
    "[nesting]") {
  for (const auto& made :
       {layers(outer_policy, plain), layers(outer_policy, plain.with(WhenNested{Nested::allow})),
        layers(plain.with(encore::MaxAttempts{4}), plain.with(WhenNested{Nested::make_single}))}) {
    CHECK(made.requests == 12);
    for (const auto& event : made.inner) CHECK(event.outer_id.empty());
  }
}

TEST_CASE("a nested inner layer is detected: its failures name the outer call (fault 40: nanobot #2759) [J1]",
          "[nesting]") {
  const auto made = layers(outer_policy, plain.with(WhenNested{Nested::report}));
  CHECK(made.requests == 12);
  CHECK(made.inner.size() == 4 * 7);
  for (const auto& event : made.inner)
    CHECK(event.outer_id == (event.kind == encore::EventKind::attempt_started ? "" : "outer"));
}

TEST_CASE("an inner layer that is made single makes one attempt, and the outer one decides [J1, B3]",
          "[nesting]") {
  const auto single = plain.with(WhenNested{Nested::make_single});
  const auto made = layers(outer_policy, single);
  CHECK(made.requests == 4);
  CHECK(made.sleeps == Durations{1s, 2s, 4s});
  CHECK(made.inner.size() == 4 * 3);
  CHECK(made.inner.back().reason == StopReason::nested_made_single);
  CHECK(made.inner.back().mode == encore::TerminalMode::exception);
}

TEST_CASE("a single inner call propagates its failure unchanged, whatever its strategy [J1, G7]",
          "[nesting]") {
  FakeClock clock;
  const auto single = plain.with(clock, WhenNested{Nested::make_single});
  const encore::FormatFailure format{[](const encore::Failure&) { return -1; }};
  int requests = 0;
  const auto fail = [&]() -> int {
    ++requests;
    throw TimeoutError{};
  };
  const auto check = [&](const auto& inner) {
    requests = 0;
    CHECK_THROWS_AS(outer_policy.with(clock).run([&] { static_cast<void>(inner.run(fail)); }), TimeoutError);
    CHECK(requests == 4);
  };
  check(single);
  check(single.with(format));
  check(single.with(encore::ReturnOutcome{}));
  CHECK(single.with(format).run(fail) == -1);  // alone it is as ever
  CHECK(requests == 4 + 3);

  const auto by_value = single.with(encore::RetryIfResult{[](int units) { return units < 0; }}, format);
  requests = 0;
  CHECK(outer_policy.with(clock).run([&] { return by_value.run([&] { return --requests; }); }) == -1);
  CHECK(requests == -1);  // the failed value is the result, and the outer policy has no opinion on it
}

TEST_CASE("a policy inside its own attempt is nested too [J1, A3]", "[nesting]") {
  FakeClock clock;
  const auto policy = plain.with(clock, WhenNested{Nested::make_single});
  int inner = 0;
  CHECK_THROWS_AS(policy.run([&] {
    policy.run([&] {
      ++inner;
      throw TimeoutError{};
    });
  }),
                  TimeoutError);
  CHECK(inner == 3);
}

TEST_CASE("nesting is detected during the attempt under way, and not after it [J1]", "[nesting]") {
  FakeClock clock;
  const auto policy = plain.with(clock, WhenNested{});
  CHECK(outer_attempt_of_a_call() == "none");
  std::vector<std::string> outer;
  CHECK_THROWS_AS(policy.run({.id = "outer"},
                             [&] {
                               outer.push_back(outer_attempt_of_a_call());
                               policy.run({.id = "inner"},
                                          [] { CHECK(outer_attempt_of_a_call() == "inner 1"); });
                               CHECK(outer_attempt_of_a_call() == outer.back());
                               throw TimeoutError{};
                             }),
                  TimeoutError);
  CHECK(outer == std::vector<std::string>{"outer 1", "outer 2", "outer 3"});
  CHECK(outer_attempt_of_a_call() == "none");
  // A policy without `WhenNested` neither marks its attempts nor looks at marks.
  plain.with(clock).run([] { CHECK(outer_attempt_of_a_call() == "none"); });
}

TEST_CASE("another thread gets the outer attempt through the call [J2]", "[nesting]") {
  FakeClock clock;
  const auto single = plain.with(clock, WhenNested{Nested::make_single});
  int unaware = 0, told = 0;
  const auto counting = [](int& requests) {
    return [&requests] {
      ++requests;
      throw TimeoutError{};
    };
  };
  outer_policy.with(clock).run([&](const Attempt& attempt) {
    std::jthread{[&] {
      CHECK_THROWS_AS(single.run(counting(unaware)), TimeoutError);
      CHECK_THROWS_AS(single.run({.outer = &attempt}, counting(told)), TimeoutError);
    }}.join();
  });
  CHECK(unaware == 3);
  CHECK(told == 1);
}

}  // namespace
