#include <encore/analysis/trace_reader.hpp>
#include <encore/telemetry/log_text.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::chrono_literals;
using encore::EventKind;
using encore::EventRecord;
using encore::LineShape;
using encore::log_text;
using encore::SkippedLine;
using encore::StopReason;
using encore::TerminalMode;
using encore::TraceReader;

/// Every field of a record, each away from its default.
EventRecord full(EventKind kind) {
  const auto over = kind == EventKind::call_finished;
  const auto failed = kind == EventKind::attempt_failed;
  EventRecord record{.kind = kind,
                     .wall = encore::WallTime{1715068989123456789ns},
                     .scope = "0123456789abcdeffedcba9876543210",
                     .call_id = "call \"17\"\n",
                     .call_name = "inventory_lookup",
                     .resolved_name = "inventory.lookup",
                     .ordinal = 2,
                     .max_attempts = 3,
                     .max_requests = 5'000'000'000,
                     .error_type = "std::system_error",
                     .error_code = "insufficient_quota",
                     .message = "db-1: \xE6\x9D\xB1",
                     .hint = 0s,
                     .elapsed = 1ns,
                     .outer_id = "call-1",
                     .outer_ordinal = 1};
  if (over) {
    record.reason = StopReason::unknown_outcome;
    record.mode = TerminalMode::error_result;
    record.slept = 1250ms;
    record.observer_errors = 1;
    record.outcome_unknown = true;
    return record;
  }
  record.status = 503;
  record.request_id = "req-9";
  record.dispatched = record.dispatched_again = record.not_run = true;
  record.answered = record.key_used = record.error_result = true;
  record.remaining = 3600s;
  if (failed) record.will_retry = true, record.wait = 250ms;
  return record;
}

TEST_CASE("every field of a written trace record is read back", "[trace_reader]") {
  TraceReader reader;
  for (const auto kind : {EventKind::attempt_started, EventKind::attempt_failed, EventKind::attempt_succeeded,
                          EventKind::call_finished}) {
    const auto record = full(kind);
    const auto* const read = reader.read(log_text(record, LineShape::json));
    REQUIRE(read != nullptr);
    CHECK(*read == record);
  }
  auto seen = full(EventKind::attempt_started);
  seen.kind.reset();
  seen.took = 80ms;
  const auto* const read = reader.read(log_text(seen, LineShape::json));
  REQUIRE(read != nullptr);
  CHECK(*read == seen);
  CHECK(reader.records() == 5);
  CHECK(reader.skipped().empty());
}

TEST_CASE("an unusable trace line is skipped and reported, with its file, its line and the reason",
          "[trace_reader]") {
  TraceReader reader;
  const auto line = log_text(full(EventKind::attempt_started), LineShape::json);
  reader.begin_file("a.log");
  CHECK(reader.read("Starting server on port 80\n") == nullptr);
  CHECK(reader.read("") == nullptr);
  CHECK(reader.read(" \r\n") == nullptr);
  CHECK(reader.read(line + "\r\n") != nullptr);
  CHECK(reader.read(R"({"level":"info","nested":{"a":[1,{"b":2}]}})") == nullptr);
  CHECK(reader.read(line.substr(0, line.size() / 2)) == nullptr);
  reader.begin_file("b.log");
  CHECK(reader.read("\xEF\xBB\xBF" + line) != nullptr);
  CHECK(reader.read(R"({"gen_ai.tool.call.id":"a","encore.attempt":"x"})") == nullptr);

  CHECK(reader.skipped() == std::vector<SkippedLine>{
                                {"a.log", 1, "it is not a JSON object"},
                                {"a.log", 5, "it has neither an event nor an attempt"},
                                {"a.log", 6, "it ends too early"},
                                {"b.log", 2, R"(encore.attempt = "x" is invalid)"},
                            });
  CHECK(reader.lines() == 8);
  CHECK(reader.records() == 2);
  CHECK(encore::skipped_text(reader) ==
        "a.log:1: it is not a JSON object\n"
        "a.log:5: it has neither an event nor an attempt\n"
        "a.log:6: it ends too early\n"
        "b.log:2: encore.attempt = \"x\" is invalid\n");
}

TEST_CASE("a file's name does not act on the terminal that shows the report of skipped lines",
          "[trace_reader]") {
  encore::TraceReader reader;
  reader.begin_file("a\x1B[2J.log");
  CHECK(reader.read("x") == nullptr);
  CHECK(encore::skipped_text(reader) == "\"a\\u001b[2J.log\":1: it is not a JSON object\n");
}

TEST_CASE("the report of skipped lines does not grow with the log", "[trace_reader]") {
  TraceReader reader;
  for (int i = 0; i < 1'000; ++i) reader.read("?");
  CHECK(reader.skipped_count() == 1'000);
  CHECK(reader.skipped().size() == TraceReader::max_skipped_lines);
  CHECK(encore::skipped_text(reader).ends_with("line 100: it is not a JSON object\nand 900 more lines\n"));
}

TEST_CASE("a trace line parsed by another parser makes the same record", "[trace_reader]") {
  TraceReader reader;
  reader.begin_line();
  reader.field("encore.event", "attempt_started", true);
  reader.field("gen_ai.tool.call.id", "call-17", true);
  reader.field("encore.attempt", "1", false);
  const auto* const record = reader.end_line();
  REQUIRE(record != nullptr);
  CHECK(*record == EventRecord{.kind = EventKind::attempt_started, .call_id = "call-17", .ordinal = 1});

  reader.begin_line();
  CHECK(reader.skip_line("parse error at column 7") == nullptr);
  CHECK(reader.skipped() == std::vector<SkippedLine>{{"", 2, "parse error at column 7"}});
}

TEST_CASE("nested fields of a trace line are found by both names", "[trace_reader]") {
  TraceReader reader{encore::TraceFields{.call = "tool.call.id", .attempt = "tool.attempt"}};
  const auto* const record =
      reader.read(R"({"tool":{"call":{"id":"call-17"},"attempt":2},"error":{"type":"timeout"}})");
  REQUIRE(record != nullptr);
  CHECK(*record == EventRecord{.call_id = "call-17", .ordinal = 2, .error_type = "timeout"});
}

}  // namespace
