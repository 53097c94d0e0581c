#include <encore/clock.hpp>
#include <encore/duration.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>
#include <type_traits>

using namespace std::chrono_literals;
using encore::SteadyClock;

namespace {

static_assert(encore::Clock<SteadyClock>);
static_assert(encore::Clock<encore::testing::FakeClock>);
static_assert(!encore::Clock<std::chrono::steady_clock>);
static_assert(std::is_empty_v<SteadyClock>);

// The one test that sleeps. It would hang, not fail, if a stop request did not end a wait.
TEST_CASE(
    "the real clock waits as long as asked, and a stop request ends the longest wait at once (faults 10, 20) "
    "[K1, C7]",
    "[clock]") {
  std::stop_source source;
  const auto token = source.get_token();
  std::atomic<bool> woke{false};
  const auto begin = SteadyClock::now();
  std::jthread sleeper{[&] {
    SteadyClock::sleep_for(encore::max_wait, token);
    woke = true;
  }};
  SteadyClock::sleep_for(5ms, {});
  CHECK(SteadyClock::now() - begin >= 5ms);
  CHECK_FALSE(woke);  // a year is not over, and no arithmetic has wrapped
  source.request_stop();
  sleeper.join();
  CHECK(woke);
  CHECK(SteadyClock::now() - begin < encore::max_wait);
  SteadyClock::sleep_for(encore::max_wait, token);  // requested before: not begun
}

TEST_CASE("a clock is read only when the time is asked for [F2]", "[clock]") {
  encore::testing::FakeClock clock;
  const encore::Now now{clock};
  CHECK(clock.readings() == 0);
  clock.advance(3s);
  CHECK(now() == encore::TimePoint{3s});
  CHECK(now.wall() == encore::testing::FakeClock::first_wall + 3s);
  CHECK(clock.readings() == 1);
  const SteadyClock real;
  const auto before = SteadyClock::now();
  const auto read = encore::Now{real}();
  CHECK(before <= read);
  CHECK(read <= SteadyClock::now());
}

}  // namespace
