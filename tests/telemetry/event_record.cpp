#include "hand_made.hpp"
#include <encore/limits.hpp>
#include <encore/observer.hpp>
#include <encore/retry_policy.hpp>
#include <encore/telemetry/event_record.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using encore::event_record;
using encore::EventKind;
using encore::EventRecord;
using encore::StopReason;
using encore::TerminalMode;
using tests::TimeoutError;

constexpr encore::Scope scope{0x0123456789abcdef, 0xfedcba9876543210};

TEST_CASE("an event record has all that the event had, and outlives it [F5]", "[event_record]") {
  const tests::StillClock clock;
  std::optional<encore::TimePoint> started;
  const auto record = tests::in_handler_of(TimeoutError{"host db-1"}, [&](const encore::Thrown& thrown) {
    const encore::Call call{.id = "call-17"};
    const encore::CurrentCall current{call};
    const encore::TimeLimits limits{.started = clock.time, .budget = 5s};
    encore::AttemptNotes notes;
    const encore::Attempt attempt{1, current, notes, limits, encore::Now{clock}};
    attempt.note_status(503);
    attempt.note_request_id("req-9");
    attempt.mark_dispatched();
    static_cast<void>(attempt.idempotency_key());
    auto event = tests::event_of(EventKind::attempt_failed, 1, clock, started);
    event.resolved_name = "inventory.lookup";
    event.will_retry = true;
    event.wait = 250ms;
    event.hint = 1s;
    event.thrown = &thrown;
    event.notes = &notes;
    event.limits = &limits;
    event.outer = &attempt;
    return event_record(event, {.scope = &scope});
  });
  CHECK(record == EventRecord{.kind = EventKind::attempt_failed,
                              .wall = clock.calendar,
                              .scope = "0123456789abcdeffedcba9876543210",
                              .call_id = "call-17",
                              .call_name = "inventory_lookup",
                              .resolved_name = "inventory.lookup",
                              .ordinal = 1,
                              .max_attempts = 3,
                              .error_type = "tests::TimeoutError",
                              .status = 503,
                              .request_id = "req-9",
                              .dispatched = true,
                              .key_used = true,
                              .will_retry = true,
                              .wait = 250ms,
                              .hint = 1s,
                              .remaining = 5s,
                              .outer_id = "call-17",
                              .outer_ordinal = 1});
}

TEST_CASE(
    "an error's code is recorded with its attempt and with the call that failed, not with one that succeeded "
    "[F6, G6]",
    "[event_record]") {
  encore::testing::FakeClock clock;
  std::vector<std::string> codes;
  const auto look = [&](const encore::Event& event) { codes.push_back(event_record(event).error_code); };
  const encore::RetryPolicy policy{encore::RetryOn<TimeoutError>{}, encore::MaxRetries{1}, clock, look};
  const auto fail = [](const encore::Attempt& attempt) {
    attempt.note(attempt.ordinal == 1 ? "rate_limit_exceeded" : "insufficient_quota");
    throw TimeoutError{"429"};
  };
  CHECK_THROWS_AS(policy.run(fail), TimeoutError);
  // started, failed, started, failed, finished
  CHECK(codes ==
        std::vector<std::string>{"", "rate_limit_exceeded", "", "insufficient_quota", "insufficient_quota"});

  codes.clear();
  policy.run([&](const encore::Attempt& attempt) { attempt.ordinal == 1 ? fail(attempt) : void(); });
  CHECK(codes == std::vector<std::string>{"", "rate_limit_exceeded", "", "", ""});
}

TEST_CASE("an event record contains an exception's text only on request [F6]", "[event_record]") {
  const tests::StillClock clock;
  std::optional<encore::TimePoint> started;
  tests::in_handler_of(TimeoutError{"host db-1"}, [&](const encore::Thrown& thrown) {
    auto event = tests::event_of(EventKind::attempt_failed, 1, clock, started);
    event.thrown = &thrown;
    CHECK(event_record(event).message.empty());
    CHECK(event_record(event, {.exception_text = true}).message == "host db-1");
  });
}

TEST_CASE("an event record without a calendar asks for neither time nor scope", "[event_record]") {
  const tests::StillClock clock;
  std::optional<encore::TimePoint> started;
  const auto record =
      event_record(tests::event_of(EventKind::attempt_started, 1, clock, started), {.calendar = false});
  CHECK(!record.at);
  CHECK(record.scope.empty());
}

TEST_CASE("an event record has what is left of the call's time, until it has ended [D2]", "[event_record]") {
  encore::testing::FakeClock clock;
  std::vector<std::optional<encore::Duration>> remaining;
  const auto look = [&](const encore::Event& event) { remaining.push_back(event_record(event).remaining); };
  const encore::RetryPolicy policy{encore::RetryOn<TimeoutError>{},
                                   encore::MaxRetries{1},
                                   encore::ConstantBackoff{1s},
                                   encore::NoJitter{},
                                   encore::TimeBudget{5s},
                                   clock,
                                   look};
  int attempts = 0;
  policy.run({.id = "call-17"}, [&] {
    if (++attempts == 1) {
      clock.advance(500ms);
      throw TimeoutError{"slow"};
    }
  });
  // started, failed after 0.5 s, started after a wait of 1 s, succeeded, finished
  CHECK(remaining == std::vector<std::optional<encore::Duration>>{5s, 4500ms, 3500ms, {}, {}});

  remaining.clear();
  policy.without<encore::role::TimeBudget>().run({.id = "call-18"}, [] {});
  CHECK(remaining == std::vector<std::optional<encore::Duration>>(3));

  remaining.clear();
  policy.without<encore::role::TimeBudget>().run({.id = "call-19", .deadline = clock.now() + 2s},
                                                 [](const encore::Attempt&) {});
  CHECK(remaining == std::vector<std::optional<encore::Duration>>{2s, {}, {}});
}

}  // namespace
