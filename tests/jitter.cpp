#include "csv.hpp"
#include "invalid_setting.hpp"
#include <encore/jitter.hpp>
#include <encore/jitter_shapes.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using encore::DecorrelatedJitter;
using encore::Duration;
using encore::EqualJitter;
using encore::FullJitter;
using encore::hint_share_of;
using encore::jittered;
using encore::JitterInput;
using encore::lengthened;
using encore::max_wait;
using encore::NoJitter;
using encore::ProportionalJitter;
using encore_tests::is_a_constant;
using encore_tests::refusal_of;

constexpr double max_draw = 0x1.fffffffffffffp-1;  // 1 - 2^-53
constexpr double some_draws[]{0.0, 0x1p-53, 0.1, 0.25, 0.5, 0.75, 0.999, max_draw};

/// A later retry, with the wait before it as long as this delay.
constexpr JitterInput at(Duration delay, Duration cap, double draw) {
  return {.delay = delay, .previous = delay, .initial = delay, .cap = cap, .draw = draw};
}

// ---- what can be proved before anything runs [C4] ------------------------------------------------------------------

static_assert(NoJitter{}(at(800ms, 1s, 0.9)) == 800ms);
static_assert(FullJitter{}(at(800ms, 1s, 0.25)) == 200ms);
static_assert(FullJitter{.at_least = 400ms}(at(800ms, 1s, 0.25)) == 500ms);  // 400 + 400 / 4
static_assert(EqualJitter{}(at(800ms, 1s, 0.25)) == 500ms);                  // 400 + 400 / 4
static_assert(ProportionalJitter{}(at(800ms, 1s, 0.25)) == 700ms);           // 800 * (1 - 0.25 / 2)
static_assert(ProportionalJitter{.ratio = 1.0}(at(400ms, 1s, 0.75)) == 600ms);
static_assert(DecorrelatedJitter{}({.previous = 200ms, .initial = 100ms, .cap = 1s, .draw = 0.5}) == 350ms);

static_assert(!encore::draws<NoJitter> && encore::draws<FullJitter> && encore::draws<ProportionalJitter>);
static_assert(!encore::looks_back<NoJitter> && !encore::looks_back<FullJitter> &&
              !encore::looks_back<EqualJitter> && !encore::looks_back<ProportionalJitter> &&
              encore::looks_back<DecorrelatedJitter>);

// ---- jitters as users write them -----------------------------------------------------------------------------------

struct Coin {
  using role = encore::role::Jitter;
  constexpr Duration operator()(const JitterInput& input) const {
    return input.draw < 0.5 ? input.delay / 2 : input.delay;
  }
};
struct Says {  // anything
  using role = encore::role::Jitter;
  std::chrono::hours answer;
  constexpr std::chrono::hours operator()(const JitterInput&) const { return answer; }
};
struct MinusTwoSeconds {
  using role = encore::role::Jitter;
  static constexpr bool draws = false;
  static constexpr bool looks_back = false;
  constexpr Duration operator()(const JitterInput& input) const { return input.delay - 2s; }
  constexpr double hint_share() const { return 0.5; }
};
struct SaysANumber {
  using role = encore::role::Jitter;
  double operator()(const JitterInput&) const { return 1.0; }
};
static_assert(encore::Jitter<Coin> && encore::Jitter<Says> && encore::Jitter<MinusTwoSeconds>);
static_assert(!encore::Jitter<SaysANumber> && !encore::Jitter<int>);
static_assert(encore::draws<Coin> && encore::looks_back<Coin> && !encore::draws<MinusTwoSeconds> &&
              !encore::looks_back<MinusTwoSeconds>);

static_assert(is_a_constant([] { return ProportionalJitter{.ratio = 1.0}; }));

/// Each of the library's jitters in turn.
void for_each_jitter(auto check) {
  check(NoJitter{});
  check(FullJitter{});
  check(FullJitter{.at_least = 3s});
  check(EqualJitter{});
  check(ProportionalJitter{});
  check(ProportionalJitter{.ratio = 0.0});
  check(ProportionalJitter{.ratio = 1.0});
  check(DecorrelatedJitter{});
}

/// The six waits of a row of jitter.csv, in ms: initial delay 100 ms, doubled, at most 1000 ms.
template <encore::Jitter J>
std::vector<double> six_waits(const J& jitter, double draw) {
  std::vector<double> waits;
  Duration previous = 100ms;
  for (const Duration delay : {100ms, 200ms, 400ms, 800ms, 1000ms, 1000ms}) {
    previous = jittered(
        jitter, {.delay = delay, .previous = previous, .initial = 100ms, .cap = 1s, .draw = draw}, 0s);
    waits.push_back(std::chrono::duration<double, std::milli>{previous}.count());
  }
  return waits;
}
std::vector<double> six_waits(const std::string& jitter, double draw) {
  if (jitter == "none") return six_waits(NoJitter{}, draw);
  if (jitter == "full") return six_waits(FullJitter{}, draw);
  if (jitter == "equal") return six_waits(EqualJitter{}, draw);
  if (jitter == "proportional_0.25") return six_waits(ProportionalJitter{.ratio = 0.25}, draw);
  if (jitter == "decorrelated") return six_waits(DecorrelatedJitter{}, draw);
  throw std::runtime_error{"unknown jitter " + jitter};
}

}  // namespace

TEST_CASE("each jitter gives the published waits: every row of jitter.csv [C2, C9]", "[jitter]") {
  const auto rows = encore_tests::rows_of("jitter.csv");
  REQUIRE(rows.size() == 20);
  for (const auto& row : rows) {
    INFO(row.where());
    const auto waits = six_waits(row.text("jitter"), row.number("u"));
    for (std::size_t wait = 0; wait < 6; ++wait) {
      CAPTURE(wait);
      CHECK(std::abs(waits[wait] - row.number("w" + std::to_string(wait + 1))) <= 1e-4);
    }
  }
}

TEST_CASE("the default jitter is proportional with a quarter [A1]", "[jitter]") {
  CHECK(ProportionalJitter{}.ratio == 0.25);
}

TEST_CASE("no jitter exceeds [0, cap], whatever the delays and the draw [C2]", "[jitter]") {
  constexpr Duration durations[]{0ns, 1ns, 3ns, 1s, 30s, 8'759h, max_wait};
  for_each_jitter([&](const auto& jitter) {
    for (const Duration cap : durations) {
      for (const Duration delay : durations) {
        for (const Duration previous : durations) {
          for (const double draw : some_draws) {
            const auto wait = jittered(jitter,
                                       {.delay = std::min(delay, cap),
                                        .previous = previous,
                                        .initial = delay,
                                        .cap = cap,
                                        .draw = draw},
                                       0s);
            CAPTURE(cap.count(), delay.count(), previous.count(), draw);
            REQUIRE(wait >= 0s);
            REQUIRE(wait <= cap);
          }
        }
      }
    }
  });
}

TEST_CASE("jittered waits stay finite and under the cap however many retries (fault 4: Polly #2163)",
          "[jitter]") {
  // Base 2 s, doubled, at most 30 s; with the draws all equal, at the attempts that were reported and all between.
  for_each_jitter([](const auto& jitter) {
    for (const double draw : some_draws) {
      Duration delay = 2s;
      Duration previous = 2s;
      for (int attempt = 1; attempt <= 1'025; ++attempt) {
        previous = jittered(
            jitter, {.delay = delay, .previous = previous, .initial = 2s, .cap = 30s, .draw = draw}, 0s);
        CAPTURE(draw, attempt);
        REQUIRE(previous >= 0s);
        REQUIRE(previous <= 30s);
        delay = std::min<Duration>(2 * delay, 30s);
      }
    }
  });
}

TEST_CASE("jittered waits at the cap still differ [C2] (fault 9: bifrost #6964)", "[jitter]") {
  // 20 % to both sides of the cap and clamped afterwards, half of the draws lay on the cap.
  std::set<Duration> waits;
  for (int i = 0; i < 1'000; ++i) {
    const auto wait = jittered(ProportionalJitter{.ratio = 0.2}, at(30s, 30s, i / 1'000.0), 0s);
    CHECK(wait >= 20s);  // 30 / 1.2 * 0.8
    CHECK(wait < 30s);
    waits.insert(wait);
  }
  CHECK(waits.size() == 1'000);
}

TEST_CASE("no other jitter accumulates its draws on the cap either [C2]", "[jitter]") {
  const auto different_waits = [](const auto& jitter) {
    std::set<Duration> waits;
    for (int i = 0; i < 1'000; ++i)
      waits.insert(jittered(
          jitter, {.delay = 30s, .previous = 30s, .initial = 1s, .cap = 30s, .draw = i / 1'000.0}, 0s));
    return waits.size();
  };
  CHECK(different_waits(FullJitter{}) == 1'000);
  CHECK(different_waits(EqualJitter{}) == 1'000);
  CHECK(different_waits(DecorrelatedJitter{}) == 1'000);
}

TEST_CASE("a jitter of 0 is a factor of exactly 1 (fault 9: folly 51669993e)", "[jitter]") {
  for (const Duration delay : {Duration{1ns}, Duration{3ns}, Duration{333'333'333ns}, Duration{30s}})
    for (const double draw : some_draws)
      CHECK(jittered(ProportionalJitter{.ratio = 0.0}, at(delay, 30s, draw), 0s) == delay);
}

TEST_CASE("a constant delay still varies with jitter (fault 8: spring-retry #391)", "[jitter]") {
  CHECK(ProportionalJitter{}(at(1s, 60s, 0.0)) == 750ms);
  CHECK(ProportionalJitter{}(at(1s, 60s, 0.5)) == 1s);
  CHECK(ProportionalJitter{}(at(1s, 60s, 0.75)) == 1'125ms);
}

TEST_CASE("a delay plus half of it in jitter is never more than the cap (fault 8: agenda #1748)",
          "[jitter]") {
  // 100 ms doubled, at most 500 ms, jitter 0.5: 750 ms came out. Here 500 / 1.5 = 333 ms is spread from 166 ms to 500 ms.
  CHECK(jittered(ProportionalJitter{.ratio = 0.5}, at(500ms, 500ms, max_draw), 0s) <= 500ms);
  CHECK(jittered(ProportionalJitter{.ratio = 0.5}, at(500ms, 500ms, 0.0), 0s) == 166'666'667ns);
}

TEST_CASE("a jitter larger than the delay makes no negative wait (fault 11)", "[jitter]") {
  CHECK(jittered(MinusTwoSeconds{}, at(1s, 60s, 0.0), 0s) == 0s);
  CHECK(jittered(FullJitter{.at_least = 5s}, at(1s, 60s, 0.0), 0s) == 1s);
  CHECK(jittered(FullJitter{.at_least = 5s}, at(1s, 60s, max_draw), 0s) == 1s);
  CHECK(jittered(ProportionalJitter{.ratio = 1.0}, at(1s, 60s, 0.0), 0s) == 0s);
}

TEST_CASE("a custom jitter is clamped between floor and cap, whatever it returns [C2, C9]", "[jitter]") {
  CHECK(jittered(Coin{}, at(8s, 60s, 0.4), 0s) == 4s);
  CHECK(jittered(Coin{}, at(8s, 60s, 0.6), 0s) == 8s);
  CHECK(jittered(Says{-1h}, at(1s, 60s, 0.5), 0s) == 0s);
  CHECK(jittered(Says{-1h}, at(1s, 60s, 0.5), 3s) == 3s);
  CHECK(jittered(Says{1h}, at(1s, 60s, 0.5), 3s) == 60s);
  CHECK(jittered(Says{std::chrono::hours::max()}, at(1s, 60s, 0.5), 0s) == 60s);
  CHECK(jittered(Says{std::chrono::hours::min()}, at(1s, 60s, 0.5), 0s) == 0s);
  CHECK(jittered(Says{1h}, at(1s, 2s, 0.5), 3s) == 2s);  // a floor over the cap
}

TEST_CASE("a backoff's floor holds under every jitter [C2]", "[jitter]") {
  CHECK(jittered(FullJitter{}, at(10s, 60s, 0.1), 2s) == 2s);
  CHECK(jittered(FullJitter{}, at(10s, 60s, 0.3), 2s) == 3s);
  CHECK(jittered(DecorrelatedJitter{}, at(1s, 60s, 0.0), 2s) == 2s);
}

TEST_CASE("a jittered wait is rounded to the nearest nanosecond [C2]", "[jitter]") {
  CHECK(FullJitter{}(at(3ns, 1s, 0.5)) == 2ns);          // 1.5
  CHECK(FullJitter{}(at(3ns, 1s, 0.125)) == 0ns);        // 0.375
  CHECK(EqualJitter{}(at(5ns, 1s, 0.0)) == 3ns);         // 2.5
  CHECK(ProportionalJitter{}(at(5ns, 1s, 0.0)) == 4ns);  // 3.75
}

TEST_CASE("a jitter ratio outside 0 to 1 and a negative minimum wait are invalid by name [C3]", "[jitter]") {
  constexpr auto not_a_number = std::numeric_limits<double>::quiet_NaN();
  CHECK(refusal_of([] { return ProportionalJitter{.ratio = 25.0}; }) ==
        "encore: ratio = 25 is invalid: it must lie between 0 and 1");
  CHECK(refusal_of([] { return ProportionalJitter{.ratio = -0.1}; }).find("ratio = -0.1") !=
        std::string::npos);
  CHECK(refusal_of([] { return ProportionalJitter{.ratio = not_a_number}; }).find("ratio = ") !=
        std::string::npos);
  CHECK(refusal_of([] { return FullJitter{.at_least = -1s}; }).find("at_least = -1s") != std::string::npos);
  STATIC_CHECK_FALSE(is_a_constant([] { return ProportionalJitter{.ratio = 1.5}; }));
  STATIC_CHECK_FALSE(is_a_constant([] { return FullJitter{.at_least = -1s}; }));
}

TEST_CASE("the same random draw makes the same wait [C8]", "[jitter]") {
  for_each_jitter([](const auto& jitter) {
    CHECK(jittered(jitter, at(10s, 60s, 0.3), 0s) == jittered(jitter, at(10s, 60s, 0.3), 0s));
  });
}

TEST_CASE("a hint is lengthened by at most the jitter's share [E1]", "[jitter]") {
  CHECK(hint_share_of(ProportionalJitter{}) == 0.25);
  CHECK(hint_share_of(ProportionalJitter{.ratio = 0.1}) == 0.1);
  CHECK(hint_share_of(NoJitter{}) == 0.0);
  CHECK(hint_share_of(FullJitter{}) == 0.25);
  CHECK(hint_share_of(DecorrelatedJitter{}) == 0.25);
  CHECK(hint_share_of(MinusTwoSeconds{}) == 0.5);
  CHECK(hint_share_of(Coin{}) == 0.25);

  CHECK(lengthened(100s, 0.25, 0.5) == 112'500ms);
  CHECK(lengthened(100s, 0.25, 0.0) == 100s);
  CHECK(lengthened(100s, 0.25, max_draw) == 125s);
}

TEST_CASE(
    "a hint of 100 s never becomes 76 s, nor a multiple (fault 23: meltano/sdk #1477, promptflow #2073) [E1]",
    "[jitter]") {
  for (const double draw : some_draws) {
    for (const double share : {0.0, 0.1, 0.25, 1.0}) {
      CHECK(lengthened(100s, share, draw) >= 100s);
      CHECK(lengthened(100s, share, draw) <= 200s);
    }
  }
}

TEST_CASE("a hint of 0 stays 0 under jitter, and without jitter any hint stays what it is [E1]", "[jitter]") {
  for (const double draw : some_draws) {
    CHECK(lengthened(0s, 0.25, draw) == 0s);
    CHECK(lengthened(333'333'333ns, hint_share_of(NoJitter{}), draw) == 333'333'333ns);
    CHECK(lengthened(8'759h + 1ns, 0.0, draw) == 8'759h + 1ns);
    CHECK(lengthened(1s, std::numeric_limits<double>::quiet_NaN(), draw) == 1s);
    CHECK(lengthened(1s, -0.5, draw) == 1s);  // a share of one's own making never shortens
  }
}

TEST_CASE(
    "what jitter adds to a hint is rounded up and saturates (fault 22: go-retryablehttp #297, kubevuln #637) "
    "[E1]",
    "[jitter]") {
  CHECK(lengthened(3ns, 0.25, 0.5) == 4ns);  // 3.375
  // The most seconds that fit: wrapped they would be a wait in the past, which is a burst.
  CHECK(lengthened(std::chrono::seconds{9'223'372'036}, 0.25, 0.5) == Duration::max());
  CHECK(lengthened(Duration::max(), 0.25, 0x1p-53) == Duration::max());
  CHECK(lengthened(Duration::max(), 1.0, max_draw) == Duration::max());
}
