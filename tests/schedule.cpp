#include "csv.hpp"
#include <encore/backoff_shapes.hpp>
#include <encore/jitter_shapes.hpp>
#include <encore/schedule.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <climits>
#include <cmath>
#include <cstddef>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using encore::ChainedBackoff;
using encore::ConstantBackoff;
using encore::DecorrelatedJitter;
using encore::delay_at;
using encore::Duration;
using encore::EqualJitter;
using encore::ExponentialBackoff;
using encore::FullJitter;
using encore::JitterInput;
using encore::max_wait;
using encore::NoJitter;
using encore::preview;
using encore::ProportionalJitter;
using encore::Schedule;
using encore::WaitGenerator;
using encore::WaitRange;

// ---- a bound on the worst total wait, proved before anything runs [C4, C10] ----------------------------------------

// The defaults wait 1 s and 2 s, each a quarter more or less: together 2.25 s to 3.75 s.
constexpr Schedule defaults{ExponentialBackoff{}, ProportionalJitter{}, 2};
static_assert(defaults.total().min == 2'250ms);
static_assert(defaults.total().median == 3s);
static_assert(defaults.total().max <= 3'750ms);
static_assert(defaults.total().max > 3'749'999us);
static_assert(defaults[1].min == 1'500ms);
static_assert(defaults.size() == 2);
static_assert(Schedule{ConstantBackoff{.delay = 50ms}, NoJitter{}, 1'000}.total().max == 50s);
static_assert(preview(ExponentialBackoff{}, FullJitter{}, INT_MAX).median == 30s);
static_assert(std::ranges::input_range<const decltype(defaults)> &&
              std::ranges::sized_range<const decltype(defaults)>);

using Ranges = std::vector<WaitRange>;

template <class S>
Ranges all_of(const S& schedule) {
  Ranges ranges;
  for (const WaitRange& range : schedule) ranges.push_back(range);
  return ranges;
}

constexpr WaitRange exactly(Duration wait) { return {.min = wait, .median = wait, .max = wait}; }

const ExponentialBackoff table{.initial_delay = 100ms, .factor = 2.0, .max_delay = 1s};

/// A wait of a row of jitter.csv, by random access and by the running form, which must agree.
template <encore::Jitter J>
double wait_of(const J& jitter, double draw, int retry) {
  WaitGenerator<ExponentialBackoff, J> waits{table};
  for (int before = 0; before < retry; ++before) waits.next(table, jitter, draw);
  const auto wait = waits.next(table, jitter, draw);
  CHECK(delay_at(table, jitter, retry, draw) == wait);
  return std::chrono::duration<double, std::milli>{wait}.count();
}
double wait_of(const std::string& jitter, double draw, int retry) {
  if (jitter == "none") return wait_of(NoJitter{}, draw, retry);
  if (jitter == "full") return wait_of(FullJitter{}, draw, retry);
  if (jitter == "equal") return wait_of(EqualJitter{}, draw, retry);
  if (jitter == "proportional_0.25") return wait_of(ProportionalJitter{.ratio = 0.25}, draw, retry);
  if (jitter == "decorrelated") return wait_of(DecorrelatedJitter{}, draw, retry);
  throw std::runtime_error{"unknown jitter " + jitter};
}

struct HalfAsMuchAgain {  // of the wait before; looks back, as a jitter of one's own is taken to do
  using role = encore::role::Jitter;
  constexpr Duration operator()(const JitterInput& input) const {
    return input.previous + input.previous / 2;
  }
};

}  // namespace

TEST_CASE("backoff and jitter together give the published waits: every row of jitter.csv [C2, C9]",
          "[schedule]") {
  const auto rows = encore_tests::rows_of("jitter.csv");
  REQUIRE(rows.size() == 20);
  for (const auto& row : rows) {
    for (int retry = 0; retry < 6; ++retry) {
      INFO(row.where());
      CAPTURE(retry);
      const double published = row.number("w" + std::to_string(retry + 1));
      CHECK(std::abs(wait_of(row.text("jitter"), row.number("u"), retry) - published) <= 1e-4);
    }
  }
}

TEST_CASE("a schedule without jitter is the backoff's own: every row of delays.csv [C1, C10]", "[schedule]") {
  for (const auto& row : encore_tests::rows_of("delays.csv")) {
    INFO(row.where());
    const auto seconds = [&](const std::string& column) {
      return encore::to_duration(std::chrono::duration<double>{row.number(column)});
    };
    const Schedule schedule{ExponentialBackoff{.initial_delay = seconds("initial_s"),
                                               .factor = row.number("factor"),
                                               .max_delay = seconds("max_s")},
                            NoJitter{}, 8};
    Ranges expected;
    WaitRange total;
    for (int wait = 1; wait <= 8; ++wait) {
      expected.push_back(exactly(seconds("w" + std::to_string(wait))));
      total = exactly(total.min + expected.back().min);
    }
    CHECK(all_of(schedule) == expected);
    CHECK(schedule.total() == total);
  }
}

TEST_CASE("three failing attempts have two waits between them (fault 3: Azure-sdk-cpp #7132) [C6, C10]",
          "[schedule]") {
  CHECK(all_of(Schedule{ExponentialBackoff{.initial_delay = 800ms}, NoJitter{}, 2}) ==
        Ranges{exactly(800ms), exactly(1'600ms)});
}

TEST_CASE("a schedule without retries has no waits [C6, C10]", "[schedule]") {
  const Schedule schedule{ExponentialBackoff{}, ProportionalJitter{}, 0};
  CHECK(all_of(schedule).empty());
  CHECK(schedule.size() == 0);
  CHECK(schedule.total() == WaitRange{});
}

TEST_CASE("each wait of a schedule has its minimum, median and maximum [C10]", "[schedule]") {
  // 100 ms is spread by a quarter; just under 125 ms is 125 ms to the nanosecond.
  CHECK(preview(table, ProportionalJitter{}, 0) == WaitRange{.min = 75ms, .median = 100ms, .max = 125ms});
  CHECK(preview(table, EqualJitter{}, 2) == WaitRange{.min = 200ms, .median = 300ms, .max = 400ms});
  CHECK(preview(table, FullJitter{}, 9) == WaitRange{.min = 0ms, .median = 500ms, .max = 1s});
  CHECK(preview(table, NoJitter{}, 9) == exactly(1s));
}

TEST_CASE("in a schedule with decorrelated jitter each column is computed from itself [C10]", "[schedule]") {
  // least: 100 for ever. middle: 100 + (300-100)/2 = 200, 100 + (600-100)/2 = 350, 100 + (1000-100)/2 = 550.
  // greatest: 300, 900, 1000, the cap.
  const Schedule schedule{table, DecorrelatedJitter{}, 3};
  const Ranges expected{{.min = 100ms, .median = 200ms, .max = 300ms},
                        {.min = 100ms, .median = 350ms, .max = 900ms},
                        {.min = 100ms, .median = 550ms, .max = 1s}};
  CHECK(all_of(schedule) == expected);
  CHECK(schedule[2] == expected[2]);
  CHECK(schedule.total() == WaitRange{.min = 300ms, .median = 1'100ms, .max = 2'200ms});
  // One's own: 150, 225, 337.5 of an initial 100.
  CHECK(delay_at(table, HalfAsMuchAgain{}, 2, 0.0) == 337'500us);
}

TEST_CASE("iterating a schedule gives the same waits as indexing it [C10]", "[schedule]") {
  const auto agrees = [](const auto& schedule) {
    int retry = 0;
    for (const WaitRange& range : schedule) {
      CAPTURE(retry);
      CHECK(range == schedule[retry++]);
    }
    CHECK(static_cast<std::size_t>(retry) == schedule.size());
  };
  agrees(Schedule{table, ProportionalJitter{}, 12});
  agrees(Schedule{table, DecorrelatedJitter{}, 12});
  agrees(
      Schedule{ChainedBackoff{3, ConstantBackoff{.delay = 50ms}, table}, FullJitter{.at_least = 20ms}, 12});
}

TEST_CASE("a schedule of the maximum number of retries can be read without being stored [C10]",
          "[schedule]") {
  const Schedule schedule{ExponentialBackoff{}, ProportionalJitter{}, INT_MAX};
  CHECK(schedule.size() == 2'147'483'647U);
  CHECK((*schedule.begin()).median == 1s);
  CHECK(schedule[INT_MAX - 1].median == 48s);  // 60 / 1.25
}

TEST_CASE("a schedule's totals saturate at the end of the range instead of wrapping [C7, C10]",
          "[schedule]") {
  // 292 waits of 8,760 h are 9,208,512,000 s, which fits into 2^63 ns = 9,223,372,036 s; 293 do not.
  const ConstantBackoff longest{.delay = max_wait};
  CHECK(Schedule{longest, NoJitter{}, 292}.total() == exactly(std::chrono::seconds{9'208'512'000}));
  CHECK(Schedule{longest, NoJitter{}, 293}.total() == exactly(Duration::max()));
  CHECK(Schedule{longest, NoJitter{}, 1'000}.total() == exactly(Duration::max()));
}

TEST_CASE("a schedule's jitter keeps each part of a chain under that part's cap and over its floor [C2]",
          "[schedule]") {
  const ChainedBackoff backoff{2, ExponentialBackoff{.initial_delay = 4s, .max_delay = 4s},
                               ConstantBackoff{.delay = 100s}};
  const Schedule schedule{backoff, ProportionalJitter{}, 3};
  CHECK(schedule[1].max == 4s);
  CHECK(schedule[2].max == 125s);
  const ExponentialBackoff raised{.initial_delay = 4s, .min_delay = 3'500ms};
  CHECK(preview(raised, ProportionalJitter{}, 0) == WaitRange{.min = 3'500ms, .median = 4s, .max = 5s});
}

TEST_CASE("an initial delay of 0 makes waits of exactly 0 under every jitter of the delay [C5]",
          "[schedule]") {
  const ExponentialBackoff at_once{.initial_delay = 0s};
  CHECK(Schedule{at_once, NoJitter{}, 3}.total() == WaitRange{});
  CHECK(Schedule{at_once, FullJitter{.at_least = 1s}, 3}.total() == WaitRange{});
  CHECK(Schedule{at_once, EqualJitter{}, 3}.total() == WaitRange{});
  CHECK(Schedule{at_once, ProportionalJitter{}, 3}.total() == WaitRange{});
  CHECK(Schedule{at_once, DecorrelatedJitter{}, 3}.total() == WaitRange{});
}
