#include "csv.hpp"
#include "delays_of.hpp"
#include "invalid_setting.hpp"
#include <encore/backoff.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <climits>
#include <concepts>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using encore::cap_of;
using encore::ConstantBackoff;
using encore::delay_of;
using encore::DelayGenerator;
using encore::Duration;
using encore::ExponentialBackoff;
using encore::floor_of;
using encore::max_wait;
using encore_tests::is_a_constant;
using encore_tests::refusal_of;

using encore_tests::Durations, encore_tests::first_delays, encore_tests::running_delays;
using Seconds = std::chrono::duration<double>;

constexpr auto infinity = std::numeric_limits<double>::infinity();
constexpr auto not_a_number = std::numeric_limits<double>::quiet_NaN();

// ---- what can be proved before anything runs [C4] ------------------------------------------------------------------

constexpr ExponentialBackoff defaults{};
static_assert(defaults(0) == 1s && defaults(1) == 2s && defaults(5) == 32s && defaults(6) == 60s);

static_assert(defaults(31) == 60s && defaults(32) == 60s && defaults(64) == 60s && defaults(INT_MAX) == 60s);

// An overflowing double would not be a constant.
static_assert(ExponentialBackoff{.factor = 1e308}(1) == 60s);
static_assert(ExponentialBackoff{.factor = 1e308}(INT_MAX) == 60s);
static_assert(ExponentialBackoff{.initial_delay = 1ns, .factor = 1e308, .max_delay = max_wait}(1) ==
              max_wait);
static_assert(ExponentialBackoff{.initial_delay = Duration::max(), .factor = 1.01}(INT_MAX) == 60s);
static_assert(ExponentialBackoff{.initial_delay = 1ns, .factor = 1.01}(INT_MAX) == 60s);
static_assert(ExponentialBackoff{.initial_delay = 1ns, .factor = 1.04}(INT_MAX) == 60s);
static_assert(ExponentialBackoff{.factor = 0.5}(INT_MAX) == 0s);
static_assert(ExponentialBackoff{.factor = 0.999}(INT_MAX) == 0s);
static_assert(ExponentialBackoff{.factor = std::numeric_limits<double>::denorm_min()}(INT_MAX) == 0s);
static_assert(ExponentialBackoff{.factor = 1}(INT_MAX) == 1s);

template <encore::Backoff B>
constexpr Duration sum_of_first(int retries, const B& backoff) {
  Duration sum{};
  DelayGenerator progression{backoff};
  for (int retry = 0; retry < retries; ++retry) sum += progression.next(backoff);
  return sum;
}
static_assert(sum_of_first(7, ExponentialBackoff{}) == 123s);  // 1 + 2 + 4 + 8 + 16 + 32 + 60

static_assert(is_a_constant([] { return ExponentialBackoff{.initial_delay = 2s, .factor = 1.5}; }));

// ---- backoffs as users write them ------------------------------------------------------------------------------------

struct Plain {  // no cap, no floor, and a unit of its own
  using role = encore::role::Backoff;
  constexpr std::chrono::seconds operator()(int retry) const { return std::chrono::seconds{retry}; }
};
struct Wild {  // says anything
  using role = encore::role::Backoff;
  Duration max_delay = 10s;
  std::chrono::milliseconds min_delay = 5ms;
  constexpr Duration operator()(int retry) const {
    return retry % 2 == 0 ? Duration::min() : Duration::max();
  }
};
struct Hours {  // whose own numbers do not fit into nanoseconds
  using role = encore::role::Backoff;
  std::chrono::hours cap() const { return std::chrono::hours::max(); }
  std::chrono::hours floor() const { return std::chrono::hours::min(); }
  std::chrono::hours operator()(int) const { return std::chrono::hours::max(); }
};
struct NoRole {
  Duration operator()(int) const { return 1s; }
};
struct SaysANumber {
  using role = encore::role::Backoff;
  double operator()(int) const { return 1.0; }
};
static_assert(encore::Backoff<Plain> && encore::Backoff<Wild> && encore::Backoff<Hours>);
static_assert(!encore::Backoff<NoRole> && !encore::Backoff<SaysANumber>);

}  // namespace

TEST_CASE("without jitter the wait is initial * factor^k, clamped to the cap: every row of delays.csv [C1]",
          "[backoff]") {
  const auto rows = encore_tests::rows_of("delays.csv");
  REQUIRE(rows.size() == 9);
  for (const auto& row : rows) {
    INFO(row.where());
    const ExponentialBackoff backoff{.initial_delay = Seconds{row.number("initial_s")},
                                     .factor = row.number("factor"),
                                     .max_delay = Seconds{row.number("max_s")}};
    Durations expected;
    for (int wait = 1; wait <= 8; ++wait)
      expected.push_back(encore::to_duration(Seconds{row.number("w" + std::to_string(wait))}));
    CHECK(first_delays(backoff, 8) == expected);
    CHECK(running_delays(backoff, 8) == expected);
  }
}

TEST_CASE("the default backoff starts at 1 s, doubles, and is at most 60 s [A1]", "[backoff]") {
  CHECK(first_delays(ExponentialBackoff{}, 8) == Durations{1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s});
}

TEST_CASE("backoff factors 0 and 1 both mean a constant delay [C1]", "[backoff]") {
  CHECK(first_delays(ExponentialBackoff{.factor = 0}, 3) == Durations{1s, 1s, 1s});
  CHECK(first_delays(ExponentialBackoff{.factor = 1}, 3) == Durations{1s, 1s, 1s});
  CHECK(running_delays(ExponentialBackoff{.factor = 0}, 3) == Durations{1s, 1s, 1s});
  CHECK(ExponentialBackoff{.factor = 0}(INT_MAX) == 1s);
}

TEST_CASE("a backoff factor below 1 shrinks from the initial delay, not from the cap [C1]", "[backoff]") {
  // 100, 50, 25: min(100 * 0.5^k, 60).
  const ExponentialBackoff backoff{.initial_delay = 100s, .factor = 0.5, .max_delay = 60s};
  CHECK(first_delays(backoff, 3) == Durations{60s, 50s, 25s});
  CHECK(running_delays(backoff, 3) == Durations{60s, 50s, 25s});
  // Duration::max() is 2^63 ns, less one; halved 31 times, 2^32 ns.
  const ExponentialBackoff longest{.initial_delay = Duration::max(), .factor = 0.5, .max_delay = max_wait};
  CHECK(longest(0) == max_wait);
  CHECK(longest(31) == 4'294'967'296ns);
}

TEST_CASE("a backoff's cap holds from the first wait on, and so does its floor [C2, C3]", "[backoff]") {
  CHECK(ExponentialBackoff{.initial_delay = 100s}(0) == 60s);
  CHECK(running_delays(ExponentialBackoff{.initial_delay = 100s}, 2) == Durations{60s, 60s});
  const ExponentialBackoff raised{.initial_delay = 1s, .max_delay = 8s, .min_delay = 3s};
  CHECK(first_delays(raised, 5) == Durations{3s, 3s, 4s, 8s, 8s});
  CHECK(running_delays(raised, 5) == Durations{3s, 3s, 4s, 8s, 8s});
  CHECK(delay_of(ExponentialBackoff{.max_delay = 2s, .min_delay = 5s}, 0) == 2s);  // the cap wins
}

TEST_CASE(
    "a backoff setting that is not a finite, non-negative number is invalid, and the error names it [C3]",
    "[backoff]") {
  CHECK(refusal_of([] { return ExponentialBackoff{.initial_delay = -1s}; }) ==
        "encore: initial_delay = -1s is invalid: it must be finite and not negative");
  CHECK(refusal_of([] {
          return ExponentialBackoff{.initial_delay = Seconds{not_a_number}};
        }).find("initial_delay = nan") != std::string::npos);
  CHECK(refusal_of([] { return ExponentialBackoff{.factor = -0.5}; }) ==
        "encore: factor = -0.5 is invalid: it must be finite and not negative");
  CHECK(refusal_of([] { return ExponentialBackoff{.factor = infinity}; }).find("factor = inf") !=
        std::string::npos);
  CHECK(refusal_of([] { return ExponentialBackoff{.factor = not_a_number}; }).find("factor = ") !=
        std::string::npos);
  CHECK(refusal_of([] { return ExponentialBackoff{.max_delay = -1ns}; }).find("max_delay = -1e-09s") !=
        std::string::npos);
  CHECK(refusal_of([] {
          return ExponentialBackoff{.max_delay = Seconds{infinity}};
        }).find("max_delay = inf") != std::string::npos);
  CHECK(refusal_of([] { return ExponentialBackoff{.min_delay = -1s}; }).find("min_delay = -1s") !=
        std::string::npos);
  CHECK(refusal_of([] { return ConstantBackoff{.delay = -1s}; }).find("delay = -1s") != std::string::npos);
}

TEST_CASE("an invalid backoff setting in a constant expression does not compile [C3]", "[backoff]") {
  STATIC_CHECK_FALSE(is_a_constant([] { return ExponentialBackoff{.initial_delay = -1s}; }));
  STATIC_CHECK_FALSE(is_a_constant([] { return ExponentialBackoff{.factor = -1.0}; }));
  STATIC_CHECK_FALSE(is_a_constant([] { return ExponentialBackoff{.factor = infinity}; }));
  STATIC_CHECK_FALSE(is_a_constant([] { return ExponentialBackoff{.max_delay = -1s}; }));
  STATIC_CHECK_FALSE(is_a_constant([] { return ConstantBackoff{.delay = -1s}; }));
}

TEST_CASE(
    "every delay is in [0, cap], also after 32 retries and multiples of that [C2] (fault 1: aws-sdk-cpp "
    "#1713)",
    "[backoff]") {
  // A shift was negative beyond 31 and small again at multiples of 32.
  const ExponentialBackoff backoff{.initial_delay = 25ms, .max_delay = 20s};
  DelayGenerator progression{backoff};
  for (int retry = 0; retry <= 10'000; ++retry) {
    CAPTURE(retry);
    const Duration expected = retry < 10 ? 25ms * (1 << retry) : 20s;  // 25 ms * 2^10 = 25.6 s
    REQUIRE(backoff(retry) == expected);
    REQUIRE(progression.next(backoff) == expected);
  }
}

TEST_CASE("an initial delay of 0 stays 0, and never becomes NaN [C2] (fault 2: folly c663849fe)",
          "[backoff]") {
  // 0 * 2^1025 is 0 * infinity in doubles.
  const ExponentialBackoff backoff{.initial_delay = 0s, .max_delay = 2s};
  CHECK(backoff(1'025) == 0s);
  CHECK(running_delays(backoff, 3, 1'025) == Durations{0s, 0s, 0s});
}

TEST_CASE("the first retry waits the initial delay (fault 3: Azure-sdk-cpp #7132)", "[backoff]") {
  CHECK(ExponentialBackoff{.initial_delay = 800ms}(0) == 800ms);  // not 400 ms, nor a shift by -1
  CHECK(ExponentialBackoff{.initial_delay = 800ms}(-1) == 800ms);
}

TEST_CASE("100 retries from 1 s under a cap of 10 ms are 100 waits of 10 ms (fault 5: tryhard #24)",
          "[backoff]") {
  const ExponentialBackoff backoff{.initial_delay = 1s, .max_delay = 10ms};
  CHECK(running_delays(backoff, 100) == Durations(100, 10ms));
  CHECK(first_delays(backoff, 100) == Durations(100, 10ms));
}

TEST_CASE("waits never start over: they do not decrease until the cap is reached [C2] (fault 6: Dekaf #3068)",
          "[backoff]") {
  for (const double factor : {1.0, 1.0000001, 1.1, 1.5, 2.0, 10.0, 1e9, 1e300}) {
    CAPTURE(factor);
    const ExponentialBackoff backoff{.initial_delay = 3ns, .factor = factor, .max_delay = max_wait};
    Duration before{};
    for (int retry = 0; retry < 2'000; ++retry) {
      CAPTURE(retry);
      const Duration delay = backoff(retry);
      REQUIRE(delay >= before);
      REQUIRE(delay <= max_wait);
      before = delay;
    }
  }
}

TEST_CASE("a large cap is reached: the delay saturates, not the exponent (fault 7: Ray #61003)",
          "[backoff]") {
  // 1.1^k reaches 31,536,000 from 1 s on at k = 182: ln 31,536,000 / ln 1.1 = 181.2; a clamp at 63 stops at 405 s.
  const ExponentialBackoff slow{.factor = 1.1, .max_delay = max_wait};
  CHECK(slow(181) < max_wait);
  CHECK(slow(181) > 8'500h);
  CHECK(slow(182) == max_wait);
  CHECK(running_delays(slow, 183).back() == max_wait);
}

TEST_CASE("no wait is longer than a year, whatever is set [C7] (fault 10)", "[backoff]") {
  CHECK(delay_of(ConstantBackoff{.delay = Duration::max()}, 0) == 8'760h);
  CHECK(ConstantBackoff{.delay = Duration::max()}(7) == 8'760h);
  CHECK(ConstantBackoff{.delay = std::chrono::hours::max()}(7) == 8'760h);
  const ExponentialBackoff endless{.initial_delay = Duration::max(), .max_delay = Duration::max()};
  CHECK(cap_of(endless) == 8'760h);
  CHECK(endless(0) == 8'760h);
  CHECK(endless(INT_MAX) == 8'760h);
}

TEST_CASE(
    "a backoff's cap and floor are found by their member names, and limited to the longest wait [C2, C7]",
    "[backoff]") {
  CHECK(cap_of(ExponentialBackoff{.max_delay = 5s}) == 5s);
  CHECK(floor_of(ExponentialBackoff{.min_delay = 5ms}) == 5ms);
  CHECK(cap_of(Plain{}) == max_wait);
  CHECK(floor_of(Plain{}) == 0s);
  CHECK(cap_of(Wild{}) == 10s);
  CHECK(floor_of(Wild{}) == 5ms);
  CHECK(cap_of(Wild{.max_delay = -1s}) == 0s);
  CHECK(cap_of(Hours{}) == max_wait);
  CHECK(floor_of(Hours{}) == 0s);
  CHECK(cap_of(ExponentialBackoff{.max_delay = 5s}, 9) == 5s);
  CHECK(floor_of(ExponentialBackoff{.min_delay = 5ms}, 9) == 5ms);
}

TEST_CASE("a custom backoff is clamped between its floor and cap, whatever it returns [C2, C9]",
          "[backoff]") {
  CHECK(running_delays(Plain{}, 3, 5) == Durations{5s, 6s, 7s});
  CHECK(running_delays(Wild{}, 4) == Durations{5ms, 10s, 5ms, 10s});
  CHECK(running_delays(Wild{.max_delay = 1ms}, 2) == Durations{1ms, 1ms});  // a cap under the floor
  CHECK(running_delays(Hours{}, 1) == Durations{max_wait});
}

TEST_CASE("a delay generator gives the same delays as random access, from any retry on", "[backoff]") {
  for (const double factor : {0.3, 0.5, 0.97, 1.0, 1.007, 1.07, 1.5, 2.0, 3.7, 100.0, 1e17, 1e308}) {
    for (const Duration initial :
         {Duration{0}, Duration{1}, Duration{777'777'777}, Duration{90min}, Duration::max()}) {
      const ExponentialBackoff backoff{
          .initial_delay = initial, .factor = factor, .max_delay = 1000h, .min_delay = 3ns};
      CAPTURE(factor, initial.count());
      DelayGenerator progression{backoff};
      DelayGenerator from_the_middle{backoff, 500};
      for (int retry = 0; retry <= 1'024; ++retry) {
        CAPTURE(retry);
        const Duration delay = backoff(retry);
        REQUIRE(progression.next(backoff) == delay);
        if (retry >= 500) REQUIRE(from_the_middle.next(backoff) == delay);
      }
    }
  }
}

TEST_CASE("a backoff factor barely over 1 is exact up to the largest retry count", "[backoff]") {
  // 1.000000001^2147483647 = e^(2147483647 * ln 1.000000001) = e^2.14748364593 = 8.5632...
  const ExponentialBackoff creeping{.factor = 1.000000001, .max_delay = 1h};
  CHECK(creeping(INT_MAX) > 8'563ms);
  CHECK(creeping(INT_MAX) < 8'564ms);
  // 1.00001^1,000,000 = e^(1e6 * 9.99995e-6) = e^9.99995 = 22025.36...; both forms round a million times at 2^-53 each.
  const ExponentialBackoff slow{.initial_delay = 1ms, .factor = 1.00001, .max_delay = 1h};
  DelayGenerator progression{slow};
  for (int retry = 0; retry < 1'000'000; ++retry) progression.next(slow);
  const Duration running = progression.next(slow);
  CHECK(running > 22'025ms);
  CHECK(running < 22'026ms);
  CHECK(running - slow(1'000'000) <= 3ns);  // 22,025 ms * 10^6 * 2^-53 = 2.4 ns
  CHECK(slow(1'000'000) - running <= 3ns);
}

TEST_CASE("a delay generator counts up to the largest retry and stays there", "[backoff]") {
  DelayGenerator progression{Plain{}, INT_MAX - 1};
  CHECK(progression.retry() == INT_MAX - 1);
  CHECK(progression.next(Plain{}) == max_wait);
  CHECK(progression.retry() == INT_MAX);
  progression.next(Plain{});
  progression.next(Plain{});
  CHECK(progression.retry() == INT_MAX);
}

TEST_CASE("a delay generator is at most 16 bytes [P9]", "[backoff]") {
  STATIC_CHECK(sizeof(DelayGenerator<ExponentialBackoff>) <= 16);
  STATIC_CHECK(sizeof(DelayGenerator<ConstantBackoff>) <= 16);
  STATIC_CHECK(sizeof(DelayGenerator<Plain>) <= 16);
}
