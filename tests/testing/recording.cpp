#include "by_hand.hpp"
#include "net_timeout.hpp"
#include <encore/observer.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recording.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::EventKind;
using encore::EventRecord;
using encore::StopReason;
using encore::TerminalMode;
using encore::TimePoint;

namespace {

// Every field is set, and set differently from its default.
EventRecord everything() {
  return {.kind = EventKind::attempt_failed,
          .call_id = "call-17",
          .call_name = "stock",
          .resolved_name = "inventory_lookup",
          .ordinal = 2,
          .max_attempts = 3,
          .inner_attempts = 4,
          .max_requests = 12,
          .error_type = "net::TimeoutError",
          .error_name = "timeout",
          .error_code = "insufficient_quota",
          .status = 503,
          .request_id = "request-9",
          .dispatched = true,
          .answered = true,
          .dispatched_again = true,
          .error_result = true,
          .will_retry = true,
          .wait = 500ms,
          .hint = 1s,
          .reason = StopReason::deadline,
          .outcome_unknown = true,
          .mode = TerminalMode::exception,
          .slept = 250ms,
          .at = TimePoint{1500ms},
          .elapsed = 1250ms,
          .observer_errors = 1,
          .outer_id = "call-16",
          .outer_ordinal = 1};
}

TEST_CASE("a recorded event is an owning copy of every field [F2, F5, F6]", "[recording]") {
  FakeClock clock;
  std::optional<EventRecord> copy;
  {
    std::string id{"call-17"};
    const encore::Call call{.id = id};
    const encore::CurrentCall current{call};
    const by_hand::AttemptOf outer{"call-16"};
    const by_hand::AttemptOf attempt{call, 2};
    attempt.attempt.note_request_id("request-9");
    attempt.attempt.mark_dispatched();
    attempt.attempt.mark_dispatched();
    attempt.attempt.note_status(503);
    attempt.attempt.note("insufficient_quota");
    attempt.attempt.mark_answered();
    attempt.attempt.mark_error_result();
    std::optional<TimePoint> started{TimePoint{250ms}};
    clock.advance(1500ms);
    try {
      throw net::TimeoutError{"host db-1"};
    } catch (const std::exception& error) {
      const encore::Thrown thrown{&error};
      const encore::Event event{.kind = EventKind::attempt_failed,
                                .ordinal = 2,
                                .call_name = "stock",
                                .resolved_name = "inventory_lookup",
                                .will_retry = true,
                                .reason = StopReason::deadline,
                                .mode = TerminalMode::exception,
                                .wait = 500ms,
                                .hint = 1s,
                                .slept = 250ms,
                                .observer_errors = 1,
                                .outcome_unknown = true,
                                .thrown = &thrown,
                                .error_name = "timeout",
                                .notes = &attempt.notes,
                                .outer = &outer.attempt,
                                .current = &current,
                                .max_retries = 2,
                                .inner_attempts = 4,
                                .now = encore::Now{clock},
                                .started = &started};
      copy = record(event);
    }
    id = "xxxxxxx";
  }
  REQUIRE(copy.has_value());
  CHECK(*copy == everything());
}

TEST_CASE("a recorded event of which little is known has defaults for the rest [A1, F2]", "[recording]") {
  FakeClock clock;
  std::optional<TimePoint> nobody_read_it{};
  const encore::Event event{.id = "call-17",
                            .max_retries = encore::CountLimit{encore::UnlimitedRetries{}}.max_retries(false),
                            .now = encore::Now{clock},
                            .started = &nobody_read_it};
  CHECK(record(event) ==
        EventRecord{
            .kind = EventKind::attempt_started, .call_id = "call-17", .at = TimePoint{}, .elapsed = 0s});
}

TEST_CASE("a recorded event is printed as one line with everything that is not at its default",
          "[recording]") {
  CHECK(to_string(EventRecord{
            .kind = EventKind::attempt_started, .call_id = "call-17", .ordinal = 1, .max_attempts = 3}) ==
        "call-17 1 of 3: attempt_started");
  CHECK(to_string(EventRecord{.kind = EventKind::attempt_started,
                              .call_id = "call-17",
                              .call_name = "inventory_lookup",
                              .ordinal = 1}) == "call-17 (inventory_lookup) 1 of unlimited: attempt_started");
  CHECK(to_string(EventRecord{.kind = EventKind::attempt_failed,
                              .call_id = "call-17",
                              .ordinal = 1,
                              .max_attempts = 3,
                              .error_type = "TimeoutError",
                              .will_retry = true,
                              .wait = 250ms}) ==
        "call-17 1 of 3: attempt_failed, TimeoutError, retry after 250ms");
  CHECK(to_string(EventRecord{.kind = EventKind::call_finished,
                              .call_id = "call-17",
                              .ordinal = 3,
                              .max_attempts = 3,
                              .reason = StopReason::succeeded,
                              .mode = TerminalMode::result,
                              .slept = 750ms}) ==
        "call-17 3 of 3: call_finished, succeeded, mode result, slept 750ms");
  CHECK(to_string(everything()) ==
        "call-17 (stock) 2 of 3: attempt_failed, resolved to inventory_lookup, inner attempts: 4, "
        "requests at most: 12, net::TimeoutError, named timeout, code insufficient_quota, status 503, "
        "request request-9, dispatched, "
        "dispatched again, answered, error result, retry after 500ms, hint 1s, deadline, outcome unknown, "
        "mode exception, slept 250ms, at 1.5s, elapsed 1.25s, observer errors: 1, inside call-16, its "
        "attempt 1");
}

TEST_CASE("the names a model gives its tools do not act on the terminal that shows a recorded event [F5]",
          "[recording]") {
  CHECK(
      to_string(EventRecord{.kind = EventKind::attempt_started,
                            .call_id = "call 1",
                            .call_name = "a\nb",
                            .resolved_name = "\x1B[2J",
                            .ordinal = 1,
                            .request_id = "\xE2\x80\xAE",
                            .outer_id = "\xC2\x9B"}) ==
      R"("call 1" ("a\nb") 1 of unlimited: attempt_started, resolved to "\u001b[2J", request "\u202e", inside "\u009b")");
}

TEST_CASE("recorded events that differ are never printed alike", "[recording]") {
  const auto all = everything();
  const auto differs = [&](auto change) {
    auto other = all;
    change(other);
    CHECK_FALSE(other == all);
    CHECK(to_string(other) != to_string(all));
  };
  differs([](EventRecord& event) { event.kind = EventKind::call_finished; });
  differs([](EventRecord& event) { event.call_id = "call-18"; });
  differs([](EventRecord& event) { event.call_name.clear(); });
  differs([](EventRecord& event) { event.resolved_name.clear(); });
  differs([](EventRecord& event) { event.ordinal = 3; });
  differs([](EventRecord& event) { event.max_attempts.reset(); });
  differs([](EventRecord& event) { event.inner_attempts.reset(); });
  differs([](EventRecord& event) { event.max_requests.reset(); });
  differs([](EventRecord& event) { event.will_retry = false; });
  differs([](EventRecord& event) { event.wait = 1s; });
  differs([](EventRecord& event) { event.hint.reset(); });
  differs([](EventRecord& event) { event.reason = StopReason::none; });
  differs([](EventRecord& event) { event.mode = TerminalMode::none; });
  differs([](EventRecord& event) { event.error_type.clear(); });
  differs([](EventRecord& event) { event.error_name.clear(); });
  differs([](EventRecord& event) { event.error_code.clear(); });
  differs([](EventRecord& event) { event.status.reset(); });
  differs([](EventRecord& event) { event.request_id.clear(); });
  differs([](EventRecord& event) { event.dispatched = false; });
  differs([](EventRecord& event) { event.answered = false; });
  differs([](EventRecord& event) { event.not_run = true; });
  differs([](EventRecord& event) { event.dispatched_again = false; });
  differs([](EventRecord& event) { event.error_result = false; });
  differs([](EventRecord& event) { event.slept = 0s; });
  differs([](EventRecord& event) { event.observer_errors = 0; });
  differs([](EventRecord& event) { event.outcome_unknown = false; });
  differs([](EventRecord& event) { event.outer_id.clear(); });
  differs([](EventRecord& event) { event.outer_ordinal = 0; });
  differs([](EventRecord& event) { event.key_used = true; });
  differs([](EventRecord& event) { event.message = "host db-1"; });
  differs([](EventRecord& event) { event.scope = "s"; });
  differs([](EventRecord& event) { event.wall = encore::WallTime{}; });
  differs([](EventRecord& event) { event.took = 1s; });
  differs([](EventRecord& event) { event.remaining = 1s; });
  differs([](EventRecord& event) { event.at.reset(); });
  differs([](EventRecord& event) { event.elapsed.reset(); });
}

TEST_CASE("a recording is viewed as a whole, by call, and without its times", "[recording]") {
  const Recording both{
      {.kind = EventKind::attempt_started,
       .call_id = "call-2",
       .ordinal = 1,
       .at = TimePoint{1s},
       .elapsed = 0s},
      {.kind = EventKind::attempt_started, .call_id = "call-1", .ordinal = 1, .at = TimePoint{2s}},
      {.kind = EventKind::call_finished, .call_id = "call-2", .ordinal = 1, .slept = 5s, .elapsed = 1s}};
  CHECK(both.call_ids() == std::vector<std::string>{"call-2", "call-1"});
  CHECK(both.of("call-1") ==
        Recording{
            {.kind = EventKind::attempt_started, .call_id = "call-1", .ordinal = 1, .at = TimePoint{2s}}});
  CHECK(both.of("call-3").empty());
  CHECK(both.by_call() == std::vector{both.of("call-2"), both.of("call-1")});
  CHECK(both.of("call-2").without_times() ==
        Recording{{.kind = EventKind::attempt_started, .call_id = "call-2", .ordinal = 1},
                  {.kind = EventKind::call_finished, .call_id = "call-2", .ordinal = 1, .slept = 5s}});
}

TEST_CASE("a failing test shows a recording as one line an event", "[recording]") {
  const Recording events{
      {.kind = EventKind::attempt_started, .call_id = "call-17", .ordinal = 1, .max_attempts = 3},
      {.kind = EventKind::attempt_succeeded, .call_id = "call-17", .ordinal = 1, .max_attempts = 3}};
  CHECK(Catch::Detail::stringify(events) ==
        "call-17 1 of 3: attempt_started\ncall-17 1 of 3: attempt_succeeded");
  CHECK(Catch::Detail::stringify(events[0]) == "call-17 1 of 3: attempt_started");
  CHECK(Catch::Detail::stringify(Recording{}) == "(no events)");
}

}  // namespace
