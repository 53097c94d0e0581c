#include <encore/backoff.hpp>
#include <encore/detail/random.hpp>
#include <encore/limits.hpp>
#include <encore/predicate.hpp>
#include <encore/retry_policy.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <chrono>
#include <compare>
#include <concepts>
#include <cstddef>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

using namespace std::chrono_literals;
using encore::Duration;
using encore::StopView;
using encore::TimePoint;
using encore::WallTime;
using encore::testing::Durations;
using encore::testing::FakeClock;
using encore::testing::NoProgress;

static_assert(encore::Clock<FakeClock>);
static_assert(!std::copy_constructible<FakeClock> && !std::move_constructible<FakeClock>);
static_assert(std::is_same_v<encore::shared::StoredOf<FakeClock&>, FakeClock&>,
              "a policy holds it by reference (F4)");
static_assert(std::same_as<decltype(FakeClock{}.now())::clock, std::chrono::steady_clock>);

TEST_CASE("a fake clock's sleep takes no time, is recorded, and advances fake time [D1]", "[fake_clock]") {
  FakeClock clock;
  CHECK(clock.now() == TimePoint{});
  clock.sleep_for(250ms);
  clock.sleep_for(500ms);
  CHECK(clock.now() == TimePoint{750ms});
  CHECK(clock.sleeps() == Durations{250ms, 500ms});
  CHECK(clock.total_slept() == 750ms);
}

TEST_CASE("a fake clock records a sleep of zero too, so that a test can see that none was made [C5]",
          "[fake_clock]") {
  FakeClock clock;
  clock.sleep_for(0ns);
  clock.sleep_for(-1s);
  CHECK(clock.sleeps() == Durations{0s, 0s});
  CHECK(clock.now() == TimePoint{});
}

TEST_CASE("a fake clock's calendar begins at the start of 2026 and advances with fake time [D1]",
          "[fake_clock]") {
  FakeClock clock;
  const auto new_year = WallTime{1'767'225'600s};  // date -u -d 2026-01-01 +%s
  CHECK(clock.wall() == new_year);
  clock.sleep_for(2s);
  clock.advance(500ms);
  CHECK(clock.wall() == new_year + 2500ms);
}

TEST_CASE("time that an attempt takes on a fake clock is not recorded as a sleep", "[fake_clock]") {
  FakeClock clock;
  clock.advance(300ms);
  clock.advance(0.5s);
  CHECK(clock.now() == TimePoint{800ms});
  CHECK(clock.sleeps().empty());
  CHECK_THROWS_WITH(clock.advance(-1s),
                    "encore: advance = -1s is invalid: it must be finite and not negative");
}

TEST_CASE("a fake clock's date can be set without its time, and the reverse [D1]", "[fake_clock]") {
  FakeClock clock;
  clock.sleep_for(1s);
  clock.set_wall(WallTime{0s});
  CHECK(clock.wall() == WallTime{0s});
  CHECK(clock.now() == TimePoint{1s});
  clock.set(TimePoint{5s});
  CHECK(clock.wall() == WallTime{0s});
  CHECK(clock.now() == TimePoint{5s});
}

TEST_CASE("a fake clock can be set back, as clocks can [D7]", "[fake_clock]") {
  FakeClock clock;
  clock.sleep_for(10s);
  clock.set(TimePoint{-1h});
  CHECK(clock.now() == TimePoint{-1h});
  clock.sleep_for(1s);
  CHECK(clock.now() == TimePoint{-1h} + 1s);
}

TEST_CASE("a fake clock set back inside a sleep does not make the sleep longer [D7]", "[fake_clock]") {
  FakeClock clock;
  clock.after(400ms, [&] { clock.set(TimePoint{-1h}); });
  clock.sleep_for(1s);
  CHECK(clock.sleeps() == Durations{1s});
  CHECK(clock.now() == TimePoint{-1h} + 600ms);
}

TEST_CASE("a fake clock's time saturates at the end of its range [C7]", "[fake_clock]") {
  FakeClock clock;
  clock.sleep_for(Duration::max());
  clock.sleep_for(Duration::max());
  CHECK(clock.now() == TimePoint::max());
  CHECK(clock.wall() == WallTime::max());
  CHECK(clock.total_slept() == Duration::max());
}

TEST_CASE("a fake clock runs scheduled actions when their time comes, in the order of time", "[fake_clock]") {
  FakeClock clock;
  std::vector<std::string> ran;
  const auto note = [&](std::string what) {
    return [&ran, &clock, what] {
      ran.push_back(what + "@" + std::to_string(clock.now().time_since_epoch() / 1ms) + "ms");
    };
  };
  clock.at(TimePoint{300ms}, note("late"));
  clock.after(100ms, note("early"));
  clock.at(TimePoint{300ms}, note("later"));
  clock.sleep_for(99ms);
  CHECK(ran.empty());
  clock.sleep_for(1ms);
  CHECK(ran == std::vector<std::string>{"early@100ms"});
  clock.advance(1s);
  CHECK(ran == std::vector<std::string>{"early@100ms", "late@300ms", "later@300ms"});
  CHECK(clock.now() == TimePoint{1100ms});
  CHECK(clock.sleeps() == Durations{99ms, 1ms});
}

TEST_CASE("a fake clock runs many actions in the order of time, and at one time in the order of scheduling",
          "[fake_clock]") {
  FakeClock clock;
  struct Ran {
    TimePoint time;
    int number;
    auto operator<=>(const Ran&) const = default;
  };
  std::vector<Ran> expected, ran;
  encore::shared::Random random{17};
  int number = 0;
  const auto schedule = [&] {  // at one of 40 times, so that many are equal
    const auto time = clock.now() + std::chrono::milliseconds{1 + static_cast<int>(random.draw() * 40)};
    expected.push_back({time, ++number});
    return time;
  };
  const auto run = [&](TimePoint time, int which) {
    CHECK(clock.now() == time);
    ran.push_back({time, which});
  };
  for (int i = 0; i < 200; ++i) {
    const auto time = schedule();
    clock.at(time, [&, time, which = number] {
      run(time, which);
      const auto next = schedule();  // each makes way for two more
      clock.at(next, [&, next, its = number] { run(next, its); });
      const auto another = schedule();
      clock.at(another, [&, another, its = number] { run(another, its); });
    });
  }
  clock.advance(100ms);
  std::ranges::sort(expected);
  CHECK(ran.size() == 600);
  CHECK(ran == expected);
}

TEST_CASE("an action that is due at once, or was passed over by set, runs with the fake clock's next move",
          "[fake_clock]") {
  FakeClock clock;
  int ran = 0;
  clock.after(0s, [&] { ++ran; });
  CHECK(ran == 0);
  clock.sleep_for(0s);
  CHECK(ran == 1);
  clock.after(1s, [&] { ++ran; });
  clock.set(TimePoint{5s});
  CHECK(ran == 2);
  CHECK(clock.now() == TimePoint{5s});
}

TEST_CASE("a fake clock's action may use the clock, sleep and schedule another", "[fake_clock]") {
  FakeClock clock;
  clock.after(100ms, [&] {
    clock.after(100ms, [&] { clock.set_wall(WallTime{0s}); });
    clock.sleep_for(50ms);
  });
  clock.sleep_for(300ms);
  CHECK(clock.now() == TimePoint{350ms});
  CHECK(clock.sleeps() == Durations{50ms, 300ms});
  CHECK(clock.wall() == WallTime{150ms});
}

TEST_CASE("an action's exception propagates from the fake sleep in which it ran, and the clock continues",
          "[fake_clock]") {
  FakeClock clock;
  clock.after(100ms, [] { throw std::runtime_error{"from the action"}; });
  CHECK_THROWS_WITH(clock.sleep_for(1s), "from the action");
  CHECK(clock.now() == TimePoint{100ms});
  clock.sleep_for(1s);
  CHECK(clock.now() == TimePoint{1100ms});
}

TEST_CASE("a stop requested in a fake sleep ends it at that moment, and only that time was slept [K1]",
          "[fake_clock]") {
  FakeClock clock;
  std::stop_source source;
  const auto token = source.get_token();
  bool later_ran = false;
  clock.after(100ms, [&] { source.request_stop(); });
  clock.after(100ms, [&] { later_ran = true; });
  clock.sleep_for(1s, token);
  CHECK(clock.sleeps() == Durations{100ms});
  CHECK(clock.now() == TimePoint{100ms});
  CHECK_FALSE(later_ran);
}

TEST_CASE("a fake sleep after the stop request ends before it begins [K1]", "[fake_clock]") {
  FakeClock clock;
  std::stop_source source;
  const auto token = source.get_token();
  source.request_stop();
  clock.sleep_for(1s, token);
  CHECK(clock.sleeps() == Durations{0s});
  CHECK(clock.now() == TimePoint{});
}

TEST_CASE("a stop at the very end of a fake sleep leaves it complete [K1]", "[fake_clock]") {
  FakeClock clock;
  std::stop_source source;
  const auto token = source.get_token();
  clock.after(1s, [&] { source.request_stop(); });
  clock.sleep_for(1s, token);
  CHECK(clock.sleeps() == Durations{1s});
}

TEST_CASE("a fake clock counts its readings [P5]", "[fake_clock]") {
  FakeClock clock;
  CHECK(clock.readings() == 0);
  clock.sleep_for(1s);
  static_cast<void>(clock.wall());
  CHECK(clock.readings() == 0);
  static_cast<void>(clock.now());
  static_cast<void>(clock.now());
  CHECK(clock.readings() == 2);
}

TEST_CASE("a fake clock accepts ten thousand attempts without time between them, and not one more [D8]",
          "[fake_clock]") {
  FakeClock clock;
  clock.advance(1s);
  for (int i = 0; i < 10'000; ++i) clock.attempt_started();
  CHECK_THROWS_AS(clock.attempt_started(), NoProgress);
}

TEST_CASE("a fake clock that does not move says so, and what to do about it [D8]", "[fake_clock]") {
  FakeClock clock{{.max_attempts_without_progress = 3}};
  for (int i = 0; i < 3; ++i) clock.attempt_started();
  CHECK_THROWS_WITH(
      clock.attempt_started(),
      "encore: fake time has not advanced for 3 attempts, so this would never end: let the attempts "
      "take time (clock.advance(), or takes() in a script), give the policy a wait or a count limit, or "
      "raise max_attempts_without_progress");
  CHECK_THROWS_AS(clock.attempt_started(), NoProgress);
  clock.advance(1ns);
  CHECK_NOTHROW(clock.attempt_started());
  CHECK_THROWS_WITH((FakeClock{{.max_attempts_without_progress = 0}}),
                    "encore: max_attempts_without_progress = 0 is invalid: it must be at least 1");
}

TEST_CASE("a fake clock that is only set back makes no progress [D8]", "[fake_clock]") {
  FakeClock clock{{.max_attempts_without_progress = 3}};
  for (int i = 0; i < 3; ++i) {
    clock.set(clock.now() - 1s);
    clock.attempt_started();
  }
  CHECK_THROWS_AS(clock.attempt_started(), NoProgress);
}

TEST_CASE("a loop that makes no attempts and only reads the fake time ends too [D8]", "[fake_clock]") {
  FakeClock clock{{.max_attempts_without_progress = 2}};
  const auto deadline = clock.now() + 1s;
  CHECK_THROWS_WITH(
      [&] {
        while (clock.now() < deadline) {}
      }(),
      Catch::Matchers::StartsWith("encore: fake time has not advanced for 2000 readings of the clock,"));
  CHECK(clock.readings() == 2001);
}

TEST_CASE("an action that schedules itself for now does not run for ever [D8]", "[fake_clock]") {
  FakeClock clock{{.max_attempts_without_progress = 5}};
  int ran = 0;
  std::function<void()> again = [&] {
    ++ran;
    clock.after(0s, again);
  };
  clock.after(0s, again);
  CHECK_THROWS_AS(clock.advance(1s), NoProgress);
  CHECK(ran == 5);
  clock.advance(1s);
  CHECK(clock.now() == TimePoint{1s});
  CHECK(ran == 5);
}

static_assert(std::derived_from<NoProgress, encore::Unretryable>, "no policy retries it (B4)");

TEST_CASE(
    "a policy with neither waits nor a count fails loudly on a fake clock that does not move (fault 19: "
    "kafka #12791) [D8]",
    "[fake_clock]") {
  FakeClock clock{{.max_attempts_without_progress = 100}};
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::ConstantBackoff{0s},
                                   encore::TimeBudget{1s}, clock};
  int attempts = 0;
  const auto fail = [&]() -> int {
    ++attempts;
    throw std::runtime_error{"slow"};
  };
  CHECK_THROWS_AS(policy.run({.id = "call-17"}, fail), NoProgress);
  CHECK(attempts == 100);
}

TEST_CASE(
    "a policy without waits and count ends by its time budget when attempts take time (fault 19: kafka "
    "#12791) [D8]",
    "[fake_clock]") {
  FakeClock clock;
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::ConstantBackoff{0s},
                                   encore::TimeBudget{1s}, clock};
  int attempts = 0;
  const auto fail = [&]() -> int {
    ++attempts;
    clock.advance(300ms);
    throw std::runtime_error{"slow"};
  };
  CHECK_THROWS_AS(policy.run({.id = "call-17"}, fail), std::runtime_error);
  CHECK(attempts == 4);  // they begin at 0, 300, 600 and 900 ms; a fifth would begin at 1.2 s
  CHECK(clock.sleeps().empty());
}

TEST_CASE("fake sleeps on several threads add up, and none is lost [D1]", "[fake_clock][threads]") {
  FakeClock clock;
  int actions = 0;
  for (int i = 1; i <= 100; ++i) clock.at(TimePoint{i * 7ms}, [&clock] { static_cast<void>(clock.wall()); });
  clock.at(TimePoint{4s}, [&] { ++actions; });
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 500; ++i) {
          clock.sleep_for(1ms);
          clock.advance(1ms);
          clock.attempt_started();
          static_cast<void>(clock.now());
        }
      });
    }
  }
  CHECK(clock.now() == TimePoint{4s});
  CHECK(clock.wall() == FakeClock::first_wall + 4s);
  CHECK(clock.sleeps() == Durations{std::vector<Duration>(2000, 1ms)});
  CHECK(clock.readings() == 2000 + 1);
  CHECK(actions == 1);
}
