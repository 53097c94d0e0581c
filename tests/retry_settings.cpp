#include <encore/jitter_shapes.hpp>
#include <encore/limits.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_policy.hpp>
#include <encore/retry_settings.hpp>
#include <encore/schedule.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using Catch::Matchers::ContainsSubstring;
using encore::BackoffShape, encore::Duration, encore::JitterShape, encore::RetryOn, encore::RetryPolicy,
    encore::RetrySettings;

namespace {

using Seconds = std::chrono::duration<double>;
struct TimeoutError : std::runtime_error {
  std::optional<Duration> wait{};
  explicit TimeoutError(std::optional<Duration> hint = {}) : std::runtime_error{"slow"}, wait{hint} {}
  std::optional<Duration> retry_after() const { return wait; }
};

// What a call does that fails for ever.
struct Did {
  int attempts = 0;
  Durations sleeps;
  encore::StopReason reason = encore::StopReason::none;
};
Did did(const RetrySettings& settings, std::optional<Duration> hint = {}, Duration each = 0s) {
  FakeClock clock;
  Did what;
  const auto outcome =
      RetryPolicy{RetryOn<TimeoutError>{}, settings, encore::ReturnOutcome{}}.with(clock).run(
          {.id = "call-17"}, [&] {
            ++what.attempts;
            clock.advance(each);
            throw TimeoutError{hint};
          });
  what.sleeps = clock.sleeps();
  what.reason = outcome.reason();
  return what;
}
Durations sleeps(RetrySettings settings) {
  settings.jitter = JitterShape::none;
  settings.max_retries = 4;
  return did(settings).sleeps;
}

TEST_CASE("default RetrySettings are the policy's defaults [A1]", "[retry_settings]") {
  constexpr RetryPolicy plain{RetryOn<TimeoutError>{}};
  constexpr RetryPolicy settled{RetryOn<TimeoutError>{}, RetrySettings{}};
  STATIC_CHECK(settled.max_retries() == plain.max_retries());
  STATIC_CHECK(settled.hint_cap() == plain.hint_cap());
  STATIC_CHECK(settled.time_budget() == plain.time_budget());
  STATIC_CHECK(settled.attempt_timeout() == plain.attempt_timeout());
  STATIC_CHECK(settled.min_attempt_time() == plain.min_attempt_time());
  STATIC_CHECK(settled.seed() == plain.seed());
  const auto expected = plain.schedule();
  const auto made = settled.schedule();
  CHECK(made.size() == expected.size());
  for (int retry = 0; retry < 2; ++retry) CHECK(made[retry] == expected[retry]);
  CHECK(encore::hint_share_of(settled.jitter()) == encore::hint_share_of(plain.jitter()));
}

TEST_CASE("each field of RetrySettings does what its policy option does [C9, D2, D4, E2]",
          "[retry_settings]") {
  CHECK(did({.max_retries = 0}).attempts == 1);
  CHECK(did({.max_retries = 5}).attempts == 6);
  CHECK(did({.unlimited_retries = true, .time_budget = 1h}).reason == encore::StopReason::deadline);
  CHECK(did({.time_budget = 1h}).attempts > 3);  // no hidden count limit
  CHECK(did({.max_retries = 1, .time_budget = 1h}).attempts == 2);
  CHECK(did({.time_budget = 3s, .jitter = JitterShape::none}).sleeps == Durations{1s});
  CHECK(did({.time_budget = 4s, .min_attempt_time = 2s, .jitter = JitterShape::none}).reason ==
        encore::StopReason::too_little_time_left);
  CHECK(did({.hint_cap = {5s}}, 6s).reason == encore::StopReason::hint_over_cap);
  CHECK(did({.jitter = JitterShape::none, .hint_cap = {5s}}, 5s).sleeps == Durations{5s, 5s});

  FakeClock clock;
  std::optional<Duration> told;
  RetryPolicy{clock, RetryOn<TimeoutError>{}, RetrySettings{.attempt_timeout = 250ms}}.run(
      [&](const encore::Attempt& attempt) { told = attempt.remaining(); });
  CHECK(told == 250ms);
}

TEST_CASE("RetrySettings choose the shape of the backoff at run time [C9]", "[retry_settings]") {
  const encore::ExponentialBackoff delays{
      .initial_delay = 3s, .factor = 3.0, .max_delay = 20s, .min_delay = 4s};
  CHECK(sleeps({.backoff = BackoffShape::exponential, .delays = delays}) == Durations{4s, 9s, 20s, 20s});
  CHECK(sleeps({.backoff = BackoffShape::constant, .delays = delays}) == Durations{4s, 4s, 4s, 4s});
  CHECK(sleeps({.backoff = BackoffShape::linear, .delays = delays}) == Durations{4s, 6s, 9s, 12s});
  CHECK(sleeps({.backoff = BackoffShape::fibonacci, .delays = delays}) == Durations{4s, 4s, 6s, 9s});
}

TEST_CASE("RetrySettings choose the shape of the jitter at run time, and its seed [C8, C9]",
          "[retry_settings]") {
  const auto range = [](JitterShape shape) {
    const RetryPolicy policy{
        RetryOn<TimeoutError>{},
        RetrySettings{.delays = {.initial_delay = 4s}, .jitter = shape, .jitter_ratio = 0.5}};
    return policy.schedule()[0];
  };
  CHECK(range(JitterShape::none) == encore::WaitRange{4s, 4s, 4s});
  CHECK(range(JitterShape::full).min == 0s);
  CHECK(range(JitterShape::full).median == 2s);
  CHECK(range(JitterShape::equal).min == 2s);
  CHECK(range(JitterShape::equal).median == 3s);
  CHECK(range(JitterShape::proportional).min == 2s);
  CHECK(range(JitterShape::proportional).median == 4s);
  CHECK(range(JitterShape::decorrelated).min == 4s);
  CHECK(range(JitterShape::decorrelated).median == 8s);

  const auto seeded = [](std::uint64_t seed) { return did({.max_retries = 5, .seed = seed}).sleeps; };
  CHECK(seeded(1) == seeded(1));
  CHECK(seeded(1) != seeded(2));
  FakeClock clock;
  const RetryPolicy by_option{clock, RetryOn<TimeoutError>{}, encore::MaxRetries{5}, encore::Seed{1}};
  Scripted<int> tool{always(throws<TimeoutError>())};
  CHECK_THROWS_AS(by_option.run({.id = "call-17"}, tool), TimeoutError);
  CHECK(clock.sleeps() == seeded(1));
}

TEST_CASE("RetrySettings' jitter lengthens a hint by its own share [E1]", "[retry_settings]") {
  const auto share = [](JitterShape shape) { return encore::ChosenJitter{shape, 0.5}.hint_share(); };
  CHECK(share(JitterShape::none) == 0.0);
  CHECK(share(JitterShape::proportional) == 0.5);
  CHECK(share(JitterShape::full) == 0.25);
}

// ---- what is refused, and in which words (C3) -----------------------------------------------------------------------------

TEST_CASE(
    "a field of RetrySettings that is out of range is invalid, and the error has its name and value [A1, C3]",
    "[retry_settings]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  RetrySettings settings;
  const auto refused = [](const auto& set, const std::string& words) {
    CAPTURE(words);
    CHECK_THROWS_AS(set(), std::invalid_argument);
    CHECK_THROWS_WITH(set(), ContainsSubstring(words));
  };
  refused([&] { settings.max_retries = -1; }, "max_retries = -1");
  refused([&] { settings.time_budget = -1s; }, "time_budget = -1s");
  refused([&] { settings.attempt_timeout = Seconds{-0.5}; }, "attempt_timeout = -0.5s");
  refused([&] { settings.min_attempt_time = Seconds{nan}; }, "min_attempt_time = ");
  refused([&] { settings.delays.initial_delay = -1ms; }, "initial_delay = -0.001s");
  refused([&] { settings.delays.factor = -2.0; }, "factor = -2");
  refused([&] { settings.delays.factor = nan; }, "factor = ");
  refused([&] { settings.delays.factor = infinite; }, "factor = inf");
  refused([&] { settings.delays.max_delay = Seconds{infinite}; }, "max_delay = infs");
  refused([&] { settings.delays.min_delay = -1s; }, "min_delay = -1s");
  refused([&] { settings.jitter_ratio = 25.0; }, "jitter_ratio = 25");
  refused([&] { settings.jitter_ratio = nan; }, "jitter_ratio = ");
  refused([&] { settings.hint_cap = encore::HintCap{-1s}; }, "hint_cap = -1s");
  CHECK(did(settings).attempts == 3);  // what was refused has changed nothing
}

TEST_CASE("contradictory fields of RetrySettings are invalid, and the error has both names and values [C3]",
          "[retry_settings]") {
  const auto refusal = [](const RetrySettings& settings) -> std::string {
    try {
      static_cast<void>(RetryPolicy{RetryOn<TimeoutError>{}, settings});
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "not refused";
  };
  CHECK(refusal({.max_retries = 3, .unlimited_retries = true}) ==
        "encore: unlimited_retries = true is invalid: max_retries = 3 is a limit");
  CHECK(refusal({.delays = {.min_delay = 90s}}) ==
        "encore: min_delay = 90s is invalid: it is more than max_delay = 60s");
  CHECK(refusal({.attempt_timeout = 1500ms, .min_attempt_time = 2s}) ==
        "encore: min_attempt_time = 2s is invalid: it is more than attempt_timeout = 1.5s");
  CHECK(refusal({.time_budget = 1s, .min_attempt_time = 2s}) ==
        "encore: min_attempt_time = 2s is invalid: it is more than time_budget = 1s");
  // No contradictions: the cap applies from the first wait, and the earliest limit holds.
  CHECK(refusal({.delays = {.initial_delay = 5s, .max_delay = 2s, .min_delay = 2s}}) == "not refused");
  CHECK(refusal({.time_budget = 2s, .attempt_timeout = 30s, .min_attempt_time = 2s}) == "not refused");
  CHECK(refusal({.time_budget = 0s, .attempt_timeout = 0s, .hint_cap = encore::HintCap{1h}}) ==
        "not refused");
  CHECK(refusal({.max_retries = 0, .time_budget = 2s}) == "not refused");

  const RetryPolicy policy{RetryOn<TimeoutError>{}, RetrySettings{.max_retries = 1}};
  CHECK_THROWS_AS(policy.with(RetrySettings{.delays = {.min_delay = 90s}}), std::invalid_argument);
}

// ---- reload -----------------------------------------------------------------------------------------------------------------

TEST_CASE("RetrySettings are reloaded by assignment, and the policy's type stays the same [A1]",
          "[retry_settings]") {
  FakeClock clock;
  struct Service {
    using Policy =
        decltype(RetryPolicy{std::declval<FakeClock&>(), RetryOn<TimeoutError>{}, RetrySettings{}});
    Policy policy;
  } service{RetryPolicy{clock, RetryOn<TimeoutError>{}, RetrySettings{.max_retries = 1}}};
  Scripted<int> tool{always(throws<TimeoutError>())};
  CHECK_THROWS_AS(service.policy.run(tool), TimeoutError);
  CHECK(tool.calls() == 2);
  service.policy = service.policy.with(
      RetrySettings{.max_retries = 4, .backoff = BackoffShape::constant, .jitter = JitterShape::none});
  CHECK_THROWS_AS(service.policy.run(tool), TimeoutError);
  CHECK(tool.calls() == 2 + 5);
  CHECK(clock.sleeps().size() == 1 + 4);
  CHECK(clock.sleeps().back() == 1s);
}

TEST_CASE("the two-argument policy type holds any count and any settings, and is reloaded by assignment [A1]",
          "[retry_settings]") {
  RetryPolicy<encore::SteadyClock, RetryOn<TimeoutError>> policy{RetryOn<TimeoutError>{},
                                                                 encore::MaxRetries{5}};
  CHECK(policy.max_attempts() == 6);
  policy = RetryPolicy{RetryOn<TimeoutError>{}, encore::MaxAttempts{2},
                       encore::ExponentialBackoff{.initial_delay = 5s}, encore::ProportionalJitter{0.1},
                       encore::HintCap{1s}};
  CHECK(policy.max_attempts() == 2);
  CHECK(policy.hint_cap() == 1s);
  policy = policy.with(encore::UnlimitedRetries{});
  CHECK_FALSE(policy.max_attempts());
  CHECK(Duration{policy.backoff().initial_delay} == 5s);
  policy = RetryPolicy<encore::SteadyClock, RetryOn<TimeoutError>>{};
  CHECK(policy.max_attempts() == 3);
}

TEST_CASE("one of the RetrySettings can be replaced by an option, and the others stay [A1]",
          "[retry_settings]") {
  const RetryPolicy policy{RetryOn<TimeoutError>{}, RetrySettings{.max_retries = 7, .time_budget = 9s}};
  const auto changed = policy.with(encore::MaxRetries{1});
  CHECK(changed.max_retries() == 1);
  CHECK(changed.time_budget() == 9s);
  CHECK(policy.with(encore::TimeBudget{2s}).time_budget() == 2s);
  CHECK(policy.with(encore::TimeBudget{2s}).max_retries() == 7);
  STATIC_CHECK(std::is_same_v<decltype(changed), decltype(policy)>);
}

// One wait after another, from the retry `first` on, all with the same draw.
template <class Backoff, class Jitter>
std::vector<Duration> waits_of(const Backoff& backoff, const Jitter& jitter, int first, double draw) {
  encore::WaitGenerator<Backoff, Jitter> waits{backoff, first};
  std::vector<Duration> all;
  for (int i = 0; i < 40; ++i) all.push_back(waits.next(backoff, jitter, draw));
  return all;
}

TEST_CASE("shapes chosen at run time wait as those that are named in the type [C1 C2 P9]",
          "[retry_settings]") {
  constexpr Duration most = 3h, least = 2ms;
  const encore::ExponentialBackoff delays{
      .initial_delay = 7ms, .factor = 1.3, .max_delay = most, .min_delay = least};
  const auto compare = [&](BackoffShape shape, const auto& named) {
    const encore::ChosenBackoff chosen{shape, delays};
    for (const int first : {0, 1, 17, 2'000'000'000}) {
      for (const double draw : {0.0, 0.25, encore::max_draw}) {
        const auto with = [&](JitterShape jitter_shape, const auto& jitter) {
          CHECK(waits_of(chosen, encore::ChosenJitter{jitter_shape, 0.25}, first, draw) ==
                waits_of(named, jitter, first, draw));
        };
        with(JitterShape::none, encore::NoJitter{});
        with(JitterShape::full, encore::FullJitter{});
        with(JitterShape::equal, encore::EqualJitter{});
        with(JitterShape::proportional, encore::ProportionalJitter{0.25});
        with(JitterShape::decorrelated, encore::DecorrelatedJitter{});
      }
    }
  };
  compare(BackoffShape::exponential, delays);
  compare(BackoffShape::linear,
          encore::LinearBackoff{.initial_delay = 7ms, .step = 7ms, .max_delay = most, .min_delay = least});
  compare(BackoffShape::fibonacci,
          encore::FibonacciBackoff{.initial_delay = 7ms, .max_delay = most, .min_delay = least});
}

}  // namespace
