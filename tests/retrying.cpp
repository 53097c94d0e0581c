#include "attempts.hpp"
#include "invalid_setting.hpp"
#include <encore/durable/durable_call.hpp>
#include <encore/guard/circuit_breaker.hpp>
#include <encore/limits.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/retrying.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <type_traits>
#include <vector>

using namespace std::chrono_literals;
using namespace encore;
using namespace encore::testing;

namespace {

struct Busy : std::runtime_error {
  using std::runtime_error::runtime_error;
};

const std::exception_ptr busy = std::make_exception_ptr(Busy{"busy"});

static_assert(!std::is_copy_constructible_v<Retrying<RetryPolicy<SteadyClock, RetryOn<Busy>>>>);

// As a library does it that runs work elsewhere and brings back a value or an exception_ptr.
template <class Policy, class Callable>
std::string drive_by_deliveries(const Policy& policy, const Call& call, Callable& callable) {
  Retrying retrying{policy, call};
  std::exception_ptr failure;
  auto next = retrying.begin();
  while (next.goes_on()) {
    try {
      auto result = callable();
      retrying.succeeded();
      return result;
    } catch (...) {
      failure = std::current_exception();
    }
    next = retrying.threw(failure);
    if (!next.goes_on()) break;
    if (next.wait > Duration::zero()) policy.clock().sleep_for(next.wait, {});
    next = retrying.resume();
  }
  if constexpr (!Policy::rethrows) {
    if (retrying.strategy_handles(next.stop))
      return policy.failure_strategy().template failed<std::string>(retrying.failure());
  }
  std::rethrow_exception(failure);
}

TEST_CASE(
    "the rows of attempts.csv hold for failures that are reported to Retrying outside a handler [A1, A2, B3, "
    "C1, C6, G1]",
    "[retrying]") {
  encore_tests::check_attempts([](const auto& policy, const Call& call, auto& script) {
    return drive_by_deliveries(policy, call, script);
  });
}

TEST_CASE("one timer queue drives many Retrying calls, each with its own ordinals and waits [A3, A4]",
          "[retrying]") {
  FakeClock clock;
  const RetryPolicy policy{RetryOn<Busy>{}, NoJitter{}, MaxRetries{3}, clock,
                           ExponentialBackoff{.initial_delay = 1s}};
  using Job = Retrying<std::remove_const_t<decltype(policy)>>;
  std::vector<std::unique_ptr<Job>> jobs;
  std::multimap<TimePoint, std::size_t> timers;
  std::vector<std::vector<int>> ordinals(5);
  const auto run = [&](std::size_t which, Decision next) {
    if (!next.goes_on()) return;
    auto& job = *jobs[which];
    ordinals[which].push_back(job.attempt().ordinal);
    if (job.attempts() > static_cast<int>(which)) return job.succeeded();  // job n fails n times
    if (next = job.threw(busy); next.goes_on()) timers.emplace(later(clock.now(), next.wait), which);
  };
  for (std::size_t which = 0; which < ordinals.size(); ++which) {
    jobs.push_back(std::make_unique<Job>(policy, Call{.id = "job"}));
    run(which, jobs.back()->begin());
  }
  while (!timers.empty()) {
    const auto [due, which] = *timers.begin();
    timers.erase(timers.begin());
    clock.set(due);
    run(which, jobs[which]->resume());
  }
  CHECK(ordinals == std::vector<std::vector<int>>{{1}, {1, 2}, {1, 2, 3}, {1, 2, 3, 4}, {1, 2, 3, 4}});
  CHECK(clock.now() == TimePoint{7s});  // 1 s + 2 s + 4 s, side by side
  for (std::size_t which = 0; which < 4; ++which) CHECK(jobs[which]->reason() == StopReason::succeeded);
  CHECK(jobs[4]->reason() == StopReason::retries_exhausted);
  CHECK(jobs[3]->slept() == 7s);
}

TEST_CASE("a failure that was reported to Retrying is stored for later inspection [G3]", "[retrying]") {
  const RetryPolicy policy{RetryOn<Busy>{}, MaxRetries{0}, ReturnOutcome{}};
  Retrying retrying{policy, {.id = "job-7", .name = "mail"}};
  CHECK(retrying.begin().goes_on());
  CHECK(retrying.threw(busy) == Decision{.stop = StopReason::retries_exhausted});
  const auto failure = retrying.failure();
  CHECK(failure.error == busy);
  CHECK(failure.call_id == "job-7");
  CHECK(failure.call_name == "mail");
  CHECK(failure.attempts == 1);
}

TEST_CASE("exceptions that are not std::exceptions are distinguished when reported to Retrying [B2, B3]",
          "[retrying]") {
  const RetryPolicy policy{RetryOn<int>{}, ConstantBackoff{5s}, NoJitter{}};
  Retrying retrying{policy, {}};
  CHECK(retrying.begin().goes_on());
  CHECK(retrying.threw(std::make_exception_ptr(17)) == Decision{.wait = 5s});
  CHECK(retrying.resume().goes_on());
  CHECK(retrying.threw(std::make_exception_ptr("text")) == Decision{.stop = StopReason::not_retryable});
}

TEST_CASE("a value reported to Retrying is a success unless the predicate calls it a failure [B8]",
          "[retrying]") {
  const RetryPolicy policy{RetryIfResult{[](int status) { return status == 503; }}, NoJitter{}};
  Retrying retrying{policy, {}};
  CHECK(retrying.begin().goes_on());
  CHECK(retrying.returned(503) == Decision{.wait = 1s});
  CHECK(retrying.resume().goes_on());
  CHECK(retrying.returned(200) == Decision{.stop = StopReason::succeeded});
  CHECK(retrying.attempts() == 2);
  CHECK(retrying.reason() == StopReason::succeeded);
}

TEST_CASE("a Retrying call whose time is up, or that was stopped, does not begin [D5, K2]", "[retrying]") {
  FakeClock clock;
  const RetryPolicy policy{RetryOn<Busy>{}, clock};
  Retrying expired{policy, {.deadline = clock.now()}};
  CHECK(expired.begin() == Decision{.stop = StopReason::expired_on_entry});
  CHECK(expired.attempts() == 0);
  std::stop_source source;
  source.request_stop();
  const auto token = source.get_token();
  Retrying stopped{policy, {.stop = token}};
  CHECK(stopped.begin() == Decision{.stop = StopReason::cancelled_on_entry});
  CHECK(stopped.attempts() == 0);
}

TEST_CASE("after a wait that took too long, or was stopped, Retrying makes no attempt [D3, K1]",
          "[retrying]") {
  FakeClock clock;
  Recorder trace;
  std::stop_source source;
  const auto token = source.get_token();
  const RetryPolicy policy{RetryOn<Busy>{}, NoJitter{}, clock, trace};
  Retrying late{policy, {.id = "late", .deadline = clock.now() + 10s}};
  Retrying stopped{policy, {.id = "stopped", .stop = token}};
  CHECK(late.begin().goes_on());
  CHECK(stopped.begin().goes_on());
  CHECK(late.threw(busy).wait == 1s);
  CHECK(stopped.threw(busy).wait == 1s);
  clock.advance(300ms);
  source.request_stop();
  CHECK(stopped.resume() == Decision{.stop = StopReason::cancelled});
  CHECK(stopped.slept() == 300ms);
  clock.advance(10s);
  CHECK(late.resume() == Decision{.stop = StopReason::deadline});
  CHECK(late.failure().error == busy);
  CHECK(trace.of("late").back().reason == StopReason::deadline);
  CHECK(trace.of("late").back().ordinal == 1);
}

TEST_CASE("a Retrying call that has stopped does not continue, though its driver asks again [C6]",
          "[retrying]") {
  FakeClock clock;
  const RetryPolicy policy{RetryOn<Busy>{}, MaxRetries{0}, clock};
  Retrying retrying{policy, {.id = "job-7"}};
  REQUIRE(retrying.begin().goes_on());
  const Decision exhausted{.stop = StopReason::retries_exhausted};
  REQUIRE(retrying.threw(busy) == exhausted);
  CHECK(retrying.resume() == exhausted);
  CHECK(retrying.attempts() == 1);
}

TEST_CASE("results reported to a Retrying call that has stopped cause no event, and change nothing [F1, H1]",
          "[retrying]") {
  FakeClock clock;
  Recorder trace;
  encore::CircuitBreaker breaker{{.failures_to_open = 2}};
  const RetryPolicy policy{RetryOn<Busy>{}, MaxRetries{0}, clock, trace, breaker};
  const auto report_again = [&](auto& retrying, const Decision& stopped) {
    const auto before = trace.events();
    retrying.succeeded();
    CHECK(retrying.threw(busy) == stopped);
    CHECK(retrying.returned(17) == stopped);
    CHECK(retrying.reason() == stopped.stop);
    CHECK(trace.events() == before);
    CHECK(breaker.state(Now{clock}) == CircuitState::closed);
  };
  Retrying failed{policy, {.id = "failed"}};
  REQUIRE(failed.begin().goes_on());
  REQUIRE_FALSE(failed.threw(busy).goes_on());
  report_again(failed, {.stop = StopReason::retries_exhausted});

  Retrying done{policy, {.id = "done"}};
  REQUIRE(done.begin().goes_on());
  done.succeeded();
  report_again(done, {.stop = StopReason::succeeded});
}

TEST_CASE("an attempt reported twice to Retrying fails once, and a late success still counts [F1, H1]",
          "[retrying]") {
  FakeClock clock;
  Recorder trace;
  encore::CircuitBreaker breaker{{.failures_to_open = 2}};
  const RetryPolicy policy{RetryOn<Busy>{} || RetryIfResult{[](int status) { return status == 503; }},
                           MaxRetries{1}, clock, trace, breaker};
  Retrying retrying{policy, {.id = "job-7"}};
  REQUIRE(retrying.begin().goes_on());
  const auto again = retrying.threw(busy);  // a time limit of the driver's, say
  REQUIRE(again.goes_on());
  const auto told = trace.events();
  CHECK(retrying.threw(busy) == again);
  CHECK(retrying.returned(503) == again);
  CHECK(trace.events() == told);
  CHECK(breaker.state(Now{clock}) == CircuitState::closed);
  CHECK(retrying.returned(200) == Decision{.stop = StopReason::succeeded});
  CHECK(trace.of("job-7").back().reason == StopReason::succeeded);
  CHECK(retrying.attempts() == 1);

  DurableCall durable{policy, {.id = "job-8"}};
  REQUIRE(durable.begin().goes_on());
  const auto saved = durable.threw(busy);
  REQUIRE(saved.goes_on());
  const auto due = durable.due();
  clock.advance(1ms);
  CHECK(durable.threw(busy) == saved);
  CHECK(durable.due() == due);
}

TEST_CASE("no attempt runs twice when a timer fires twice, or a Retrying call is begun twice [A1, A4]",
          "[retrying]") {
  const RetryPolicy policy{RetryOn<Busy>{}, MaxRetries{1}, NoJitter{}};
  const Call call{.id = "job-7"};
  const auto hold = [&](auto& driven) {
    const auto begin_again = [&] { return encore_tests::refusal_of([&] { return driven.begin(); }); };
    const auto resume_again = [&] { return encore_tests::refusal_of([&] { return driven.resume(); }); };
    const std::string begun = "encore: call = job-7 cannot begin: it has begun";
    const std::string waits_not = "encore: call = job-7 cannot be resumed: it does not wait";
    CHECK(resume_again() == waits_not);
    REQUIRE(driven.begin().goes_on());
    CHECK(begin_again() == begun);
    CHECK(resume_again() == waits_not);
    REQUIRE(driven.threw(busy).goes_on());
    CHECK(begin_again() == begun);
    REQUIRE(driven.resume().goes_on());
    CHECK(resume_again() == waits_not);
    CHECK(driven.attempts() == 2);
    const Decision exhausted{.stop = StopReason::retries_exhausted};
    CHECK(driven.threw(busy) == exhausted);
    CHECK(driven.begin() == exhausted);
  };
  Retrying retrying{policy, call};
  hold(retrying);
  DurableCall durable{policy, call};
  hold(durable);
}

}  // namespace
