#include <encore/encore.hpp>
#include <encore/engine/waits.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <vector>

using namespace encore;
using encore::testing::Durations;
using encore::testing::FakeClock;
using namespace std::chrono_literals;

namespace {

struct Slow : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct BrokenClock : FakeClock {
  void sleep_for(Duration, const StopView&) const { throw Slow{"the sleep was ended"}; }
};

// What a sleep needs of a call under way.
struct Sleeping {
  Call its_call;
  int times_abandoned = 0;
  const Call& call() const { return its_call; }
  void abandoned() { ++times_abandoned; }
};

// A backoff whose progression owns memory, and counts those that are alive.
struct Remembering {
  using role = encore::role::Backoff;
  Duration operator()(int retry) const { return (retry + 1) * 1s; }

  class Generator {
   public:
    Generator(const Remembering&, int) { ++alive; }
    Generator(const Generator& other) : waits_{other.waits_} { ++alive; }
    Generator& operator=(const Generator&) = default;
    ~Generator() { --alive; }
    Duration next(const Remembering& backoff, int retry) {
      waits_.push_back(backoff(retry));
      return waits_.back();
    }
    inline static int alive = 0;

   private:
    std::vector<Duration> waits_{};
  };
};
static_assert(Backoff<Remembering>);

TEST_CASE("a backoff whose delay generator owns memory releases it, however a call ends [C9]", "[pause]") {
  FakeClock clock;
  const RetryPolicy policy{clock, RetryOn<Slow>{}, Remembering{}, NoJitter{}};
  const auto tried = [&](const auto& under, auto play) {
    auto attempts = 0;
    try {
      static_cast<void>(under.run([&] { return play(++attempts); }));
    } catch (const std::exception&) {}
    CHECK(Remembering::Generator::alive == 0);
    return attempts;
  };
  const auto succeeds = [](int) { return 17; };
  const auto fails_once = [](int attempt) { return attempt == 1 ? throw Slow{"slow"} : attempt; };
  const auto fails = [](int attempt) { return attempt > 0 ? throw Slow{"slow"} : attempt; };
  const auto fails_otherwise = [](int attempt) {
    return attempt == 1 ? throw Slow{"slow"} : attempt == 2 ? throw std::logic_error{"bug"} : attempt;
  };
  const auto tried_all = [&](const auto& under) {
    return std::vector{tried(under, succeeds), tried(under, fails_once), tried(under, fails),
                       tried(under, fails_otherwise)};
  };
  const std::vector expected{1, 2, 3, 2};
  CHECK(tried_all(policy) == expected);
  CHECK(clock.sleeps() == Durations{1s, 1s, 2s, 1s});
  CHECK(tried_all(policy.with(ReturnOutcome{})) == expected);
  CHECK(tried_all(policy.with([](const Event&) {})) == expected);
  CHECK(tried_all(policy.with(TimeBudget{1h}, MaxRetries{2})) == expected);
  BrokenClock broken;
  CHECK(tried(policy.with(broken), fails) == 1);
}

TEST_CASE("a hint replaces one step of the backoff, which continues after it [E1]", "[pause]") {
  const RetryPolicy policy{RetryOn<Slow>{}, ExponentialBackoff{.initial_delay = 1s, .factor = 2.0},
                           NoJitter{}};
  const Call call{.id = "call-1"};
  const CurrentCall current{call};
  encore::detail::CallWaits<std::remove_const_t<decltype(policy)>> pauses;
  CHECK(pauses.next(policy, current, std::nullopt) == 1s);
  CHECK(pauses.next(policy, current, Duration{7s}) == 7s);
  CHECK(pauses.next(policy, current, std::nullopt) == 4s);
}

TEST_CASE("a seed and an id give the same waits again, and another id gives others [C8]", "[pause]") {
  const RetryPolicy policy{RetryOn<Slow>{}, Seed{7}};
  const auto waits_of = [&](const char* id) {
    const Call call{.id = id};
    const CurrentCall current{call};
    encore::detail::CallWaits<std::remove_const_t<decltype(policy)>> pauses;
    Durations waits;
    for (int i = 0; i < 4; ++i) waits.push_back(pauses.next(policy, current, std::nullopt));
    return waits;
  };
  CHECK(waits_of("call-1") == waits_of("call-1"));
  CHECK(waits_of("call-1") != waits_of("call-2"));
}

TEST_CASE("a wait of zero does not use the clock [C6]", "[pause]") {
  FakeClock clock;
  const RetryPolicy policy{RetryOn<Slow>{}, clock};
  Sleeping call;
  encore::detail::sleep_through(policy, call, 0s);
  CHECK(clock.sleeps().empty());
  encore::detail::sleep_through(policy, call, 3s);
  CHECK(clock.sleeps() == Durations{3s});
  CHECK(call.times_abandoned == 0);
}

TEST_CASE(
    "an exception that ends a sleep ends the call for its observers and guards, and propagates [B4, F1, H1]",
    "[pause]") {
  BrokenClock clock;
  const RetryPolicy policy{RetryOn<Slow>{}, clock};
  Sleeping unheard, heard;
  CHECK_THROWS_AS(encore::detail::sleep_through(policy, unheard, 3s), Slow);
  CHECK(unheard.times_abandoned == 1);  // it may keep the last exception
  CHECK_THROWS_AS(encore::detail::sleep_through(policy.with(Observe{[](const Event&) {}}), heard, 3s), Slow);
  CHECK(heard.times_abandoned == 1);
}

}  // namespace
