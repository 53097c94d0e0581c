#include "hand_made.hpp"
#include <encore/telemetry/event_error_type.hpp>

#include <catch2/catch_test_macros.hpp>

#include <exception>
#include <optional>
#include <string>

namespace {

using encore::error_type;
using encore::EventKind;
using encore::StopReason;
using encore::Thrown;
using tests::TimeoutError;

const tests::StillClock clock{};
std::optional<encore::TimePoint> started{};

encore::Event event_of(EventKind kind, StopReason reason, int ordinal = 1) {
  auto event = tests::event_of(kind, ordinal, clock, started);
  event.reason = reason;
  return event;
}

TEST_CASE("an event's error is its exception's type, or the name registered for it", "[event_error_type]") {
  const auto type = tests::in_handler_of(TimeoutError{"host db-1"}, [](const Thrown& thrown) {
    auto event = event_of(EventKind::attempt_failed, StopReason::none);
    event.thrown = &thrown;
    return error_type(event);
  });
  CHECK(type == "tests::TimeoutError");

  const auto name = tests::in_handler_of(TimeoutError{"host db-1"}, [](const Thrown& thrown) {
    auto event = event_of(EventKind::call_finished, StopReason::retries_exhausted);
    event.thrown = &thrown;
    event.error_name = "timeout";
    return error_type(event);
  });
  CHECK(name == "timeout");
}

TEST_CASE("a success has no error type, however many attempts it took [G6]", "[event_error_type]") {
  CHECK(error_type(event_of(EventKind::attempt_started, StopReason::none)).empty());
  CHECK(error_type(event_of(EventKind::attempt_started, StopReason::none, 3)).empty());
  CHECK(error_type(event_of(EventKind::attempt_succeeded, StopReason::succeeded, 3)).empty());
  CHECK(error_type(event_of(EventKind::call_finished, StopReason::succeeded, 3)).empty());
  CHECK(error_type(event_of(EventKind::call_finished, StopReason::excluded_tool)).empty());
}

TEST_CASE("a failed value's error type is the status that was noted, or a name of its own",
          "[event_error_type]") {
  auto event = event_of(EventKind::attempt_failed, StopReason::none);
  CHECK(error_type(event) == "returned_value");
  CHECK(error_type(event_of(EventKind::call_finished, StopReason::retries_exhausted, 3)) == "returned_value");

  encore::AttemptNotes notes;
  event.notes = &notes;
  CHECK(error_type(event) == "returned_value");

  const encore::Call call{.id = "call-17"};
  const encore::CurrentCall current{call};
  const encore::TimeLimits limits{};
  const encore::Attempt attempt{1, current, notes, limits, encore::Now{clock}};
  attempt.note_status(503);
  CHECK(error_type(event) == "503");
}

TEST_CASE("the error type of a call refused before any attempt is its reason [G4]", "[event_error_type]") {
  CHECK(error_type(event_of(EventKind::call_finished, StopReason::expired_on_entry, 0)) ==
        "expired_on_entry");
  CHECK(error_type(encore::Failure{.reason = StopReason::circuit_open, .attempts = 0}) == "circuit_open");
}

TEST_CASE("a failed call's error type is its last exception's", "[event_error_type]") {
  encore::Failure failure{.reason = StopReason::retries_exhausted, .attempts = 3};
  CHECK(error_type(failure) == "returned_value");
  failure.error = std::make_exception_ptr(TimeoutError{"host db-1"});
  CHECK(error_type(failure) == "tests::TimeoutError");
}

}  // namespace
