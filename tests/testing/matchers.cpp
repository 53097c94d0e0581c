#include "net_timeout.hpp"
#include <encore/testing/matchers.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>
#include <catch2/matchers/catch_matchers.hpp>

#include <chrono>
#include <sstream>
#include <stdexcept>
#include <string>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::EventKind;
using encore::StopReason;
using encore::TerminalMode;

namespace {

Recording succeeds_at_third(std::string id) {
  return {
      {.kind = EventKind::attempt_started, .call_id = id, .ordinal = 1},
      {.kind = EventKind::attempt_failed,
       .call_id = id,
       .ordinal = 1,
       .error_type = "int",
       .will_retry = true,
       .wait = 250ms},
      {.kind = EventKind::attempt_started, .call_id = id, .ordinal = 2},
      {.kind = EventKind::attempt_failed,
       .call_id = id,
       .ordinal = 2,
       .error_type = "net::TimeoutError",
       .will_retry = true},
      {.kind = EventKind::attempt_started, .call_id = id, .ordinal = 3},
      {.kind = EventKind::attempt_succeeded, .call_id = id, .ordinal = 3, .reason = StopReason::succeeded},
      {.kind = EventKind::call_finished,
       .call_id = id,
       .ordinal = 3,
       .reason = StopReason::succeeded,
       .mode = TerminalMode::result}};
}
Recording refused(std::string id) {
  return {{.kind = EventKind::call_finished,
           .call_id = id,
           .reason = StopReason::expired_on_entry,
           .mode = TerminalMode::exception}};
}
Recording both(Recording one, const Recording& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}
Recording begun(std::string id) {
  return {{.kind = EventKind::attempt_started, .call_id = id, .ordinal = 1}};
}

const auto third = succeeds_at_third("call-17");
const auto mixed = both(third, refused("call-18"));

TEST_CASE("Attempted counts the attempts of one call, or of every call", "[matchers]") {
  CHECK_THAT(third, Attempted("call-17", 3));
  CHECK_THAT(third, !Attempted("call-17", 2));
  CHECK_THAT(third, !Attempted("call-17", 4));
  CHECK_THAT(third, Attempted(3));
  CHECK_THAT(mixed, Attempted("call-17", 3) && Attempted("call-18", 0));
  CHECK_THAT(mixed, !Attempted(3));
  CHECK_THAT(mixed, Attempted("call-19", 0) && !Attempted("call-19", 1));
  CHECK_THAT(Recording{}, !Attempted(0));
}

TEST_CASE("EndedBecause and EndedIn hold for calls that are over", "[matchers]") {
  CHECK_THAT(third, EndedBecause(StopReason::succeeded) && EndedIn(TerminalMode::result));
  CHECK_THAT(third, !EndedBecause(StopReason::deadline) && !EndedIn(TerminalMode::exception));
  CHECK_THAT(mixed, !EndedBecause(StopReason::succeeded) && !EndedIn(TerminalMode::result));
  CHECK_THAT(mixed,
             EndedBecause("call-17", StopReason::succeeded) && EndedIn("call-17", TerminalMode::result));
  CHECK_THAT(mixed, EndedBecause("call-18", StopReason::expired_on_entry) &&
                        EndedIn("call-18", TerminalMode::exception));
  CHECK_THAT(mixed,
             !EndedBecause("call-19", StopReason::succeeded) && !EndedIn("call-19", TerminalMode::result));
  CHECK_THAT(begun("call-17"), !EndedBecause(StopReason::none) && !EndedIn(TerminalMode::none));
  CHECK_THAT(both(third, begun("call-17")),
             !EndedBecause(StopReason::succeeded));  // the id again, and that call goes on
  CHECK_THAT(both(refused("call-17"), third),
             !EndedBecause(StopReason::succeeded));  // the id twice, two reasons
}

TEST_CASE("RefusedOnEntry holds for calls without an attempt [G4]", "[matchers]") {
  CHECK_THAT(refused("call-18"), RefusedOnEntry(StopReason::expired_on_entry));
  CHECK_THAT(refused("call-18"), !RefusedOnEntry(StopReason::cancelled_on_entry));
  CHECK_THAT(mixed, RefusedOnEntry("call-18", StopReason::expired_on_entry) &&
                        !RefusedOnEntry(StopReason::expired_on_entry));
  CHECK_THAT(third, !RefusedOnEntry(StopReason::succeeded));
}

TEST_CASE("Waited compares the waits before the retries, those of zero included", "[matchers]") {
  CHECK_THAT(third, Waited(Durations{250ms, 0s}) && Waited("call-17", Durations{250ms, 0s}));
  CHECK_THAT(third, !Waited(Durations{250ms}) && !Waited(Durations{0s, 250ms}) && !Waited(Durations{}));
  CHECK_THAT(mixed, Waited("call-18", Durations{}) && !Waited(Durations{250ms, 0s}));
}

TEST_CASE("FailedWith compares the last failure's own type", "[matchers]") {
  CHECK_THAT(third, FailedWith<net::TimeoutError>() && FailedWith<net::TimeoutError>("call-17"));
  CHECK_THAT(third, !FailedWith<int>() && !FailedWith<std::runtime_error>());
  CHECK_THAT(mixed, !FailedWith<net::TimeoutError>() && !FailedWith<net::TimeoutError>("call-18"));
}

TEST_CASE("a matcher describes its expectation in the words of the contract", "[matchers]") {
  const auto says = [](const auto& matcher) { return matcher.toString(); };
  CHECK(says(Attempted("call-17", 3)) == "call-17 makes 3 attempts");
  CHECK(says(Attempted(1)) == "every call makes 1 attempt");
  CHECK(says(EndedBecause(StopReason::succeeded)) == "every call ends because succeeded");
  CHECK(says(EndedIn("call-17", TerminalMode::error_result)) == "call-17 ends in error_result");
  CHECK(says(RefusedOnEntry(StopReason::circuit_open)) ==
        "every call is refused on entry because circuit_open");
  CHECK(says(Waited(Durations{250ms, 1s})) == "every call waits { 250ms, 1s }");
  CHECK(says(FailedWith<net::TimeoutError>("call-17")) ==
        "call-17 fails last with exactly net::TimeoutError");
}

TEST_CASE(
    "a matcher's failed assertion names tool, call, exception class, ceiling, attempts and mode in a few "
    "lines",
    "[matchers]") {
  Recorder trace;
  const encore::SteadyClock clock;
  const encore::Now now{clock};
  trace(encore::Event{
      .ordinal = 1, .call_name = "inventory_lookup", .id = "call-17", .max_retries = 2, .now = now});
  try {
    throw net::TimeoutError{"host db-1"};
  } catch (const std::exception& error) {
    const encore::Thrown thrown{&error};
    for (const auto kind : {EventKind::attempt_failed, EventKind::call_finished})
      trace(encore::Event{.kind = kind,
                          .ordinal = 1,
                          .call_name = "inventory_lookup",
                          .reason = StopReason::not_retryable,
                          .mode = TerminalMode::exception,
                          .thrown = &thrown,
                          .id = "call-17",
                          .max_retries = 2,
                          .now = now});
  }
  const Attempted attempted{"call-17", 3};
  const EndedBecause ended{StopReason::succeeded};
  const auto expected = attempted && ended;
  const auto assertion = Catch::makeMatchExpr(trace, expected);
  CHECK_FALSE(assertion.getResult());
  std::ostringstream shown;
  assertion.streamReconstructedExpression(shown);
  CHECK(shown.str() ==
        "call-17 (inventory_lookup): 1 of at most 3 attempts\n"
        "  last failure net::TimeoutError; ended because not_retryable, in exception\n"
        " ( call-17 makes 3 attempts and every call ends because succeeded )");
}

}  // namespace
