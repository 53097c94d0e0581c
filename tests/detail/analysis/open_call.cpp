#include "../../telemetry/short_log.hpp"
#include <encore/detail/analysis/open_call.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::chrono_literals;
using encore::AttemptEnd;
using encore::EventKind;
using encore::EventRecord;
using encore::StopReason;
using encore::TerminalMode;
using encore::TracedAttempt;
using encore::TracedCall;
using encore::detail::OpenCall;

encore::TracedCall put_together(std::string_view log) {
  OpenCall call;
  std::uint64_t number = 0;
  tests::each_record(log, [&](const EventRecord& record) { call.note(record, ++number); });
  return call.call();
}
encore::WallTime at(std::string_view time) {
  return encore::read_timestamp("2026-01-01T10:00:" + std::string{time} + "Z").value();
}

TEST_CASE("a policy's events become a call with its attempts, and the times between them", "[open_call]") {
  CHECK(put_together(R"(
{"event":"attempt_started","t":"2026-01-01T10:00:00Z","scope":"s","id":"call-17","tool":"ship","resolved":"ship_v2","n":1,"of":3,"elapsed":0,"left":10}
{"event":"attempt_failed","t":"2026-01-01T10:00:01Z","scope":"s","id":"call-17","tool":"ship","n":1,"of":3,"error":"Busy","message":"later","status":503,"request":"r-1","sent":true,"answered":true,"key":true,"again":true,"wait":2,"elapsed":0.9,"left":9}
{"event":"attempt_started","t":"2026-01-01T10:00:03Z","scope":"s","id":"call-17","tool":"ship","n":2,"of":3,"elapsed":2.9,"left":7}
{"event":"attempt_succeeded","t":"2026-01-01T10:00:04Z","scope":"s","id":"call-17","tool":"ship","n":2,"of":3,"error_result":true,"elapsed":3.9}
{"event":"call_finished","t":"2026-01-01T10:00:04Z","scope":"s","id":"call-17","tool":"ship","attempts":2,"of":3,"reason":"succeeded","mode":"result","slept":2,"elapsed":3.9}
)") == TracedCall{.scope = "s",
                  .id = "call-17",
                  .tool = "ship",
                  .resolved_name = "ship_v2",
                  .max_attempts = 3,
                  .reported_by_policy = true,
                  .attempts = {{{.ordinal = 1,
                                 .error_type = "Busy",
                                 .message = "later",
                                 .status = 503,
                                 .request_id = "r-1",
                                 .dispatched = true,
                                 .answered = true,
                                 .key_used = true,
                                 .will_retry = true,
                                 .wait = 2s,
                                 .took = 900ms,
                                 .remaining = 9s},
                                AttemptEnd::failed,
                                at("00"),
                                at("01")},
                               {{.ordinal = 2, .error_result = true, .took = 1s, .remaining = 7s},
                                AttemptEnd::succeeded,
                                at("03"),
                                at("04")}},
                  .attempt_count = 2,
                  .ordinals = {.first_64 = 3, .highest = 2},
                  .finished = true,
                  .reason = StopReason::succeeded,
                  .mode = TerminalMode::result,
                  .attempts_made = 2,
                  .slept = 2s,
                  .elapsed = 3900ms,
                  .began_at = at("00"),
                  .ended_at = at("04"),
                  .deadline = at("10"),
                  .first_record = 1,
                  .last_record = 5});
}

TEST_CASE("lines of another program's log are whole attempts, logged when they had ended", "[open_call]") {
  CHECK(put_together(R"(
{"id":"call-17","tool":"ship","n":1,"status":503,"took":2,"t":"2026-01-01T10:00:02Z"}
{"id":"call-17","tool":"ship","n":2,"error":"Timeout","t":"2026-01-01T10:00:05Z"}
{"id":"call-17","tool":"ship","n":3,"status":201}
)") == TracedCall{.id = "call-17",
                  .tool = "ship",
                  .requests = {{{.ordinal = 1, .error_type = "503", .status = 503, .took = 2s},
                                AttemptEnd::failed,
                                at("00"),
                                at("02")},
                               {{.ordinal = 2, .error_type = "Timeout"}, AttemptEnd::failed, {}, at("05")},
                               {{.ordinal = 3, .status = 201}, AttemptEnd::succeeded}},
                  .request_count = 3,
                  .request_ordinals = {.first_64 = 7, .highest = 3},
                  .began_at = at("00"),
                  .ended_at = at("05"),
                  .first_record = 1,
                  .last_record = 3});
}

TEST_CASE("in another program's log a status of 400 or more is a failure", "[open_call]") {
  const auto end_of = [](std::string_view status) {
    return put_together(R"({"id":"a","status":)" + std::string{status} + "}").requests.front().end;
  };
  CHECK(end_of("399") == AttemptEnd::succeeded);
  CHECK(end_of("400") == AttemptEnd::failed);
}

TEST_CASE(
    "the end of an attempt whose begin was not logged makes an attempt, and a second end is a repetition",
    "[open_call]") {
  const auto call = put_together(R"(
{"event":"attempt_failed","id":"call-17","n":2,"error":"E","again":false,"reason":"deadline"}
{"event":"attempt_failed","id":"call-17","n":2,"error":"E","again":false,"reason":"deadline"}
)");
  CHECK(call.attempt_count == 1);
  CHECK(call.attempts == std::vector<TracedAttempt>{{{.ordinal = 2, .error_type = "E"}, AttemptEnd::failed}});
  CHECK(call.ordinals.missing() == 1);
  CHECK(call.ordinals.repeated == 1);
}

TEST_CASE("without the policy's clock an attempt's duration comes from the calendar, and is never negative",
          "[open_call]") {
  const auto took = [](std::string_view end) {
    return put_together(R"({"event":"attempt_started","id":"a","n":1,"t":"2026-01-01T10:00:03Z"})"
                        "\n"
                        R"({"event":"attempt_succeeded","id":"a","n":1,"t":"2026-01-01T10:00:)" +
                        std::string{end} + R"(Z"})")
        .attempts.front()
        .took;
  };
  CHECK(took("05") == 2s);
  CHECK(took("01") == 0s);  // the calendar was set back
}

TEST_CASE("a traced call with many attempts keeps the first ones and counts all", "[open_call]") {
  OpenCall call;
  std::uint64_t number = 0;
  for (int ordinal = 1; ordinal <= 1'000; ++ordinal) {
    call.note({.kind = EventKind::attempt_started, .call_id = "a", .ordinal = ordinal}, ++number);
    call.note({.kind = EventKind::attempt_failed, .call_id = "a", .ordinal = ordinal, .error_type = "E"},
              ++number);
    call.note({.call_id = "a", .ordinal = ordinal}, ++number);
  }
  CHECK(call.call().attempts.size() == TracedCall::max_stored_attempts);
  CHECK(call.call().requests.size() == TracedCall::max_stored_attempts);
  CHECK(call.call().attempt_count == 1'000);
  CHECK(call.call().request_count == 1'000);
  CHECK(call.call().ordinals.repeated == 0);
  CHECK(call.call().ordinals.missing() == 0);
}

TEST_CASE("inner calls are counted even where nothing else is logged of the outer one [J1]", "[open_call]") {
  OpenCall call;
  call.note_inner("s", "call-17", 1, 3);
  call.note_inner("s", "call-17", 2, 3);
  CHECK(call.call().inner_calls == 2);
  CHECK(call.call().inner_attempts == 6);
  CHECK(call.call().reported_attempt_count() == 2);
  CHECK(!call.call().reported_by_policy);
}

TEST_CASE("times at the ends of the range do not overflow in a traced call", "[open_call]") {
  constexpr auto last = (encore::WallTime::max)();
  constexpr auto first = (encore::WallTime::min)();
  OpenCall call;
  call.note({.wall = last, .call_id = "a", .remaining = (encore::Duration::max)()}, 1);
  call.note({.wall = first, .call_id = "a", .took = (encore::Duration::max)()}, 2);
  CHECK(call.call().deadline == last);
  CHECK(call.call().began_at == first);
}

}  // namespace
