#include <encore/jitter_shapes.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>

using namespace std::chrono_literals;
using encore::DecorrelatedJitter, encore::Duration, encore::EqualJitter;

namespace {

TEST_CASE("equal jitter runs from half the delay to the delay [C9]", "[jitter_shapes]") {
  CHECK(EqualJitter{}({.delay = 800ms, .draw = 0.0}) == 400ms);
  CHECK(EqualJitter{}({.delay = 800ms, .draw = 0.5}) == 600ms);
}

TEST_CASE("decorrelated jitter runs from the initial delay to three times the wait before [C9]",
          "[jitter_shapes]") {
  const auto wait = [](Duration previous, Duration initial, Duration cap, double draw) {
    return DecorrelatedJitter{}(
        {.delay = 7s, .previous = previous, .initial = initial, .cap = cap, .draw = draw});
  };
  CHECK(wait(2s, 1s, 60s, 0.0) == 1s);
  CHECK(wait(2s, 1s, 60s, 0.5) == 3'500ms);
  CHECK(wait(30s, 1s, 60s, 0.5) == 30'500ms);        // held at the cap first: 1 + 59 / 2
  CHECK(wait(100s, 100s, 60s, 0.5) == 60s);          // low = min(initial, cap)
  CHECK(wait(0s, 1s, 60s, 0.5) == 1s);               // never below the initial delay
  CHECK(wait(Duration::max(), 1s, 60s, 0.0) == 1s);  // three times that would overflow
  CHECK(wait(20s, 0s, 60s, 0.5) == 30s);             // exactly the cap is three times this
}

}  // namespace
