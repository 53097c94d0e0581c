#include <encore/backoff.hpp>
#include <encore/fails_if.hpp>
#include <encore/jitter.hpp>
#include <encore/limits.hpp>
#include <encore/on_failure.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/retrying.hpp>
#include <encore/telemetry/shadow_policy.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using namespace std::chrono_literals;
using encore::ShadowCounts;
using encore::ShadowPolicy;
using encore::StopReason;

struct Slow : std::runtime_error {
  Slow() : std::runtime_error{"slow"} {}
};
struct Odd : std::runtime_error {
  Odd() : std::runtime_error{"odd"} {}
};

/// Five attempts with waits of one second, for all errors of run time.
auto real_policy(encore::testing::FakeClock& clock) {
  return encore::RetryPolicy{clock, encore::RetryOn<std::runtime_error>{}, encore::MaxRetries{4},
                             encore::ConstantBackoff{1s}, encore::NoJitter{}};
}
template <class Error>
auto failing(int times) {
  return [times]() mutable {
    if (times-- > 0) throw Error{};
  };
}
ShadowCounts counts(StopReason reason, ShadowCounts expected) {
  expected.tool = "ship";
  expected.calls = 1;
  expected.stopped_sooner = 1;
  expected.sooner_because[static_cast<std::size_t>(reason)] = 1;
  return expected;
}
template <class Shadow>
ShadowCounts ship(const Shadow& shadow) {
  const auto all = shadow.counts();
  REQUIRE(all.size() == 1);
  return all.front();
}

TEST_CASE(
    "a shadow policy with a lower ceiling counts what it would have saved, and which calls it would have "
    "failed",
    "[shadow_policy]") {
  encore::testing::FakeClock clock;
  const auto real = real_policy(clock);
  ShadowPolicy shadow{real.with(encore::MaxRetries{1})};
  const auto watched = real.with(shadow);

  watched.run({.name = "ship"}, failing<Slow>(3));  // four attempts, of which the candidate makes two
  CHECK(ship(shadow) == counts(StopReason::retries_exhausted,
                               {.attempts_avoided = 2, .waits_avoided = 2s, .recoveries_lost = 1}));
  CHECK_THROWS_AS(watched.run({.name = "ship"}, failing<Slow>(9)), Slow);
  CHECK(ship(shadow).attempts_avoided == 5);
  CHECK(ship(shadow).waits_avoided == 5s);
  CHECK(ship(shadow).recoveries_lost == 1);
  CHECK(ship(shadow).stopped_sooner == 2);
}

TEST_CASE("what policy and shadow do alike is not counted as a difference", "[shadow_policy]") {
  encore::testing::FakeClock clock;
  const auto real = real_policy(clock);
  ShadowPolicy shadow{real.with(encore::MaxRetries{1})};
  const auto watched = real.with(shadow);
  watched.run({.name = "ship"}, failing<Slow>(0));
  watched.run({.name = "ship"}, failing<Slow>(1));
  CHECK_THROWS_AS(watched.run({.name = "ship"}, [] { throw std::logic_error{"bug"}; }), std::logic_error);
  CHECK(ship(shadow) == ShadowCounts{.tool = "ship", .calls = 3});
}

TEST_CASE("a shadow policy with a narrower filter stops at the first failure that it does not match",
          "[shadow_policy]") {
  encore::testing::FakeClock clock;
  const auto real = real_policy(clock);
  ShadowPolicy shadow{real.with(encore::RetryOn<Slow>{})};
  const auto watched = real.with(shadow);
  int attempts = 0;
  watched.run({.name = "ship"}, [&] {
    if (++attempts == 1) throw Slow{};
    if (attempts < 4) throw Odd{};
  });
  CHECK(ship(shadow) == counts(StopReason::not_retryable,
                               {.attempts_avoided = 2, .waits_avoided = 2s, .recoveries_lost = 1}));
}

TEST_CASE("a shadow policy with a shorter time budget stops before a wait that would exceed it",
          "[shadow_policy]") {
  encore::testing::FakeClock clock;
  const auto real = real_policy(clock);
  const auto run = [&](auto& shadow) {
    real.with(shadow).run({.name = "ship"}, [&, attempts = 0]() mutable {
      clock.advance(500ms);
      if (++attempts < 4) throw Slow{};
    });
  };
  // Attempts begin at 0, 1.5, 3 and 4.5 s.
  ShadowPolicy shadow{real.with(encore::TimeBudget{3s})};
  run(shadow);
  CHECK(ship(shadow) ==
        counts(StopReason::deadline, {.attempts_avoided = 2, .waits_avoided = 2s, .recoveries_lost = 1}));
  ShadowPolicy longer{real.with(encore::TimeBudget{3s + 1ns})};
  run(longer);
  CHECK(ship(longer).attempts_avoided == 1);
  ShadowPolicy with_least{real.with(encore::TimeBudget{3500ms}, encore::MinAttemptTime{501ms})};
  run(with_least);
  CHECK(ship(with_least) == counts(StopReason::too_little_time_left,
                                   {.attempts_avoided = 2, .waits_avoided = 2s, .recoveries_lost = 1}));
}

TEST_CASE("a shadow policy with a lower cap for hints stops where the hint is over it", "[shadow_policy]") {
  struct Busy : std::runtime_error {
    Busy() : std::runtime_error{"busy"} {}
    encore::Duration retry_after() const { return 30s; }
  };
  encore::testing::FakeClock clock;
  const auto real = real_policy(clock).with(encore::RetryOn<Busy>{});
  ShadowPolicy shadow{real.with(encore::HintCap{10s})};
  real.with(shadow).run({.name = "ship"}, failing<Busy>(1));
  CHECK(ship(shadow) == counts(StopReason::hint_over_cap,
                               {.attempts_avoided = 1, .waits_avoided = 30s, .recoveries_lost = 1}));
}

TEST_CASE("a shadow policy that would have continued is counted too", "[shadow_policy]") {
  encore::testing::FakeClock clock;
  const auto real = real_policy(clock).with(encore::MaxRetries{1}, encore::RetryOn<Slow>{});
  ShadowPolicy shadow{real.with(encore::MaxRetries{2}, encore::RetryOn<std::runtime_error>{})};
  const auto watched = real.with(shadow);
  CHECK_THROWS(watched.run({.name = "ship"}, failing<Slow>(9)));  // exhausted, where the candidate is not
  CHECK_THROWS(
      watched.run({.name = "ship"}, failing<Odd>(9)));  // missed by the filter, not by the candidate's
  CHECK_THROWS(watched.run({.name = "ship"}, [] { throw std::logic_error{"bug"}; }));
  CHECK(ship(shadow) == ShadowCounts{.tool = "ship", .calls = 3, .gone_on = 2});
}

TEST_CASE("a shadow policy counts nothing for a returned failure that no filter can judge afterwards [B8]",
          "[shadow_policy]") {
  encore::testing::FakeClock clock;
  const encore::RetryPolicy real{clock, encore::RetryIf{[](int status) { return status == 503; }},
                                 encore::FailsIf{[](int status) { return status != 200; }}};
  ShadowPolicy shadow{real.with(encore::RetryIf{[](int status) { return status == 404; }})};
  static_cast<void>(real.with(shadow).run({.name = "ship"}, [] { return 404; }));
  CHECK(ship(shadow) == ShadowCounts{.tool = "ship", .calls = 1});
}

TEST_CASE("a shadow policy changes nothing, whatever it does itself [F3]", "[shadow_policy]") {
  encore::testing::FakeClock clock;
  const auto real = real_policy(clock);
  const auto traced = [&](const auto& policy) {
    encore::testing::Recorder recorder;
    policy.with(recorder).run({.id = "call-17", .name = "ship"}, failing<Slow>(3));
    return recorder.events().without_times();
  };
  const auto throws =
      encore::RetryIf{[](const std::exception&) -> bool { throw std::logic_error{"candidate"}; }};
  ShadowPolicy shadow{real.with(throws, encore::MaxRetries{0})};
  CHECK(traced(real) == traced(real.with(shadow)));
  CHECK(ship(shadow).sooner_because[static_cast<std::size_t>(StopReason::predicate_threw)] == 1);
}

TEST_CASE(
    "a shadow policy counts nothing of a call it gave up, however that continues, but does count a later "
    "call of its id",
    "[shadow_policy]") {
  encore::testing::FakeClock clock;
  const auto real = real_policy(clock);
  ShadowPolicy shadow{real.with(encore::MaxRetries{0}), {.max_open = 1}};
  const auto watched = real.with(shadow);
  watched.run({.id = "outer", .name = "ship"}, [&, attempts = 0]() mutable {
    if (++attempts == 2) watched.run({.id = "inner", .name = "ship"}, failing<Slow>(1));
    if (attempts < 3) throw Slow{};
  });
  CHECK(shadow.given_up() == 1);
  CHECK(ship(shadow).stopped_sooner == 1);  // the inner one
  CHECK(ship(shadow).attempts_avoided == 1);
  watched.run({.id = "outer", .name = "ship"}, failing<Slow>(1));
  CHECK(ship(shadow).stopped_sooner == 2);
  CHECK(shadow.given_up() == 1);
}

TEST_CASE("a shadow policy that keeps fewer calls than are under way counts no more than one that keeps all",
          "[shadow_policy]") {
  std::mt19937 random{17};
  const auto below = [&](unsigned most) { return static_cast<int>(random() % most); };
  for (int round = 0; round < 50; ++round) {
    encore::testing::FakeClock clock;
    const auto real = real_policy(clock);
    const auto candidate = real.with(encore::MaxRetries{1}, encore::RetryOn<Slow>{});
    ShadowPolicy of_all{candidate};
    ShadowPolicy of_few{candidate, {.max_open = 3 + below(3)}};
    const auto watched = real.with(of_all, of_few);
    std::vector<std::string> ids;
    for (int call = 0; call < 20; ++call) ids.push_back("call-" + std::to_string(call));
    std::vector<std::unique_ptr<encore::Retrying<std::remove_const_t<decltype(watched)>>>> calls;
    for (const auto& id : ids) {
      calls.push_back(std::make_unique<encore::Retrying<std::remove_const_t<decltype(watched)>>>(
          watched, encore::Call{.id = id, .name = "ship"}));
      CHECK(calls.back()->begin().goes_on());
    }
    for (auto left = calls.size(); left > 0;) {
      auto& call = *calls[static_cast<std::size_t>(below(20))];
      if (call.reason() != StopReason::none) continue;
      const auto end = below(4);
      if (end == 0)
        call.succeeded();
      else if (call.threw(end == 1 ? std::make_exception_ptr(Odd{}) : std::make_exception_ptr(Slow{}))
                   .goes_on())
        CHECK(call.resume().goes_on());
      left -= call.reason() != StopReason::none;
    }
    const auto all = ship(of_all), few = ship(of_few);
    CHECK(few.calls == all.calls);
    CHECK(few.stopped_sooner <= all.stopped_sooner);
    CHECK(few.stopped_sooner + of_few.given_up() == all.stopped_sooner);
    CHECK(few.attempts_avoided <= all.attempts_avoided);
    CHECK(few.waits_avoided <= all.waits_avoided);
    CHECK(few.recoveries_lost <= all.recoveries_lost);
    for (std::size_t i = 0; i < encore::stop_reason_count; ++i)
      CHECK(few.sooner_because[i] <= all.sooner_because[i]);
  }
}

TEST_CASE("a shadow policy forgets calls that it would have stopped when there are too many",
          "[shadow_policy]") {
  encore::testing::FakeClock clock;
  const auto real = real_policy(clock);
  ShadowPolicy shadow{real.with(encore::MaxRetries{0}), {.max_tools = 1, .max_open = 1}};
  const auto watched = real.with(shadow);
  watched.run({.id = "outer", .name = "ship"}, [&, attempts = 0]() mutable {
    if (++attempts == 1) throw Slow{};
    watched.run({.id = "inner", .name = "lookup"}, failing<Slow>(1));
  });
  CHECK(shadow.given_up() == 1);
  const auto all = shadow.counts();
  REQUIRE(all.size() == 2);
  CHECK(all[0].tool == "(other tools)");  // the outer call, which ended last
  CHECK(all[0].calls == 1);
  CHECK(all[0].stopped_sooner == 0);
  CHECK(all[1].tool == "lookup");
  CHECK(all[1].stopped_sooner == 1);
}

TEST_CASE("threads lose no call of a shadow policy", "[shadow_policy][threads]") {
  constexpr int threads = 4;
  constexpr int calls = 300;
  const encore::RetryPolicy real{encore::RetryOn<Slow>{}, encore::MaxRetries{2}, encore::ConstantBackoff{0s},
                                 encore::NoJitter{}};
  ShadowPolicy shadow{real.with(encore::MaxRetries{0})};
  const auto watched = real.with(shadow);
  {
    std::vector<std::jthread> running;
    for (int thread = 0; thread < threads; ++thread)
      running.emplace_back([&, thread] {
        for (int call = 0; call < calls; ++call) {
          const auto id = std::to_string(thread) + "-" + std::to_string(call);
          watched.run({.id = id, .name = "ship"}, failing<Slow>(call % 3));
        }
      });
  }
  constexpr std::uint64_t all = threads * calls;
  const auto ship_counts = ship(shadow);
  CHECK(ship_counts.calls == all);
  CHECK(ship_counts.stopped_sooner == all * 2 / 3);
  CHECK(ship_counts.recoveries_lost == all * 2 / 3);
  CHECK(ship_counts.attempts_avoided == all);
}

}  // namespace
