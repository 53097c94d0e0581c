#include <encore/duration.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>

namespace {

using namespace std::chrono_literals;
using encore::at_least_one;
using encore::clamp;
using encore::Duration;
using encore::earlier_of;
using encore::later;
using encore::max_wait;
using encore::nearest_duration;
using encore::sum_of;
using encore::time_between;
using encore::TimePoint;
using encore::to_duration;
using encore::WallTime;

using Seconds = std::chrono::duration<double>;
using Picoseconds = std::chrono::duration<std::int64_t, std::pico>;
using Frames = std::chrono::duration<int, std::ratio<1, 60>>;
using VideoTicks = std::chrono::duration<std::int64_t, std::ratio<1, 90'000>>;

constexpr auto infinity = std::numeric_limits<double>::infinity();
constexpr auto not_a_number = std::numeric_limits<double>::quiet_NaN();

// Whole units.
// Sums stay at the end of their range. (C7)
static_assert(sum_of(1s, 2s) == 3s);
static_assert(sum_of((Duration::max)(), 1ns) == (Duration::max)());
static_assert(sum_of((Duration::max)(), (Duration::max)()) == (Duration::max)());
static_assert(to_duration(Seconds{0.4}) == 400ms);
static_assert(to_duration(Seconds{1e30}) == Duration::max());
static_assert(to_duration(Picoseconds{1}) == Duration{1});
static_assert(to_duration(std::chrono::hours::max()) == Duration::max());
static_assert(to_duration(3s) == Duration{3'000'000'000});
static_assert(to_duration(-3s) == Duration{-3'000'000'000});
static_assert(to_duration(std::chrono::duration<unsigned char>{200}) == 200s);

// 9,223,372,036 s are the most whole seconds in 2^63 - 1 ns.
static_assert(to_duration(std::chrono::seconds{9'223'372'036}) == Duration{9'223'372'036'000'000'000});
static_assert(to_duration(std::chrono::seconds{9'223'372'037}) == Duration::max());
static_assert(to_duration(std::chrono::seconds{-9'223'372'036}) == Duration{-9'223'372'036'000'000'000});
static_assert(to_duration(std::chrono::seconds{-9'223'372'037}) == Duration::min());
static_assert(to_duration(std::chrono::hours::min()) == Duration::min());
static_assert(to_duration(Duration::min()) == Duration::min());
static_assert(to_duration(std::chrono::duration<std::uint64_t>{18'446'744'073'709'551'615U}) ==
              Duration::max());
static_assert(to_duration(std::chrono::duration<std::uint64_t, std::pico>{18'446'744'073'709'551'615U}) ==
              Duration{18'446'744'073'709'552});

// Units that are no whole number of nanoseconds: 1/60 s = 16,666,666.67 ns; 1/90,000 s = 11,111.11 ns.
static_assert(to_duration(Frames{1}) == Duration{16'666'667});
static_assert(to_duration(Frames{3}) == 50ms);
static_assert(to_duration(Frames{-1}) == Duration{-16'666'666});
static_assert(to_duration(VideoTicks{1}) == Duration{11'112});
static_assert(to_duration(VideoTicks{90'000}) == 1s);
static_assert(to_duration(VideoTicks{std::numeric_limits<std::int64_t>::max()}) == Duration::max());

}  // namespace

TEST_CASE("a part of a nanosecond is rounded up, towards the future [E1]", "[duration]") {
  CHECK(to_duration(Picoseconds{1}) == 1ns);
  CHECK(to_duration(Picoseconds{1'000}) == 1ns);
  CHECK(to_duration(Picoseconds{1'001}) == 2ns);
  CHECK(to_duration(Picoseconds{-1'999}) == -1ns);
  CHECK(to_duration(std::chrono::duration<double, std::nano>{2.25}) == 3ns);
  CHECK(to_duration(std::chrono::duration<double, std::nano>{-2.25}) == -2ns);
}

TEST_CASE("a decimal fraction of a second is exact, without an extra nanosecond [E1]", "[duration]") {
  CHECK(to_duration(Seconds{0.4}) == 400ms);      // as a double it is 0.40000000000000002
  CHECK(to_duration(Seconds{16.1}) == 16'100ms);  // 16.100000000000001
  CHECK(to_duration(Seconds{-16.1}) == -16'100ms);
  CHECK(to_duration(std::chrono::duration<long double>{16.1L}) == 16'100ms);
  CHECK(to_duration(std::chrono::duration<double, std::ratio<3600>>{0.7}) == 42min);
  CHECK(to_duration(std::chrono::duration<float>{0.5F}) == 500ms);
  CHECK(to_duration(std::chrono::duration<float>{16.1F}) ==
        16'100'000'381ns);  // a float's own 16.1, to the nanosecond
}

TEST_CASE("seconds as a double are exact for each of the first million milliseconds [D1, E1]", "[duration]") {
  auto not_exact = 0, not_exact_below_zero = 0;
  for (int count = 1; count <= 1'000'000; ++count) {
    not_exact += to_duration(Seconds{count / 1000.0}) != std::chrono::milliseconds{count};
    not_exact_below_zero += to_duration(Seconds{count / -1000.0}) != std::chrono::milliseconds{-count};
  }
  CHECK(not_exact == 0);
  CHECK(not_exact_below_zero == 0);
}

TEST_CASE("a part of a nanosecond in a double is rounded up, however small it is [E1]", "[duration]") {
  using Nanoseconds = std::chrono::duration<double, std::nano>;
  CHECK(to_duration(Nanoseconds{1e-300}) == 1ns);
  CHECK(to_duration(Nanoseconds{1.000'000'1}) == 2ns);
  CHECK(to_duration(Nanoseconds{4'503'599'627'370'495.5}) ==
        4'503'599'627'370'495ns);  // 2^52: it may be off by that half
  CHECK(to_duration(std::chrono::duration<long double, std::nano>{9'223'372'036'854'775'806.5L}) >=
        9'223'372'036'854'775'806ns);
}

TEST_CASE(
    "a timeout in whole units is rounded up, at least one, and at most what the unit can represent [D6]",
    "[duration]") {
  using std::chrono::milliseconds, std::chrono::seconds;
  using Ticks = std::chrono::duration<std::int16_t, std::ratio<1, 100>>;
  CHECK(at_least_one<milliseconds>(1'500us) == 2ms);
  CHECK(at_least_one<milliseconds>(2ms) == 2ms);
  CHECK(at_least_one<milliseconds>(1ns) == 1ms);
  CHECK(at_least_one<milliseconds>(0ns) == 1ms);
  CHECK(at_least_one<milliseconds>(-5s) == 1ms);
  CHECK(at_least_one<seconds>(Duration::max()) == 9'223'372'037s);
  CHECK(at_least_one<Duration>(Duration::max()) == Duration::max());
  CHECK(at_least_one<Ticks>(1h).count() == 32'767);
  CHECK(at_least_one<std::chrono::duration<std::uint64_t, std::milli>>(Duration::min()).count() == 1);
}

TEST_CASE("no number of seconds overflows or is undefined as a duration [C7]", "[duration]") {
  CHECK(to_duration(Seconds{1e30}) == Duration::max());
  CHECK(to_duration(Seconds{-1e30}) == Duration::min());
  CHECK(to_duration(Seconds{infinity}) == Duration::max());
  CHECK(to_duration(Seconds{-infinity}) == Duration::min());
  CHECK(to_duration(Seconds{not_a_number}) == Duration::zero());
  CHECK(to_duration(std::chrono::hours::max()) == Duration::max());
}

TEST_CASE("a computed number of nanoseconds is rounded to the nearest one, halves up", "[duration]") {
  CHECK(nearest_duration(0.0) == 0ns);
  CHECK(nearest_duration(0.5) == 1ns);
  CHECK(nearest_duration(2.5) == 3ns);
  CHECK(nearest_duration(2.499) == 2ns);
  // The number before one half; and whole odd numbers from 2^52 on, where one half added would round to even, away from them.
  CHECK(nearest_duration(0x1.fffffffffffffp-2) == 0ns);
  CHECK(nearest_duration(4'503'599'627'370'497.0) == Duration{4'503'599'627'370'497});
  CHECK(nearest_duration(9'007'199'254'740'991.0) == Duration{9'007'199'254'740'991});
  CHECK(nearest_duration(0x1.fffffffffffffp62) == Duration{9'223'372'036'854'774'784});  // 2^63 - 1024
}

TEST_CASE("a wait is clamped between floor and cap, and the cap wins [C2]", "[duration]") {
  CHECK(clamp(2s, 1s, 3s) == 2s);
  CHECK(clamp(0s, 1s, 3s) == 1s);
  CHECK(clamp(4s, 1s, 3s) == 3s);
  CHECK(clamp(4s, 3s, 1s) == 1s);
  CHECK(clamp(0s, 3s, 1s) == 1s);
}

TEST_CASE("the time between two points is neither negative nor wrapped [C7, D7]", "[duration]") {
  const TimePoint noon{12h};
  CHECK(time_between(noon, noon + 3s) == 3s);
  CHECK(time_between(noon, noon) == 0s);
  CHECK(time_between(noon, noon - 3s) == 0s);  // (fault 19: aws #2275: the clock stepped back)
  CHECK(time_between(TimePoint::min(), TimePoint::max()) == Duration::max());
  CHECK(time_between(TimePoint::min(), TimePoint{}) == Duration::max());
  CHECK(time_between(TimePoint{-1ns}, TimePoint::max()) == Duration::max());
  CHECK(time_between(TimePoint{-2s}, TimePoint{-1s}) == 1s);
  CHECK(time_between(WallTime{1s}, WallTime{3s}) == 2s);
  CHECK(time_between(WallTime{3s}, WallTime{1s}) == 0s);
  CHECK(time_between(WallTime::min(), WallTime::max()) == Duration::max());
}

TEST_CASE("a point in time plus a duration stays in the range [C7]", "[duration]") {
  CHECK(later(TimePoint{1s}, 2s) == TimePoint{3s});
  CHECK(later(TimePoint{1s}, -2s) == TimePoint{-1s});
  CHECK(later(TimePoint{1s}, Duration::max()) == TimePoint::max());
  CHECK(later(TimePoint::max(), 1ns) == TimePoint::max());
  CHECK(later(TimePoint::min(), -1ns) == TimePoint::min());
  CHECK(later(TimePoint{-1s}, Duration::min()) == TimePoint::min());
  CHECK(later(TimePoint::min(), Duration::max()) == TimePoint{-1ns});
  CHECK(later(WallTime{3s}, -2s) == WallTime{1s});
  CHECK(later(WallTime::max(), 1ns) == WallTime::max());
  CHECK(later(WallTime::min(), -1ns) == WallTime::min());
}

TEST_CASE("the earlier of two points in time is found in either order, at the ends of the range too",
          "[duration]") {
  CHECK(earlier_of(TimePoint{1s}, TimePoint{2s}) == TimePoint{1s});
  CHECK(earlier_of(TimePoint{2s}, TimePoint{-1s}) == TimePoint{-1s});
  CHECK(earlier_of(TimePoint::min(), TimePoint::max()) == TimePoint::min());
  CHECK(earlier_of(TimePoint::max(), TimePoint::min()) == TimePoint::min());
}

TEST_CASE("whole seconds become durations, up to the largest int", "[duration]") {
  CHECK(encore::whole_seconds(60) == 1min);
  CHECK(encore::whole_seconds(2'147'483'647) == 2'147'483'647s);
}

TEST_CASE("the longest wait is 8,760 hours, and a clock accepts it [C7]", "[duration]") {
  CHECK(max_wait == 365 * 24h);
  // (fault 10) nanoseconds::max() overflows where it is added to now(); this one does not, for the next 291 years.
  CHECK(later(TimePoint{std::chrono::steady_clock::now()}, max_wait) < TimePoint::max());
}

TEST_CASE("only a floating-point duration can be NaN [C3]", "[duration]") {
  CHECK(encore::is_number(5s));
  CHECK(encore::is_number(Seconds{infinity}));
  CHECK_FALSE(encore::is_number(Seconds{not_a_number}));
}
