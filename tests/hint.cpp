#include <encore/hint.hpp>
#include <encore/http/retry_after.hpp>
#include <encore/jitter_shapes.hpp>
#include <encore/limits.hpp>
#include <encore/observer.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <new>
#include <optional>
#include <ratio>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::Duration, encore::Event, encore::RetryOn, encore::RetryPolicy, encore::StopReason;

namespace {

using Seconds = std::chrono::duration<double>;

struct Throttled : std::runtime_error {
  explicit Throttled(std::optional<Duration> hint) : std::runtime_error{"429"}, wait{hint} {}
  std::optional<Duration> retry_after() const { return wait; }
  std::optional<Duration> wait;
};
template <class Hint>
struct Hinting : std::runtime_error {
  explicit Hinting(Hint hint) : std::runtime_error{"hinting"}, wait{hint} {}
  Hint retry_after() const { return wait; }
  Hint wait;
};

const RetryPolicy plain{RetryOn<Throttled>{}, encore::NoJitter{}, encore::MaxRetries{9}};

struct Went {
  Durations sleeps;
  StopReason reason = StopReason::none;
  int attempts = 0;
};

// Fails once for each of these, then returns.
template <class Policy, class Hint>
Went went(const Policy& policy, const std::vector<Hint>& hints, encore::Call call = {}) {
  FakeClock clock;
  Went result;
  const auto tool = [&] {
    const auto next = static_cast<std::size_t>(result.attempts++);
    if (next >= hints.size()) return;
    if constexpr (std::is_same_v<Hint, std::optional<Duration>>)
      throw Throttled{hints[next]};
    else
      throw Hinting<Hint>{hints[next]};
  };
  const auto outcome = policy.with(clock, encore::ReturnOutcome{}).run(call, tool);
  result.reason = outcome.reason();
  result.sleeps = clock.sleeps();
  return result;
}
Durations sleeps_after(std::vector<std::optional<Duration>> hints) { return went(plain, hints).sleeps; }
template <class Hint>
Durations sleeps_after_one(Hint hint) {
  return went(plain.with(RetryOn<Hinting<Hint>>{}), std::vector<Hint>{hint}).sleeps;
}

// ---- what a hint does to the wait (E1) ---------------------------------------------------------------------------------

TEST_CASE("a hint replaces the computed wait, and is not multiplied (fault 23: promptflow #2073) [E1]",
          "[hint]") {
  CHECK(sleeps_after({7s, 7s, 7s}) == Durations{7s, 7s, 7s});
  CHECK(sleeps_after({1ms}) == Durations{1ms});
}

TEST_CASE("the computed waits advance beneath the hints [E1]", "[hint]") {
  CHECK(sleeps_after({std::nullopt, 7s, std::nullopt, 3s, std::nullopt}) == Durations{1s, 7s, 4s, 3s, 16s});
}

TEST_CASE("a hint is not limited by the maximum delay, nor by the minimum [E1]", "[hint]") {
  const auto policy = plain.with(encore::ExponentialBackoff{.max_delay = 2s, .min_delay = 1s});
  CHECK(went(policy, std::vector<std::optional<Duration>>{100s, 1ms}).sleeps == Durations{100s, 1ms});
}

TEST_CASE("a hint of zero means now, with jitter too [E1, E3, C5]", "[hint]") {
  CHECK(sleeps_after({0s, 0s}) == Durations{});
  CHECK(went(plain.with(encore::ProportionalJitter{1.0}), std::vector<std::optional<Duration>>{0s, 0s})
            .sleeps == Durations{});
}

TEST_CASE(
    "without jitter the wait is the hint exactly, and with jitter the hint is only ever lengthened (fault "
    "23: meltano #1477) [E1]",
    "[hint]") {
  const std::vector<std::optional<Duration>> hints(9, 100s);
  CHECK(went(plain, hints).sleeps == Durations{std::vector<Duration>(9, 100s)});
  const auto held = [&](const auto& policy, Duration most) {
    std::set<Duration> drawn;
    for (std::uint64_t seed = 0; seed < 40; ++seed)
      for (const auto wait : went(policy.with(encore::Seed{seed}), hints).sleeps) drawn.insert(wait);
    CHECK(*drawn.begin() >= 100s);
    CHECK(*drawn.begin() < 100s + (most - 100s) / 10);
    CHECK(*drawn.rbegin() < most);
    CHECK(*drawn.rbegin() > most - (most - 100s) / 10);
  };
  held(plain.without<encore::role::Jitter>(), 125s);
  held(plain.with(encore::ProportionalJitter{0.5}), 150s);
  held(plain.with(encore::FullJitter{}), 125s);
  held(plain.with(encore::EqualJitter{}), 125s);
  held(plain.with(encore::DecorrelatedJitter{}), 125s);
}

TEST_CASE("a hint in other units is rounded up (fault 22: kubevuln #637) [E1]", "[hint]") {
  CHECK(sleeps_after_one(Seconds{0.4}) == Durations{400ms});
  CHECK(sleeps_after_one(std::chrono::duration<std::int64_t, std::pico>{1}) == Durations{1ns});
  CHECK(sleeps_after_one(std::chrono::duration<std::int64_t, std::pico>{2001}) == Durations{3ns});
  CHECK(sleeps_after_one(std::chrono::duration<std::int64_t, std::ratio<1, 3>>{1}) ==
        Durations{333'333'334ns});
  CHECK(sleeps_after_one(2min) == Durations{120s});
  CHECK(sleeps_after_one(std::chrono::duration<unsigned>{5}) == Durations{5s});
}

// ---- hints that are too long (E2) ---------------------------------------------------------------------------------------

TEST_CASE("a hint over the cap stops the call; it is not shortened [E2]", "[hint]") {
  const auto after = [](const auto& policy, Duration hint) {
    return went(policy, std::vector<std::optional<Duration>>{hint});
  };
  CHECK(after(plain, 120s).sleeps == Durations{120s});
  const auto over = after(plain, 120s + 1ns);
  CHECK(over.reason == StopReason::hint_over_cap);
  CHECK(over.attempts == 1);
  CHECK(over.sleeps.empty());
  CHECK(after(plain.with(encore::HintCap{10s}), 11s).reason == StopReason::hint_over_cap);
  CHECK(after(plain.with(encore::HintCap{1h}), 59min).sleeps == Durations{59min});
  // Jitter that lengthens a hint at the cap does not make it one over the cap.
  CHECK(after(plain.with(encore::ProportionalJitter{}), 120s).reason == StopReason::succeeded);
}

TEST_CASE(
    "hints beyond the range stop the call, and none wraps to a short wait (fault 22: go-retryablehttp #297) "
    "[E2]",
    "[hint]") {
  for (const Duration hint : {Duration{9'223'372'036s}, Duration::max(), Duration{8'761h}}) {
    CAPTURE(hint.count());
    const auto gone =
        went(plain.with(encore::HintCap{Duration::max()}), std::vector<std::optional<Duration>>{hint});
    CHECK(gone.reason == StopReason::hint_over_cap);  // no wait is longer than 8,760 h (C7)
    CHECK(gone.sleeps.empty());
  }
  const auto stops = [](auto hint) {
    return went(plain.with(RetryOn<Hinting<decltype(hint)>>{}), std::vector{hint}).reason ==
           StopReason::hint_over_cap;
  };
  CHECK(stops(std::chrono::seconds{9'223'372'037}));
  CHECK(stops(std::chrono::seconds{9'999'999'999}));
  CHECK(stops(std::chrono::hours::max()));
  CHECK(stops(Seconds{1e30}));
  CHECK(stops(Seconds{std::numeric_limits<double>::infinity()}));
}

TEST_CASE("a hint at or beyond the deadline stops the call [E2, D3]", "[hint]") {
  const auto within = [](Duration deadline) {
    return went(plain, std::vector<std::optional<Duration>>{10s}, {.deadline = encore::TimePoint{deadline}});
  };
  CHECK(within(10s + 1ns).sleeps == Durations{10s});
  const auto at = within(10s);
  CHECK(at.reason == StopReason::hint_past_deadline);
  CHECK(at.attempts == 1);
  CHECK(at.sleeps.empty());
  CHECK(within(9s).reason == StopReason::hint_past_deadline);
}

TEST_CASE(
    "a hint's deadline check uses the wait that was chosen, jitter included (fault 18: otel-go #8781) [E2, "
    "D3]",
    "[hint]") {
  int crossed = 0, kept = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto gone = went(plain.with(encore::ProportionalJitter{}, encore::Seed{seed}),
                           std::vector<std::optional<Duration>>{10s}, {.deadline = encore::TimePoint{11s}});
    if (gone.sleeps.empty()) {
      CHECK(gone.reason == StopReason::hint_past_deadline);
      ++crossed;
    } else {
      CHECK(gone.sleeps.front() < 11s);
      ++kept;
    }
  }
  CHECK(crossed > 80);  // uniform in [10 s, 12.5 s): three in five cross 11 s
  CHECK(kept > 40);
}

// ---- what is no hint (E3) -----------------------------------------------------------------------------------------------

TEST_CASE("an invalid, negative or empty hint is ignored (fault 21: pydantic-ai #7065) [E3]", "[hint]") {
  CHECK(sleeps_after({std::nullopt}) == Durations{1s});
  CHECK(sleeps_after({-1s}) == Durations{1s});
  CHECK(sleeps_after({-1ns, Duration::min()}) == Durations{1s, 2s});
  CHECK(sleeps_after_one(Seconds{-0.5}) == Durations{1s});
  CHECK(sleeps_after_one(Seconds{std::numeric_limits<double>::quiet_NaN()}) == Durations{1s});
  CHECK(sleeps_after_one(Seconds{-std::numeric_limits<double>::infinity()}) == Durations{1s});
  CHECK(sleeps_after_one(std::chrono::hours::min()) == Durations{1s});
}

TEST_CASE(
    "a hint's date is relative to the policy's calendar, and a past one is ignored (fault 21: httpx-retries "
    "#13) [E3, D1]",
    "[hint]") {
  constexpr auto wall = FakeClock::first_wall;
  CHECK(sleeps_after_one(encore::WallTime{wall + 30s}) == Durations{30s});
  CHECK(sleeps_after_one(encore::WallTime{wall}) == Durations{});
  CHECK(sleeps_after_one(encore::WallTime{wall - 1ns}) == Durations{1s});
  CHECK(sleeps_after_one(encore::WallTime::min()) == Durations{1s});
  CHECK(sleeps_after_one(std::optional{std::chrono::floor<std::chrono::seconds>(wall) + 5s}) ==
        Durations{5s});
  CHECK(sleeps_after_one(std::optional<encore::WallTime>{}) == Durations{1s});
  CHECK(sleeps_after_one(std::chrono::sys_days{std::chrono::year{1753} / 1 / 1}) == Durations{1s});
  const std::vector far{std::chrono::sys_days{std::chrono::year{9999} / 1 / 1}};
  CHECK(went(plain.with(RetryOn<Hinting<std::chrono::sys_days>>{}), far).reason == StopReason::hint_over_cap);
}

TEST_CASE("hint dates at the ends of the calendar neither overflow nor wrap [E3]", "[hint]") {
  FakeClock clock;
  const encore::Now now{clock};
  const auto hint = [&](encore::WallTime wall, auto when) {
    clock.set_wall(wall);
    return encore::hint_of(Hinting<decltype(when)>{when}, now);
  };
  CHECK(hint(encore::WallTime{-1h}, encore::WallTime::max()) == Duration::max());
  CHECK(hint(encore::WallTime{1h}, encore::WallTime::min()) == std::nullopt);
  CHECK(hint(encore::WallTime::min(), encore::WallTime::max()) == Duration::max());
  CHECK(hint(encore::WallTime::max(), encore::WallTime::max()) == 0s);
  CHECK(hint(encore::WallTime{-1h}, std::chrono::sys_time<Seconds>{Seconds{-1800}}) == 30min);
}

// ---- where a hint comes from (E5) ---------------------------------------------------------------------------------------

namespace library {
struct Limited : std::runtime_error {
  Limited() : std::runtime_error{"limited"} {}
};
std::chrono::seconds retry_after(const Limited&) { return 5s; }
struct Answer {
  int status = 200;
};
std::optional<Duration> retry_after(const Answer& answer) {
  if (answer.status != 429) return std::nullopt;
  return 6s;
}
struct Closed {
  int wait_ms;
};
}  // namespace library

template <class Policy, class F>
Durations sleeps_of(const Policy& policy, F fail) {
  FakeClock clock;
  auto first = true;
  static_cast<void>(policy.with(clock).run([&] {
    if (std::exchange(first, false)) return fail();
    return decltype(fail()){};
  }));
  return clock.sleeps();
}
const auto limited = []() -> int { throw library::Limited{}; };

TEST_CASE("a hint is found by a member or by a function beside the type [E5]", "[hint]") {
  STATIC_CHECK(encore::CarriesHint<Throttled>);
  STATIC_CHECK(encore::CarriesHint<library::Limited>);
  STATIC_CHECK_FALSE(encore::CarriesHint<std::runtime_error>);
  STATIC_CHECK_FALSE(encore::CarriesHint<int>);
  CHECK(sleeps_of(plain.with(RetryOn<library::Limited>{}), limited) == Durations{5s});
}

TEST_CASE("a hint is found whichever of the listed types the exception is, and in composed filters [E5]",
          "[hint]") {
  CHECK(sleeps_of(plain.with(RetryOn<Throttled, library::Limited>{}), limited) == Durations{5s});
  CHECK(sleeps_of(plain.with(RetryOn<std::bad_alloc>{} || RetryOn<library::Limited>{}), limited) ==
        Durations{5s});
  CHECK(sleeps_of(plain.with(RetryOn<library::Limited>{} && !RetryOn<std::bad_alloc>{}), limited) ==
        Durations{5s});
  CHECK(sleeps_of(plain.with(encore::RetryIf{[](const library::Limited&) { return true; }}), limited) ==
        Durations{5s});
  CHECK(sleeps_of(plain.with(RetryOn<std::runtime_error>{}), limited) ==
        Durations{1s});  // it is not known to carry one
  CHECK(sleeps_of(plain.with(RetryOn<std::runtime_error, library::Limited>{}), limited) == Durations{5s});
}

TEST_CASE("a hint is found in the returned value [E5]", "[hint]") {
  const auto policy =
      plain.with(encore::RetryIfResult{[](const library::Answer& answer) { return answer.status >= 400; }});
  CHECK(sleeps_of(policy, [] { return library::Answer{429}; }) == Durations{6s});
  CHECK(sleeps_of(policy, [] { return library::Answer{503}; }) == Durations{1s});
}

TEST_CASE("HintFrom reads types that cannot be extended, exceptions and values [E5]", "[hint]") {
  const auto closed =
      plain.with(RetryOn<library::Closed>{}, encore::HintFrom{[](const library::Closed& error) {
                   return std::chrono::milliseconds{error.wait_ms};
                 }});
  CHECK(sleeps_of(closed, []() -> int { throw library::Closed{250}; }) == Durations{250ms});
  CHECK(sleeps_of(closed, []() -> int { throw library::Closed{-1}; }) == Durations{1s});
  const auto any = plain.with(encore::RetryOnEveryException{},
                              encore::HintFrom{[](const library::Closed&) { return 8s; }});
  CHECK(sleeps_of(any, []() -> int { throw library::Closed{0}; }) == Durations{8s});
  CHECK(sleeps_of(any, []() -> int { throw std::runtime_error{"another"}; }) == Durations{1s});

  const auto by_value =
      plain.with(encore::RetryIfResult{[](const std::string& text) { return text.starts_with("wait "); }},
                 encore::HintFrom{[](const std::string& text) {
                   return std::chrono::seconds{std::stoi(text.substr(5))};
                 }});
  CHECK(sleeps_of(by_value, [] { return std::string{"wait 9"}; }) == Durations{9s});
}

TEST_CASE(
    "HintFrom precedes the failure's own hint: without a value the own hint holds, and if it throws there is "
    "no hint [E5]",
    "[hint]") {
  const auto with = [&](auto read) {
    return sleeps_of(plain.with(RetryOn<library::Limited>{}, encore::HintFrom{read}), limited);
  };
  CHECK(with([](const library::Limited&) { return 3s; }) == Durations{3s});
  CHECK(with([](const library::Limited&) { return std::optional<Duration>{}; }) == Durations{5s});
  CHECK(with([](const library::Limited&) -> std::optional<Duration> { throw 42; }) == Durations{1s});
}

TEST_CASE(
    "a Retry-After header becomes the wait, in any of its forms (faults 21, 22, 24: urllib3 #3743, Azure "
    "#262) [E1, E3]",
    "[hint]") {
  struct Response {
    int status = 200;
    std::string_view retry_after_header{};
    std::optional<Duration> retry_after() const {
      return encore::http::retry_after(retry_after_header, "Sun, 06 Nov 1994 08:49:37 GMT",
                                       FakeClock::first_wall);
    }
  };
  const auto after = [](std::string_view header) {
    FakeClock clock;
    int calls = 0;
    const auto policy = plain.with(
        clock, encore::RetryIfResult{[](const Response& response) { return response.status == 503; }});
    const auto last = policy.run([&] { return ++calls == 1 ? Response{503, header} : Response{}; });
    return std::pair{last.status, clock.sleeps()};
  };
  const auto waits = [](Duration wait) { return std::pair{200, Durations{wait}}; };
  CHECK(after("7") == waits(7s));
  CHECK(after("0") == std::pair{200, Durations{}});
  CHECK(after("0.4") == waits(400ms));
  CHECK(after("Sun, 06 Nov 1994 08:50:07 GMT") == waits(30s));
  CHECK(after("Sunday, 06-Nov-94 08:50:07 GMT") == waits(30s));
  CHECK(after("Sun Nov  6 08:50:07 1994") == waits(30s));
  CHECK(after("Sun, 06 Nov 1994 08:49:36 GMT") == waits(1s));  // past: the computed wait
  CHECK(after("-1") == waits(1s));
  CHECK(after("soon") == waits(1s));
  for (const auto header :
       {"9999999999", "9223372037", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"})
    CHECK(after(header) == std::pair{503, Durations{}});  // over the cap: no short wait, and no retry
}

TEST_CASE("HintFrom may look at the attempt's call as well [E5]", "[hint]") {
  FakeClock clock;
  int calls = 0;
  plain
      .with(clock, encore::RetryOnEveryException{}, encore::HintFrom{[](const encore::Thrown& failure) {
              return std::chrono::seconds{failure.attempt().call_id() == "call-17" ? failure.attempt().ordinal
                                                                                   : 50};
            }})
      .run({.id = "call-17"}, [&] {
        if (++calls < 3) throw std::runtime_error{"again"};
      });
  CHECK(clock.sleeps() == Durations{1s, 2s});
}

}  // namespace
