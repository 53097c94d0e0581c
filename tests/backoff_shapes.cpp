#include "delays_of.hpp"
#include "invalid_setting.hpp"
#include <encore/backoff_shapes.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <climits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace std::chrono_literals;
using encore::ChainedBackoff;
using encore::ConstantBackoff;
using encore::delay_of;
using encore::DelayGenerator;
using encore::Duration;
using encore::ExponentialBackoff;
using encore::FibonacciBackoff;
using encore::LinearBackoff;
using encore::ListedBackoff;
using encore::max_wait;
using encore_tests::refusal_of;

using encore_tests::Durations, encore_tests::first_delays, encore_tests::running_delays;

// ---- what can be proved before anything runs [C4] ------------------------------------------------------------------

static_assert(LinearBackoff{.initial_delay = 100ms, .step = 50ms}(3) == 250ms);
static_assert(LinearBackoff{.step = Duration::max()}(INT_MAX) == 60s);
static_assert(FibonacciBackoff{}(5) == 8s);
static_assert(FibonacciBackoff{.initial_delay = 1ns, .max_delay = max_wait}(INT_MAX) == max_wait);
static_assert(ListedBackoff{100ms, 1s, 5s}(1) == 1s);
constexpr ChainedBackoff chain{2, ConstantBackoff{.delay = 50ms}, ExponentialBackoff{}};
static_assert(chain(1) == 50ms && chain(2) == 1s && chain(3) == 2s);

static_assert([] {
  DelayGenerator progression{chain};
  for (int retry = 0; retry < 5; ++retry) progression.next(chain);
  return progression.next(chain);
}() == 8s);

struct Seconds {  // a backoff of one's own in a chain: no cap, any answer
  using role = encore::role::Backoff;
  constexpr std::chrono::seconds operator()(int retry) const { return std::chrono::seconds{retry - 1}; }
};

}  // namespace

TEST_CASE("a linear backoff adds one step each time, up to the cap [C9]", "[backoff_shapes]") {
  const LinearBackoff backoff{.initial_delay = 1s, .step = 2s, .max_delay = 6s};
  CHECK(first_delays(backoff, 5) == Durations{1s, 3s, 5s, 6s, 6s});
  CHECK(running_delays(backoff, 5) == Durations{1s, 3s, 5s, 6s, 6s});
  CHECK(LinearBackoff{.max_delay = 5s}(4) == 5s);  // exactly the cap: 1 + 4
  CHECK(LinearBackoff{.initial_delay = 10s, .max_delay = 5s}(0) == 5s);
  CHECK(LinearBackoff{.initial_delay = 1s, .step = 1s, .min_delay = 3s}(0) == 3s);
  CHECK(LinearBackoff{.max_delay = 5s, .min_delay = 9s}(0) == 5s);  // the cap wins
  CHECK(LinearBackoff{.initial_delay = 2s, .step = 0s}(INT_MAX) == 2s);
  CHECK(LinearBackoff{.initial_delay = 0s, .step = 1ns, .max_delay = 1h}(INT_MAX) == 2'147'483'647ns);
  CHECK(LinearBackoff{}(-1) == 1s);
}

TEST_CASE("each wait of a Fibonacci backoff is the sum of the two before it [C9]", "[backoff_shapes]") {
  const FibonacciBackoff backoff{.initial_delay = 10ms, .max_delay = 300ms};
  CHECK(first_delays(backoff, 10) ==
        Durations{10ms, 10ms, 20ms, 30ms, 50ms, 80ms, 130ms, 210ms, 300ms, 300ms});
  CHECK(running_delays(backoff, 10) == first_delays(backoff, 10));
  CHECK(FibonacciBackoff{.initial_delay = 100s}(0) == 60s);
  CHECK(FibonacciBackoff{.min_delay = 3s}(0) == 3s);
  CHECK(FibonacciBackoff{.max_delay = 1s, .min_delay = 3s}(5) == 1s);
  CHECK(FibonacciBackoff{.initial_delay = 0s}(INT_MAX) == 0s);
  CHECK(FibonacciBackoff{.initial_delay = Duration::max()}(INT_MAX) == 60s);
  CHECK(FibonacciBackoff{}(-1) == 1s);
}

TEST_CASE("a Fibonacci backoff reaches the cap far out (fault 8: go-retry #12) [C2]", "[backoff_shapes]") {
  const FibonacciBackoff backoff{.initial_delay = 1ns, .max_delay = max_wait};
  // F(80) = 23,416,728,348,467,685 is the last under 31,536,000,000,000,000 ns; F(93) is more than 2^63.
  CHECK(backoff(79) == 23'416'728'348'467'685ns);
  for (const int retry : {80, 81, 91, 92, 93, 94, 1'000, INT_MAX}) CHECK(backoff(retry) == max_wait);
}

TEST_CASE("a list of delays is used in order, and its last delay repeats [C9]", "[backoff_shapes]") {
  const ListedBackoff backoff{100ms, 1s, 5s};
  CHECK(first_delays(backoff, 5) == Durations{100ms, 1s, 5s, 5s, 5s});
  CHECK(running_delays(backoff, 5) == Durations{100ms, 1s, 5s, 5s, 5s});
  CHECK(backoff(INT_MAX) == 5s);
  CHECK(backoff(-1) == 100ms);
  CHECK(ListedBackoff{std::chrono::duration<double>{0.25}}(0) == 250ms);
}

TEST_CASE("a list of delays clamps its waits to the longest wait, and names invalid ones [C3, C7]",
          "[backoff_shapes]") {
  CHECK(ListedBackoff{std::chrono::hours::max()}(0) == max_wait);
  CHECK(refusal_of([] { return ListedBackoff{1s, -2s}; }) ==
        "encore: delay = -2s is invalid: it must be finite and not negative");
  CHECK(refusal_of([] { return LinearBackoff{.step = -1s}; }).find("step = -1s") != std::string::npos);
  CHECK(refusal_of([] { return FibonacciBackoff{.initial_delay = -1s}; }).find("initial_delay = -1s") !=
        std::string::npos);
  CHECK(refusal_of([] { return ChainedBackoff{-1, ConstantBackoff{}, ConstantBackoff{}}; }) ==
        "encore: retries = -1 is invalid: it must not be negative");
}

TEST_CASE("chained backoffs follow one another, each from its own start [C9]", "[backoff_shapes]") {
  CHECK(first_delays(chain, 5) == Durations{50ms, 50ms, 1s, 2s, 4s});
  CHECK(running_delays(chain, 5) == Durations{50ms, 50ms, 1s, 2s, 4s});
  CHECK(running_delays(chain, 3, 1) == Durations{50ms, 1s, 2s});
  CHECK(running_delays(chain, 2, 2) == Durations{1s, 2s});
  CHECK(running_delays(chain, 2, 4) == Durations{4s, 8s});
  CHECK(chain(INT_MAX) == 60s);
  CHECK(ChainedBackoff{0, ConstantBackoff{}, ListedBackoff{7s}}(0) == 7s);
  CHECK(running_delays(ChainedBackoff{0, ExponentialBackoff{}, ExponentialBackoff{.initial_delay = 3s}}, 2) ==
        Durations{3s, 6s});
}

TEST_CASE("a chain of chained backoffs works in order, in 16 bytes [C9, P9]", "[backoff_shapes]") {
  const ChainedBackoff backoff{
      1, ExponentialBackoff{.initial_delay = 1s},
      ChainedBackoff{2, ExponentialBackoff{.initial_delay = 10s}, FibonacciBackoff{}}};
  const Durations expected{1s, 10s, 20s, 1s, 1s, 2s, 3s};
  CHECK(first_delays(backoff, 7) == expected);
  CHECK(running_delays(backoff, 7) == expected);
  CHECK(running_delays(backoff, 5, 2) == Durations(expected.begin() + 2, expected.end()));
  STATIC_CHECK(sizeof(DelayGenerator<std::remove_const_t<decltype(backoff)>>) <= 16);
}

TEST_CASE("a copy of a delay generator continues where it was copied", "[backoff_shapes]") {
  DelayGenerator progression{chain};
  progression.next(chain);
  progression.next(chain);
  progression.next(chain);
  auto copy = progression;
  CHECK(progression.next(chain) == 2s);
  CHECK(copy.next(chain) == 2s);
  copy = DelayGenerator{chain};
  CHECK(copy.next(chain) == 50ms);
}

TEST_CASE("each part of a chain of backoffs keeps its own cap and floor [C2]", "[backoff_shapes]") {
  const ChainedBackoff backoff{2, ExponentialBackoff{.max_delay = 3s, .min_delay = 2s}, Seconds{}};
  CHECK(encore::cap_of(backoff, 1) == 3s);
  CHECK(encore::cap_of(backoff, 2) == max_wait);
  CHECK(encore::floor_of(backoff, 1) == 2s);
  CHECK(encore::floor_of(backoff, 2) == 0s);
  CHECK(encore::cap_of(backoff) == max_wait);
  CHECK(encore::floor_of(backoff) == 0s);
  CHECK(running_delays(backoff, 5) == Durations{2s, 2s, 0s, 0s, 1s});  // the third would be -1 s
}

TEST_CASE(
    "every backoff shape's delay generator gives the same delays as random access, within 16 bytes [P9]",
    "[backoff_shapes]") {
  const auto agrees = [](const auto& backoff) {
    STATIC_CHECK(sizeof(DelayGenerator<std::remove_cvref_t<decltype(backoff)>>) <= 16);
    DelayGenerator progression{backoff};
    for (int retry = 0; retry < 300; ++retry) {
      CAPTURE(retry);
      REQUIRE(progression.next(backoff) == delay_of(backoff, retry));
    }
  };
  agrees(LinearBackoff{.initial_delay = 1ns, .step = 33ms, .max_delay = 9s});
  agrees(FibonacciBackoff{.initial_delay = 3ns, .max_delay = max_wait});
  agrees(ListedBackoff{1ms, 2ms, 3ms});
  agrees(ConstantBackoff{});
  agrees(chain);
  agrees(ChainedBackoff{100, ExponentialBackoff{.factor = 1.03}, ExponentialBackoff{.factor = 1.7}});
}
