// The waits of a call, whichever way it is made: plain, seen by somebody, as a coroutine, driven by a job table, restored.
#include "empty_permit.hpp"
#include <encore/async/co_run.hpp>
#include <encore/durable/durable_call.hpp>
#include <encore/encore.hpp>
#include <encore/guard/guard.hpp>
#include <encore/jitter_shapes.hpp>
#include <encore/retrying.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/manual_executor.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <exception>
#include <optional>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace encore;
using namespace encore::testing;

namespace {

struct Busy : std::runtime_error {
  std::optional<Duration> hint{};
  explicit Busy(std::optional<Duration> wait = {}) : std::runtime_error{"busy"}, hint{wait} {}
  std::optional<Duration> retry_after() const { return hint; }
};
const std::exception_ptr busy = std::make_exception_ptr(Busy{});

struct AdmitsAll {
  using role = encore::role::Guard;
  static constexpr auto refusal = StopReason::refused_by_guard;
  using Permit = encore_tests::EmptyPermit;
  static std::optional<Permit> admit(const AdmissionRequest&) { return Permit{}; }
};

constexpr int retries = 12;
constexpr Call call{.id = "call-17"};

/// Fails for ever; `waits` is how long the clock slept before each retry.
template <class Policy>
Durations by_run(FakeClock& clock, const Policy& policy) {
  try {
    static_cast<void>(policy.run(call, [] { throw Busy{}; }));
  } catch (const Busy&) {}
  return clock.sleeps();
}
Task<int> fails_later() {
  throw Busy{};
  co_return 17;
}
template <class Policy>
Durations by_coroutine(FakeClock& clock, const Policy& policy) {
  ManualExecutor executor{clock};
  try {
    executor.run(co_run(policy, call, fails_later, executor.sleeper()));
  } catch (const Busy&) {}
  return clock.sleeps();
}
template <class Policy>
Durations by_hand(FakeClock& clock, const Policy& policy) {
  Retrying retrying{policy, call};
  for (auto next = retrying.begin(); next.goes_on(); next = retrying.resume()) {
    next = retrying.threw(busy);
    if (!next.goes_on()) break;
    clock.sleep_for(next.wait);
  }
  return clock.sleeps();
}
// Each wait is spent in another process than the attempts around it.
template <class Policy>
Durations by_restarts(FakeClock& clock, const Policy& policy) {
  std::string saved;
  {
    DurableCall durable{policy, call};
    static_cast<void>(durable.begin());
    static_cast<void>(durable.threw(busy));
    saved = durable.save();
  }
  for (;;) {
    DurableCall durable{policy, SavedCall::read(saved)};
    clock.sleep_for(durable.next().wait);
    static_cast<void>(durable.resume());
    if (!durable.threw(busy).goes_on()) return clock.sleeps();
    saved = durable.save();
  }
}

struct Way {
  std::string_view name;
  Durations waits;
};

/// The waits of one call for each way through, under a policy with these options.
template <class... Option>
std::vector<Way> every_way(const Option&... options) {
  std::vector<Way> ways;
  const auto add = [&](std::string_view name, const auto& way, const auto&... more) {
    FakeClock clock;
    const RetryPolicy policy{RetryOn<Busy>{}, clock, MaxRetries{retries}, options..., more...};
    ways.push_back({name, way(clock, policy)});
  };
  const auto run = [](FakeClock& clock, const auto& policy) { return by_run(clock, policy); };
  add("plain", run);
  add("observed", run, Observe{[](const Event&) {}});
  add("guarded", run, AdmitsAll{});
  add("outcome", run, ReturnOutcome{});
  add("within a budget", run, TimeBudget{8'760h});
  add("with a limit for each attempt", run, AttemptTimeout{1s});
  add("observed, guarded, outcome", run, Observe{[](const Event&) {}}, AdmitsAll{}, ReturnOutcome{});
  add("takes its attempt", [](FakeClock& clock, const auto& policy) {
    CHECK_THROWS_AS(policy.run(call, [](const Attempt&) { throw Busy{}; }), Busy);
    return clock.sleeps();
  });
  add("its limits are its own", [](FakeClock& clock, const auto& policy) {
    const std::stop_source source;
    const auto token = source.get_token();
    CHECK_THROWS_AS(policy.run({.id = call.id, .stop = token}, [] { throw Busy{}; }), Busy);
    return clock.sleeps();
  });
  add("a failed value", [](FakeClock& clock, const auto& policy) {
    const auto judged = policy.with(RetryIfResult{[](int value) { return value == 503; }});
    CHECK(judged.run(call, [] { return 503; }) == 503);
    return clock.sleeps();
  });
  const auto coroutine = [](FakeClock& clock, const auto& policy) { return by_coroutine(clock, policy); };
  add("coroutine", coroutine);
  add("observed coroutine", coroutine, Observe{[](const Event&) {}}, AdmitsAll{});
  add("job table", [](FakeClock& clock, const auto& policy) { return by_hand(clock, policy); });
  add("restored", [](FakeClock& clock, const auto& policy) { return by_restarts(clock, policy); });
  return ways;
}

TEST_CASE("on every way of running it each call draws its waits anew, and so does the next call [C2, C8]",
          "[waits]") {
  const auto check = [](const auto& jitter) {
    std::set<Duration> all;
    std::size_t count = 0;
    for (const auto& [name, waits] : every_way(ConstantBackoff{1h}, jitter)) {
      INFO(name << ": " << waits);
      CHECK(waits.size() == retries);
      CHECK(std::set<Duration>(waits.begin(), waits.end()).size() == waits.size());
      all.insert(waits.begin(), waits.end());
      count += waits.size();
    }
    CHECK(all.size() == count);
  };
  check(FullJitter{});
  check(ProportionalJitter{0.25});
  check(DecorrelatedJitter{});
}

TEST_CASE("a seed and an id give the same waits on every way of running a call, all of them different [C8]",
          "[waits]") {
  const auto ways = every_way(ExponentialBackoff{}, FullJitter{}, Seed{7});
  const auto& plain = ways.front().waits;
  CHECK(std::set<Duration>(plain.begin(), plain.end()).size() == retries);
  for (const auto& [name, waits] : ways) {
    INFO(name);
    CHECK(waits == plain);
  }
  const auto by_settings = [] {
    FakeClock clock;
    return by_run(clock,
                  RetryPolicy{RetryOn<Busy>{}, clock,
                              RetrySettings{.max_retries = retries, .jitter = JitterShape::full, .seed = 7}});
  };
  CHECK(by_settings() == plain);
}

TEST_CASE("a hint exactly at its cap is obeyed without observers too, and one over it ends the call [E2]",
          "[waits]") {
  const auto sleeps_after = [](Duration hint, const auto&... more) {
    FakeClock clock;
    const RetryPolicy policy{RetryOn<Busy>{}, clock, MaxRetries{1}, NoJitter{}, more...};
    auto attempts = 0;
    CHECK_THROWS_AS(policy.run([&]() -> int { throw(++attempts, Busy{hint}); }), Busy);
    CHECK(attempts == static_cast<int>(clock.sleeps().size()) + 1);
    return clock.sleeps();
  };
  CHECK(sleeps_after(120s) == Durations{120s});
  CHECK(sleeps_after(120s + 1ns) == Durations{});
  CHECK(sleeps_after(5s, HintCap{5s}) == Durations{5s});
  CHECK(sleeps_after(5s + 1ns, HintCap{5s}) == Durations{});
}

TEST_CASE("an attempt's own limit is the same for threads, coroutines and observed calls [D6]", "[waits]") {
  FakeClock clock;
  std::vector<Duration> left;
  const auto look = [&](const Attempt& attempt) {
    clock.advance(attempt.ordinal * 50ms);
    left.push_back(*attempt.remaining());
    throw Busy{};
  };
  const RetryPolicy policy{RetryOn<Busy>{},       clock,     MaxRetries{2}, ConstantBackoff{1h},
                           AttemptTimeout{120ms}, NoJitter{}};
  const auto runs = [&](const auto& way) {
    left.clear();
    CHECK_THROWS_AS(way(), Busy);
    CHECK(left == std::vector<Duration>{70ms, 20ms, 0ms});
  };
  runs([&] { policy.run(look); });
  runs([&] { policy.with(Observe{[](const Event&) {}}, AdmitsAll{}).run(call, look); });
  runs([&] { policy.with(TimeBudget{8h}).run({.id = "a", .deadline = TimePoint::max()}, look); });
  runs([&] {
    ManualExecutor executor{clock};
    const auto looks = [&](const Attempt& attempt) -> Task<int> {
      look(attempt);
      co_return 17;
    };
    executor.run(co_run(policy, call, looks, executor.sleeper()));
  });

  FakeClock unread;  // where the limit is left open at run time, nobody reads the clock
  RetryPolicy{RetryOn<Busy>{}, unread, RetrySettings{}}.run(
      [](const Attempt& attempt) { CHECK(!attempt.remaining()); });
  CHECK(unread.readings() == 0);
}

// ---- slept ------------------------------------------------------------------------------------------------------------------

/// Sleeps for ten times as long as it was told, and is woken by a stop request if one is to come.
struct Oversleeps : FakeClock {
  std::stop_source* stop = nullptr;
  void sleep_for(Duration wait, const StopView&) {
    advance(10 * wait);
    if (stop != nullptr) stop->request_stop();
  }
};

TEST_CASE("the time a call slept is never more than its waits, however late it woke [F1, K1]", "[waits]") {
  Oversleeps clock;
  const RetryPolicy policy{RetryOn<Busy>{},     clock,      MaxRetries{2},
                           ConstantBackoff{1s}, NoJitter{}, ReturnOutcome{}};
  const auto fail = [] { throw Busy{}; };
  const auto late = policy.run(fail);
  CHECK(late.slept() == 2s);
  CHECK(late.elapsed() == 20s);

  std::stop_source source;
  const auto token = source.get_token();
  clock.stop = &source;
  const auto stopped = policy.run({.stop = token}, fail);
  CHECK(stopped.reason() == StopReason::cancelled);
  CHECK(stopped.slept() == 1s);

  FakeClock own;
  std::stop_source later;
  const auto later_token = later.get_token();
  const auto same = policy.with(own);
  Retrying job{same, {.stop = later_token}};
  REQUIRE(job.begin().goes_on());
  REQUIRE(job.threw(busy) == Decision{.wait = 1s});
  own.advance(1h);
  later.request_stop();
  CHECK(job.resume() == Decision{.stop = StopReason::cancelled});
  CHECK(job.slept() == 1s);
}

TEST_CASE("a restored call that woke late has slept no more than its wait [F1, K1]", "[waits]") {
  FakeClock clock;
  const RetryPolicy policy{RetryOn<Busy>{}, clock, MaxRetries{2}, ConstantBackoff{10s}, NoJitter{}};
  std::string saved;
  {
    DurableCall durable{policy, call};
    REQUIRE(durable.begin().goes_on());
    REQUIRE(durable.threw(busy).goes_on());
    saved = durable.save();
  }
  clock.advance(4s);
  std::stop_source source;
  const auto token = source.get_token();
  DurableCall restored{policy, SavedCall::read(saved), IfPolicyChanged::refuse, token};
  CHECK(restored.next() == Decision{.wait = 6s});
  clock.advance(1h);
  source.request_stop();
  CHECK(restored.resume() == Decision{.stop = StopReason::cancelled});
  CHECK(restored.slept() == 10s);
}

}  // namespace
