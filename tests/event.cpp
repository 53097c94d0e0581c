#include "empty_permit.hpp"
#include <encore/event.hpp>
#include <encore/guard/guard.hpp>
#include <encore/limits.hpp>
#include <encore/never_retry.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::Call, encore::Duration, encore::Event, encore::EventKind, encore::EventRecord,
    encore::StopReason, encore::TerminalMode;
using encore::RetryOn, encore::RetryPolicy;

namespace {

struct Slow : std::runtime_error {
  Slow() : std::runtime_error{"slow"} {}
};
struct Bug : std::logic_error {
  Bug() : std::logic_error{"bug"} {}
};
struct HintedSlow : Slow {
  explicit HintedSlow(Duration hint) : wait{hint} {}
  Duration wait;
  Duration retry_after() const { return wait; }
};

// ---- traces of call-17 -------------------------------------------------------------------------------------------------

EventRecord fact(EventKind kind, int ordinal) {
  return {.kind = kind, .call_id = "call-17", .call_name = "lookup", .ordinal = ordinal, .max_attempts = 3};
}
EventRecord started(int ordinal) { return fact(EventKind::attempt_started, ordinal); }
EventRecord retried(int ordinal, Duration wait, std::string error, std::optional<Duration> hint = {}) {
  auto event = fact(EventKind::attempt_failed, ordinal);
  event.will_retry = true;
  event.wait = wait;
  event.error_type = std::move(error);
  event.hint = hint;
  return event;
}
EventRecord stopped(int ordinal, StopReason reason, std::string error, Duration wait = {},
                    std::optional<Duration> hint = {}) {
  auto event = retried(ordinal, wait, std::move(error), hint);
  event.will_retry = false;
  event.reason = reason;
  return event;
}
EventRecord succeeded(int ordinal) {
  auto event = fact(EventKind::attempt_succeeded, ordinal);
  event.reason = StopReason::succeeded;
  return event;
}
EventRecord finished(int attempts, StopReason reason, TerminalMode mode, std::string error = {},
                     Duration slept = {}) {
  auto event = fact(EventKind::call_finished, attempts);
  event.reason = reason;
  event.mode = mode;
  event.error_type = std::move(error);
  event.slept = slept;
  return event;
}

const auto slow = []() -> int { throw Slow{}; };
const auto bug = []() -> int { throw Bug{}; };
const auto gives = [](int units) { return [units] { return units; }; };
using Steps = std::vector<std::function<int()>>;

struct Admits {  // a guard that changes nothing but the way a call starts
  using role = encore::role::Guard;
  static constexpr auto refusal = StopReason::refused_by_guard;
  using Permit = encore_tests::EmptyPermit;
  std::optional<Permit> admit(const encore::AdmissionRequest&) const { return Permit{}; }
};

// The call's trace; and the same, however the call starts.
template <class Policy>
Recording trace_of(const Policy& policy, Steps steps, Call call = {}) {
  call.id = "call-17";
  call.name = "lookup";
  std::stop_source never;
  const auto token = never.get_token();
  Recording first;
  for (int way = 0; way < 4; ++way) {
    FakeClock clock;
    Recorder trace;
    std::size_t next = 0;
    const auto play = [&] { return steps.at(next++)(); };
    const auto taking_attempt = [&](const encore::Attempt&) { return play(); };
    const auto observed = policy.with(clock, trace);
    auto this_call = call;
    if (way == 2 && !call.stop.watches()) this_call.stop = token;
    try {
      if (way == 0) static_cast<void>(observed.run(this_call, play));
      if (way == 1) static_cast<void>(observed.run(this_call, taking_attempt));
      if (way == 2) static_cast<void>(observed.run(this_call, play));
      if (way == 3) static_cast<void>(observed.with(Admits{}).run(this_call, play));
    } catch (const std::exception&) {}
    if (way == 0) first = trace.events().without_times();
    INFO("way " << way);
    CHECK(trace.events().without_times() == first);
  }
  return first;
}

const RetryPolicy policy{RetryOn<Slow>{}, encore::NoJitter{}};
const encore::FormatFailure format{[](const encore::Failure&) { return -1; }};

TEST_CASE("a call that succeeds reports its attempts and its end, at once or after retries [F1, G6]",
          "[event]") {
  CHECK(trace_of(policy, {gives(17)}) ==
        Recording{started(1), succeeded(1), finished(1, StopReason::succeeded, TerminalMode::result)});
  const Recording after_retries{started(1),
                                retried(1, 1s, "Slow"),
                                started(2),
                                retried(2, 2s, "Slow"),
                                started(3),
                                succeeded(3),
                                finished(3, StopReason::succeeded, TerminalMode::result, "", 3s)};
  CHECK(trace_of(policy, {slow, slow, gives(17)}) == after_retries);
  CHECK(trace_of(policy.with(encore::ReturnOutcome{}), {slow, slow, gives(17)}) == after_retries);
  CHECK(trace_of(policy.with(format), {slow, slow, gives(17)}) == after_retries);
}

TEST_CASE("an exhausted call reports the same events for every strategy, each with its mode [F1, A7]",
          "[event]") {
  const auto exhausted = [](TerminalMode mode) {
    return Recording{started(1),
                     retried(1, 1s, "Slow"),
                     started(2),
                     retried(2, 2s, "Slow"),
                     started(3),
                     stopped(3, StopReason::retries_exhausted, "Slow"),
                     finished(3, StopReason::retries_exhausted, mode, "Slow", 3s)};
  };
  CHECK(trace_of(policy, {slow, slow, slow}) == exhausted(TerminalMode::exception));
  CHECK(trace_of(policy.with(encore::ReturnOutcome{}), {slow, slow, slow}) ==
        exhausted(TerminalMode::error_result));
  CHECK(trace_of(policy.with(format), {slow, slow, slow}) == exhausted(TerminalMode::formatted));
}

TEST_CASE("zero retries have the same events, ordinal 1 included (fault 14: avast #124, #113) [F1]",
          "[event]") {
  auto expected = Recording{started(1), stopped(1, StopReason::retries_exhausted, "Slow"),
                            finished(1, StopReason::retries_exhausted, TerminalMode::exception, "Slow")};
  for (auto& event : expected) event.max_attempts = 1;
  CHECK(trace_of(policy.with(encore::MaxRetries{0}), {slow}) == expected);
}

TEST_CASE("an unlimited call's events say that it is unlimited [F2]", "[event]") {
  auto expected =
      Recording{started(1), succeeded(1), finished(1, StopReason::succeeded, TerminalMode::result)};
  for (auto& event : expected) event.max_attempts.reset();
  CHECK(trace_of(policy.with(encore::UnlimitedRetries{}), {gives(1)}) == expected);
}

TEST_CASE("a failure that is not retried propagates after its attempt, with any strategy [F1, B3]",
          "[event]") {
  const auto once = [](StopReason reason, const char* error, TerminalMode mode = TerminalMode::exception) {
    return Recording{started(1), stopped(1, reason, error), finished(1, reason, mode, error)};
  };
  CHECK(trace_of(policy, {bug}) == once(StopReason::not_retryable, "Bug"));
  CHECK(trace_of(policy.with(encore::ReturnOutcome{}), {bug}) == once(StopReason::not_retryable, "Bug"));
  CHECK(trace_of(policy.with(format), {bug}) == once(StopReason::not_retryable, "Bug"));
  CHECK(trace_of(policy.with(format, encore::HandleUnmatched{}), {bug}) ==
        once(StopReason::not_retryable, "Bug", TerminalMode::formatted));
  CHECK(trace_of(policy.with(RetryOn<std::runtime_error>{}, encore::NeverRetry<Slow>{}), {slow}) ==
        once(StopReason::never_retry_type, "Slow"));
  const auto cancelled = []() -> int { throw encore::Cancelled{}; };
  CHECK(trace_of(policy.with(encore::RetryOnEveryException{}), {cancelled}) ==
        once(StopReason::never_retry_type, "encore::Cancelled"));
  CHECK(trace_of(policy.with(encore::RetryIf{[](const Slow&) -> bool { throw 42; }}), {slow}) ==
        once(StopReason::predicate_threw, "Slow"));
}

TEST_CASE(
    "a failed value's event has no error type, and its call ends in its result or in the strategy's [F1, G1]",
    "[event]") {
  const auto by_value = policy.with(encore::RetryIfResult{[](int units) { return units < 0; }});
  const auto exhausted = [](TerminalMode mode) {
    return Recording{started(1),
                     retried(1, 1s, ""),
                     started(2),
                     retried(2, 2s, ""),
                     started(3),
                     stopped(3, StopReason::retries_exhausted, ""),
                     finished(3, StopReason::retries_exhausted, mode, "", 3s)};
  };
  const Steps steps{gives(-1), gives(-2), gives(-3)};
  CHECK(trace_of(by_value, steps) == exhausted(TerminalMode::result));
  CHECK(trace_of(by_value.with(encore::ReturnOutcome{}), steps) == exhausted(TerminalMode::error_result));
  CHECK(trace_of(by_value.with(format), steps) == exhausted(TerminalMode::formatted));
  CHECK(trace_of(by_value, {gives(-1), gives(5)}) ==
        Recording{started(1), retried(1, 1s, ""), started(2), succeeded(2),
                  finished(2, StopReason::succeeded, TerminalMode::result, "", 1s)});
}

TEST_CASE("a call refused before its first attempt reports only its end [F1, D5, K2, G4]", "[event]") {
  const auto refused = [](StopReason reason, TerminalMode mode) {
    return Recording{finished(0, reason, mode)};
  };
  const auto expired = policy.with(encore::TimeBudget{0s}, encore::MaxRetries{2});
  CHECK(trace_of(expired, {}) == refused(StopReason::expired_on_entry, TerminalMode::exception));
  CHECK(trace_of(expired.with(encore::ReturnOutcome{}), {}) ==
        refused(StopReason::expired_on_entry, TerminalMode::error_result));
  CHECK(trace_of(policy, {}, {.deadline = encore::TimePoint{}}) ==
        refused(StopReason::expired_on_entry, TerminalMode::exception));
  std::stop_source stopped;
  stopped.request_stop();
  const auto token = stopped.get_token();
  CHECK(trace_of(policy, {}, {.stop = token}) ==
        refused(StopReason::cancelled_on_entry, TerminalMode::exception));
  CHECK(trace_of(policy.with(format), {}, {.stop = token}) ==
        refused(StopReason::cancelled_on_entry, TerminalMode::formatted));
}

TEST_CASE("a limit that stops a retry is reported with the wait it refused [F1, D3, D4, E2, E4]", "[event]") {
  const auto once = [](StopReason reason, Duration wait, std::optional<Duration> hint = {}) {
    const char* const error = hint ? "HintedSlow" : "Slow";
    return Recording{started(1), stopped(1, reason, error, wait, hint),
                     finished(1, reason, TerminalMode::exception, error)};
  };
  CHECK(trace_of(policy.with(encore::TimeBudget{1s}, encore::MaxRetries{2}), {slow}) ==
        once(StopReason::deadline, 1s));
  CHECK(trace_of(policy, {slow}, {.deadline = encore::TimePoint{1s}}) == once(StopReason::deadline, 1s));
  CHECK(trace_of(policy.with(encore::MinAttemptTime{500ms}), {slow},
                 {.deadline = encore::TimePoint{1400ms}}) == once(StopReason::too_little_time_left, 1s));
  const auto hinted = policy.with(RetryOn<HintedSlow>{});
  CHECK(trace_of(hinted, {[]() -> int { throw HintedSlow{121s}; }}) ==
        once(StopReason::hint_over_cap, 0s, 121s));
  CHECK(trace_of(hinted, {[]() -> int { throw HintedSlow{5s}; }}, {.deadline = encore::TimePoint{5s}}) ==
        once(StopReason::hint_past_deadline, 5s, 5s));
}

TEST_CASE("an event has both the hint and the wait that was chosen [E4]", "[event]") {
  const auto hinted = policy.with(RetryOn<HintedSlow, Slow>{});
  CHECK(trace_of(hinted, {[]() -> int { throw HintedSlow{7s}; }, slow, gives(1)}) ==
        Recording{started(1), retried(1, 7s, "HintedSlow", 7s), started(2), retried(2, 2s, "Slow"),
                  started(3), succeeded(3),
                  finished(3, StopReason::succeeded, TerminalMode::result, "", 9s)});
}

TEST_CASE("a registered name and the names of the call are in every event of it [F2]", "[event]") {
  FakeClock clock;
  Recorder trace;
  const Call call{.id = "call-17", .name = "InventoryLookup", .resolved_name = "inventory_lookup"};
  CHECK_THROWS_AS(policy.with(clock, trace).run(call, slow), Slow);
  CHECK(trace.events().size() == 7);
  for (const auto& event : trace.events()) {
    CHECK(event.call_id == "call-17");
    CHECK(event.call_name == "InventoryLookup");
    CHECK(event.resolved_name == "inventory_lookup");
    CHECK(event.max_attempts == 3);
  }
}

// ---- time is read when it is asked for (F2, P5) --------------------------------------------------------------------------

TEST_CASE("an observer that never asks the time costs no clock reading [F2, P5]", "[event]") {
  FakeClock clock;
  int events = 0;
  const auto counting = policy.with(clock, encore::Observe{[&events](const Event&) noexcept { ++events; }});
  CHECK(counting.run(gives(17)) == 17);
  CHECK(clock.readings() == 0);
  CHECK_THROWS_AS(counting.run(slow), Slow);
  CHECK(clock.readings() == 0);
  CHECK(events == 3 + 7);
}

TEST_CASE("an event's time is read once, when it is first asked for [F2]", "[event]") {
  FakeClock clock;
  std::vector<encore::TimePoint> heard;
  const auto ask = [&heard](const Event& event) {
    heard.push_back(event.at());
    CHECK(event.at() == heard.back());
  };
  const auto twice = policy.with(clock, encore::Observe{ask}, encore::Observe{ask});
  clock.advance(5s);
  CHECK(twice.run([&] {
    clock.advance(30ms);
    return 17;
  }) == 17);
  CHECK(clock.readings() == 3);
  const encore::TimePoint begin{5s}, end{5s + 30ms};
  CHECK(heard == std::vector{begin, begin, end, end, end, end});
}

TEST_CASE("a success reads the clock only for observers that need the time [P5]", "[event]") {
  const auto readings = [](const auto& under_test, const Call& call = {}) {
    FakeClock clock;
    static_cast<void>(under_test.with(clock).run(call, gives(17)));
    return clock.readings();
  };
  std::stop_source source;
  const auto token = source.get_token();
  CHECK(readings(policy) == 0);
  CHECK(readings(policy.with(Admits{})) == 0);
  CHECK(readings(policy.with(encore::MinAttemptTime{1s}, encore::HintCap{1s})) == 0);
  CHECK(readings(policy.with(encore::AttemptTimeout{1s})) ==
        1);  // when it began: its limit runs down within it
  CHECK(readings(policy.with(encore::AttemptTimeout{1s}, encore::TimeBudget{5s})) == 1);
  CHECK(readings(policy.with(encore::FormatFailure{[](const encore::Failure&) { return 0; }}, Admits{})) <=
        1);
  CHECK(readings(policy, {.stop = token}) == 0);
  CHECK(readings(policy.with(encore::TimeBudget{5s})) == 1);
  CHECK(readings(policy, {.deadline = encore::TimePoint{1h}}) == 1);
  CHECK(readings(policy.with(encore::ReturnOutcome{})) == 2);
}

TEST_CASE("the elapsed time is known only if the begin was read [F2, P5]", "[event]") {
  FakeClock clock;
  const auto elapsed_at_end = [&](const auto& under_test, bool asks_first) {
    std::optional<Duration> elapsed;
    static_cast<void>(under_test
                          .with(clock, encore::Observe{[&](const Event& event) {
                                  if (asks_first || event.kind == EventKind::call_finished)
                                    elapsed = event.elapsed();
                                  if (asks_first) static_cast<void>(event.at());
                                }})
                          .run([&] {
                            clock.advance(30ms);
                            return 17;
                          }));
    return elapsed;
  };
  CHECK(elapsed_at_end(policy, true) == 30ms);
  CHECK(elapsed_at_end(policy, false) == std::nullopt);
  CHECK(elapsed_at_end(policy.with(encore::TimeBudget{1h}), false) == 30ms);
  CHECK(elapsed_at_end(policy.with(encore::ReturnOutcome{}), false) == 30ms);
}

TEST_CASE("an event's calendar time is the policy's clock's [D1, F2]", "[event]") {
  FakeClock clock;
  clock.set_wall(FakeClock::first_wall + 24h);
  std::vector<encore::WallTime> heard;
  policy.with(clock, encore::Observe{[&](const Event& event) { heard.push_back(event.wall()); }}).run([] {});
  CHECK(heard == std::vector(3, encore::WallTime{FakeClock::first_wall + 24h}));
}

TEST_CASE("a callable's notes are in its attempt's event, and in no other's [F6]", "[event]") {
  FakeClock clock;
  Recorder trace;
  CHECK(policy.with(clock, trace).run({.id = "call-17"}, [](const encore::Attempt& attempt) {
    if (attempt.ordinal == 1) {
      attempt.mark_dispatched();
      attempt.mark_answered();
      attempt.note_status(503);
      attempt.note_request_id("req-9");
      throw Slow{};
    }
    return 17;
  }) == 17);
  const auto events = trace.of("call-17");
  REQUIRE(events.size() == 5);
  CHECK(events[1].status == 503);
  CHECK(events[1].request_id == "req-9");
  CHECK(events[1].dispatched);
  CHECK(events[1].answered);
  for (const std::size_t other : {0U, 2U, 3U, 4U}) {
    CHECK_FALSE(events[other].status);
    CHECK(events[other].request_id.empty());
    CHECK_FALSE(events[other].dispatched);
  }
}

static_assert(to_string(EventKind::call_finished) == "call_finished");
static_assert(to_string(TerminalMode::error_result) == "error_result");

TEST_CASE("a failing test shows event kinds and terminal modes by their names", "[event]") {
  std::ostringstream out;
  out << encore::EventKind::call_finished << ' ' << encore::TerminalMode::error_result;
  CHECK(out.str() == "call_finished error_result");
}

}  // namespace
