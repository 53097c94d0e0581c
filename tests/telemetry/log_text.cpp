#include "flat_json.hpp"
#include "hand_made.hpp"
#include <encore/outcome.hpp>
#include <encore/telemetry/log_text.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace std::chrono_literals;
using encore::Event;
using encore::EventKind;
using encore::Failure;
using encore::LineShape;
using encore::log_text;
using encore::LogText;
using encore::Outcome;
using encore::StopReason;
using encore::TerminalMode;
using encore::Thrown;
using tests::FlatJson;
using tests::StillClock;
using tests::TimeoutError;

constexpr encore::Scope scope{0x0123456789abcdef, 0xfedcba9876543210};
constexpr LogText json{.shape = LineShape::json, .scope = &scope};
constexpr LogText json_with_text{.shape = LineShape::json, .exception_text = true, .scope = &scope};
constexpr LogText logfmt_with_text{.exception_text = true};

/// A call on a clock that stands still.
struct Told {
  StillClock clock{};
  std::optional<encore::TimePoint> started{};

  Event event(EventKind kind, int ordinal) { return tests::event_of(kind, ordinal, clock, started); }
  /// The first attempt's failure, with a retry to follow in 250 ms.
  template <class E>
  std::string attempt_failed(const E& error, const LogText& how) {
    return tests::in_handler_of(error, [&](const Thrown& thrown) {
      auto failed = event(EventKind::attempt_failed, 1);
      failed.will_retry = true;
      failed.wait = 250ms;
      failed.thrown = &thrown;
      return log_text(failed, how);
    });
  }
};

FlatJson expect(std::string_view kind, const FlatJson& rest) {
  FlatJson fields{{"timestamp", "2024-05-07T08:03:09.500000000Z"},
                  {"encore.scope", "0123456789abcdeffedcba9876543210"},
                  {"encore.event", std::string{kind}},
                  {"gen_ai.tool.call.id", "call-17"},
                  {"gen_ai.tool.name", "inventory_lookup"}};
  fields.insert(fields.end(), rest.begin(), rest.end());
  return fields;
}

TEST_CASE("an event's log text is one short line [F2]", "[log_text]") {
  Told told;
  CHECK(log_text(told.event(EventKind::attempt_started, 1)) ==
        "event=attempt_started call=call-17 tool=inventory_lookup attempt=1/3");
  CHECK(told.attempt_failed(TimeoutError{"slow"}, {}) ==
        "event=attempt_failed call=call-17 tool=inventory_lookup attempt=1/3 error=tests::TimeoutError "
        "retry_in=0.25s");
  CHECK(log_text(told.event(EventKind::attempt_succeeded, 2)) ==
        "event=attempt_succeeded call=call-17 tool=inventory_lookup attempt=2/3");

  auto finished = told.event(EventKind::call_finished, 2);
  told.clock.time += 1500ms;
  finished.reason = StopReason::succeeded;
  finished.mode = TerminalMode::result;
  finished.slept = 250ms;
  CHECK(log_text(finished) ==
        "event=call_finished call=call-17 tool=inventory_lookup attempts=2/3 reason=succeeded mode=result "
        "slept=0.25s elapsed=1.5s");
}

TEST_CASE(
    "an event's JSON line has the same in OpenTelemetry's names, with the process and the time [F2] [I2]",
    "[log_text]") {
  Told told;
  CHECK(tests::flat_json(log_text(told.event(EventKind::attempt_started, 1), json)) ==
        expect("attempt_started",
               {{"encore.attempt", "1"}, {"encore.max_attempts", "3"}, {"encore.elapsed", "0"}}));
  told.clock.time += 1500ms;
  CHECK(tests::flat_json(told.attempt_failed(TimeoutError{"slow"}, json)) ==
        expect("attempt_failed", {{"encore.attempt", "1"},
                                  {"encore.max_attempts", "3"},
                                  {"error.type", "tests::TimeoutError"},
                                  {"encore.will_retry", "true"},
                                  {"encore.retry_in", "0.25"},
                                  {"encore.elapsed", "1.5"}}));
  CHECK(tests::flat_json(log_text(told.event(EventKind::attempt_started, 2), json)) ==
        expect("attempt_started", {{"encore.attempt", "2"},
                                   {"encore.max_attempts", "3"},
                                   {"encore.resend_count", "1"},
                                   {"encore.elapsed", "1.5"}}));
}

TEST_CASE("the last failure's line says why no attempt follows, with the hint that was refused [E4] [F1]",
          "[log_text]") {
  Told told;
  auto failed = told.event(EventKind::attempt_failed, 1);
  failed.reason = StopReason::hint_over_cap;
  failed.hint = 300s;
  CHECK(log_text(failed) ==
        "event=attempt_failed call=call-17 tool=inventory_lookup attempt=1/3 error=returned_value hint=300s "
        "reason=hint_over_cap");
  CHECK(tests::flat_json(log_text(failed, json)) ==
        expect("attempt_failed", {{"encore.attempt", "1"},
                                  {"encore.max_attempts", "3"},
                                  {"error.type", "returned_value"},
                                  {"encore.will_retry", "false"},
                                  {"encore.hint", "300"},
                                  {"encore.reason", "hint_over_cap"}}));
}

TEST_CASE("a retry without a wait has a line that says so", "[log_text]") {
  Told told;
  auto failed = told.event(EventKind::attempt_failed, 1);
  failed.will_retry = true;
  CHECK(log_text(failed).ends_with(" error=returned_value retry_in=0s"));
}

TEST_CASE("the line of a call's end says how it ended [F1] [G7]", "[log_text]") {
  Told told;
  static_cast<void>(told.event(EventKind::attempt_started, 1).at());
  told.clock.time += 2s;
  auto finished = told.event(EventKind::call_finished, 3);
  finished.reason = StopReason::retries_exhausted;
  finished.mode = TerminalMode::error_result;
  finished.slept = 750ms;
  finished.observer_errors = 2;
  finished.error_name = "timeout";
  CHECK(log_text(finished) ==
        "event=call_finished call=call-17 tool=inventory_lookup attempts=3/3 error=timeout "
        "reason=retries_exhausted mode=error_result slept=0.75s elapsed=2s observer_errors=2");
  CHECK(tests::flat_json(log_text(finished, json)) ==
        expect("call_finished", {{"encore.attempts", "3"},
                                 {"encore.max_attempts", "3"},
                                 {"error.type", "timeout"},
                                 {"encore.reason", "retries_exhausted"},
                                 {"encore.mode", "error_result"},
                                 {"encore.slept", "0.75"},
                                 {"encore.elapsed", "2"},
                                 {"encore.observer_errors", "2"}}));
}

TEST_CASE("the line of a call without an attempt says that there was none [D5] [G4]", "[log_text]") {
  Told told;
  auto refused = told.event(EventKind::call_finished, 0);
  refused.reason = StopReason::expired_on_entry;
  refused.mode = TerminalMode::exception;
  CHECK(log_text(refused) ==
        "event=call_finished call=call-17 tool=inventory_lookup attempts=0/3 error=expired_on_entry "
        "reason=expired_on_entry mode=exception slept=0s elapsed=0s");
}

TEST_CASE(
    "formatting any event makes the elapsed time known from the first on, and reads the clock once each [F2]",
    "[log_text]") {
  Told told;
  static_cast<void>(log_text(told.event(EventKind::attempt_started, 1)));
  CHECK(told.clock.reads == 1);
  told.clock.time += 3s;
  CHECK(log_text(told.event(EventKind::call_finished, 1)).ends_with(" elapsed=3s"));
  CHECK(told.clock.reads == 2);
}

TEST_CASE("an observer of the end alone logs no elapsed time rather than a wrong one", "[log_text]") {
  Told told;
  auto finished = told.event(EventKind::call_finished, 2);
  CHECK(log_text(finished).find("elapsed") == std::string::npos);
  CHECK(log_text(finished).find("elapsed") ==
        std::string::npos);  // nor after the line has asked for the time
}

TEST_CASE("a log line of unlimited retries has no number for them", "[log_text]") {
  Told told;
  auto started = told.event(EventKind::attempt_started, 7);
  started.max_retries = encore::CountLimit{encore::UnlimitedRetries{}}.max_retries(false);
  CHECK(log_text(started) == "event=attempt_started call=call-17 tool=inventory_lookup attempt=7");
  CHECK(log_text(started, json).find("max_attempts") == std::string::npos);
}

TEST_CASE("a callable's notes are in its attempt's log line [F6]", "[log_text]") {
  Told told;
  encore::AttemptNotes notes;
  const encore::Call call{.id = "call-17"};
  const encore::CurrentCall current{call};
  const encore::TimeLimits limits{};
  const encore::Attempt attempt{1, current, notes, limits, encore::Now{told.clock}};
  attempt.note_status(503);
  attempt.note_request_id("req 9");
  attempt.mark_dispatched();
  attempt.mark_answered();
  attempt.mark_error_result();

  auto failed = told.event(EventKind::attempt_failed, 1);
  failed.reason = StopReason::not_repeatable;
  failed.notes = &notes;
  CHECK(log_text(failed) ==
        "event=attempt_failed call=call-17 tool=inventory_lookup attempt=1/3 error=503 status=503 "
        "request_id=\"req 9\" dispatched=true answered=true error_result=true "
        "reason=not_repeatable");

  attempt.mark_dispatched();
  attempt.mark_dispatched();
  attempt.mark_answered();
  CHECK(log_text(failed).find(" dispatched=true dispatched_again=true answered=true ") != std::string::npos);
  notes.clear();
  attempt.mark_dispatched();
  attempt.mark_not_run();
  CHECK(log_text(failed).find(" dispatched=true not_run=true reason=") != std::string::npos);

  auto finished = told.event(EventKind::call_finished, 1);
  finished.notes = &notes;
  finished.reason = StopReason::succeeded;
  CHECK(log_text(finished).find("503") == std::string::npos);  // once is enough
  finished.outcome_unknown = true;
  CHECK(log_text(finished).find(" outcome_unknown=true mode=") != std::string::npos);
}

TEST_CASE(
    "an error's code is logged with the failed attempt and the failed call, cleaned like any text [F6, G6]",
    "[log_text]") {
  Told told;
  encore::AttemptNotes notes;
  const encore::Call call{.id = "call-17"};
  const encore::CurrentCall current{call};
  const encore::TimeLimits limits{};
  const encore::Attempt attempt{1, current, notes, limits, encore::Now{told.clock}};
  attempt.note("insufficient_quota");
  auto failed = told.event(EventKind::attempt_failed, 1);
  failed.reason = StopReason::not_retryable;
  failed.notes = &notes;
  CHECK(log_text(failed) ==
        "event=attempt_failed call=call-17 tool=inventory_lookup attempt=1/3 error=returned_value "
        "error_code=insufficient_quota reason=not_retryable");
  CHECK(log_text(failed, json).find(R"("error.type":"returned_value","error.code":"insufficient_quota",)") !=
        std::string::npos);

  auto finished = told.event(EventKind::call_finished, 1);
  finished.notes = &notes;
  finished.reason = StopReason::not_retryable;
  CHECK(log_text(finished).find(" error_code=insufficient_quota reason=not_retryable ") != std::string::npos);
  finished.reason = StopReason::succeeded;
  CHECK(log_text(finished).find("error_code") == std::string::npos);
  attempt.mark_error_result();  // returned, and it says that the tool failed
  CHECK(log_text(finished).find(" error_code=insufficient_quota ") != std::string::npos);

  attempt.note("a \"b\"\n\x1B[2J");
  CHECK(log_text(failed).find(R"( error_code="a \"b\"\n\u001b[2J" )") != std::string::npos);
  CHECK(log_text(failed, json).find(R"("error.code":"a \"b\"\n\u001b[2J")") != std::string::npos);
}

TEST_CASE("a nested call's log line names the outer one, and the tool's resolved name [F2] [J1]",
          "[log_text]") {
  Told told;
  encore::AttemptNotes notes;
  const encore::Call call{.id = "call-9"};
  const encore::CurrentCall current{call};
  const encore::TimeLimits limits{};
  const encore::Attempt outer{2, current, notes, limits, encore::Now{told.clock}};
  auto failed = told.event(EventKind::attempt_failed, 1);
  failed.will_retry = true;
  failed.resolved_name = "inventory.lookup_v2";
  failed.outer = &outer;
  CHECK(log_text(failed) ==
        "event=attempt_failed call=call-17 tool=inventory_lookup resolved=inventory.lookup_v2 attempt=1/3 "
        "error=returned_value retry_in=0s outer_call=call-9 outer_attempt=2");
  CHECK(log_text(failed, json).ends_with(R"("encore.outer.call.id":"call-9","encore.outer.attempt":2})"));
}

TEST_CASE("exception text is logged only on request [F6]", "[log_text]") {
  Told told;
  const TimeoutError error{"no answer from db-1, key=secret"};
  for (const auto& how : {LogText{}, json}) {
    CHECK(told.attempt_failed(error, how).find("secret") == std::string::npos);
  }
  CHECK(told.attempt_failed(error, logfmt_with_text) ==
        "event=attempt_failed call=call-17 tool=inventory_lookup attempt=1/3 error=tests::TimeoutError "
        "message=\"no answer from db-1, key=secret\" retry_in=0.25s");
  CHECK(told.attempt_failed(error, json_with_text)
            .find(R"("exception.message":"no answer from db-1, key=secret")") != std::string::npos);
  CHECK(told.attempt_failed(42, logfmt_with_text).find("message=") == std::string::npos);

  const Failure failure{.call_id = "call-17", .attempts = 1, .error = std::make_exception_ptr(error)};
  CHECK(log_text(failure).find("secret") == std::string::npos);
  CHECK(log_text(failure, json).find("secret") == std::string::npos);
  CHECK(log_text(failure, logfmt_with_text).find("secret") != std::string::npos);
}

TEST_CASE("an exception without a message adds no text to a log line", "[log_text]") {
  struct Mute : std::exception {
    const char* what() const noexcept override { return nullptr; }
  };
  Told told;
  CHECK(told.attempt_failed(Mute{}, logfmt_with_text).find("message=") == std::string::npos);
}

TEST_CASE("a hostile id, name or message cannot break the log line [F6]", "[log_text]") {
  constexpr std::string_view hostile{"x\" reason=succeeded\nevent=forged,\"}\r\x1B[2J\xFF\xE2\x80\xA8\\"};
  const std::string decoded{"x\" reason=succeeded\nevent=forged,\"}\r\x1B[2J\xEF\xBF\xBD\xE2\x80\xA8\\"};
  Told told;
  const auto say = [&](const LogText& how) {
    return tests::in_handler_of(TimeoutError{std::string{hostile}}, [&](const Thrown& thrown) {
      auto failed = told.event(EventKind::attempt_failed, 1);
      failed.id = failed.call_name = failed.resolved_name = failed.error_name = hostile;
      failed.thrown = &thrown;
      failed.reason = StopReason::deadline;
      return log_text(failed, how);
    });
  };
  const auto logfmt = say(logfmt_with_text);
  CHECK(tests::is_one_clean_line(logfmt));
  CHECK(logfmt.ends_with(" reason=deadline"));
  CHECK(
      logfmt.starts_with(R"(event=attempt_failed call="x\" reason=succeeded\nevent=forged,\"}\r\u001b[2J)"));

  const auto line = say(json_with_text);
  CHECK(tests::is_one_clean_line(line));
  auto hostile_values = 0;
  for (const auto& [name, value] : tests::flat_json(line)) hostile_values += value == decoded;
  CHECK(hostile_values == 5);  // id, name, resolved name, error, message
}

TEST_CASE("a log line's scope is that of the call's run, or else the process's [I2]", "[log_text]") {
  Told told;
  auto event = told.event(EventKind::attempt_started, 1);
  constexpr LogText any{.shape = LineShape::json};
  CHECK(log_text(event, any).find(encore::Scope::process().text()) != std::string::npos);

  constexpr encore::Scope run{1, 2};
  const encore::Call call{.id = "call-17", .scope = &run};
  const encore::CurrentCall current{call};
  event.current = &current;
  CHECK(log_text(event, any).find("00000000000000010000000000000002") != std::string::npos);
  CHECK(log_text(event, json).find("0123456789abcdeffedcba9876543210") != std::string::npos);
}

Failure exhausted() {
  return {.call_id = "call-17",
          .call_name = "inventory_lookup",
          .reason = StopReason::retries_exhausted,
          .attempts = 3,
          .max_attempts = 3,
          .elapsed = 900ms,
          .slept = 750ms,
          .error = std::make_exception_ptr(TimeoutError{"slow"})};
}

TEST_CASE("a failed call is logged as one line [G2]", "[log_text]") {
  CHECK(log_text(exhausted()) ==
        "call=call-17 tool=inventory_lookup attempts=3/3 error=tests::TimeoutError reason=retries_exhausted "
        "slept=0.75s elapsed=0.9s");
  CHECK(tests::flat_json(log_text(exhausted(), json)) ==
        FlatJson{{"encore.scope", "0123456789abcdeffedcba9876543210"},
                 {"gen_ai.tool.call.id", "call-17"},
                 {"gen_ai.tool.name", "inventory_lookup"},
                 {"encore.attempts", "3"},
                 {"encore.max_attempts", "3"},
                 {"error.type", "tests::TimeoutError"},
                 {"encore.reason", "retries_exhausted"},
                 {"encore.slept", "0.75"},
                 {"encore.elapsed", "0.9"}});
}

TEST_CASE("an outcome's log text is its failure, or its figures and never its value [F6] [G2]",
          "[log_text]") {
  CHECK(log_text(Outcome<std::string>{exhausted()}) == log_text(exhausted()));
  CHECK(log_text(Outcome<void>{exhausted()}, json) == log_text(exhausted(), json));

  CHECK(log_text(Outcome<std::string>{"secret", {StopReason::succeeded, 2, 300ms, 250ms, 1}}) ==
        "attempts=2 reason=succeeded slept=0.25s elapsed=0.3s observer_errors=1");
  CHECK(tests::flat_json(log_text(Outcome<void>{{StopReason::succeeded, 2, 300ms, 250ms, 1}}, json)) ==
        FlatJson{{"encore.scope", "0123456789abcdeffedcba9876543210"},
                 {"encore.attempts", "2"},
                 {"encore.reason", "succeeded"},
                 {"encore.slept", "0.25"},
                 {"encore.elapsed", "0.3"},
                 {"encore.observer_errors", "1"}});
}

}  // namespace
