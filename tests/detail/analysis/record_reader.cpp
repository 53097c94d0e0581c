#include <encore/detail/analysis/record_reader.hpp>
#include <encore/telemetry/log_text.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace std::chrono_literals;
using encore::EventKind;
using encore::EventRecord;
using encore::StopReason;
using encore::TerminalMode;
using encore::TraceFields;
using encore::detail::RecordReader;

struct Field {
  std::string_view name;
  std::string_view value;
  bool quoted = true;
};

const EventRecord* read(RecordReader& reader, std::initializer_list<Field> fields) {
  reader.begin();
  for (const auto& [name, value, quoted] : fields) reader.field(name, value, quoted);
  return reader.finish();
}

TEST_CASE("a trace record is read from fields in any order, numbers quoted or not", "[record_reader]") {
  RecordReader reader;
  const auto* const record = read(reader, {{"encore.attempt", "2", false},
                                           {"encore.resend_count", "1"},
                                           {"error.type", "503", false},
                                           {"unknown", "17"},
                                           {"encore.will_retry", "true", false},
                                           {"encore.event", "attempt_failed"},
                                           {"encore.retry_in", "0.25"},
                                           {"encore.hint", "null", false},
                                           {"gen_ai.tool.call.id", "call-17"}});
  REQUIRE(record != nullptr);
  CHECK(*record == EventRecord{.kind = EventKind::attempt_failed,
                               .call_id = "call-17",
                               .ordinal = 2,
                               .error_type = "503",
                               .will_retry = true,
                               .wait = 250ms});
}

TEST_CASE("nothing of one trace line carries over to the next", "[record_reader]") {
  RecordReader reader;
  CHECK(read(reader, {{"encore.event", "nonsense"}, {"gen_ai.tool.call.id", "call-17"}}) == nullptr);
  const auto* const record =
      read(reader, {{"gen_ai.tool.name", "search"}, {"encore.response.status", "200"}});
  REQUIRE(record != nullptr);
  CHECK(*record == EventRecord{.call_name = "search", .status = 200});
  CHECK(reader.fault().empty());
}

TEST_CASE("field names and units of other logs are read once they are configured", "[record_reader]") {
  RecordReader reader{TraceFields{.timestamp = "ts",
                                  .call = "tool_call_id",
                                  .tool = "tool",
                                  .resend_count = "retry",
                                  .error = "exception",
                                  .took = "ms",
                                  .timestamp_unit = 1ms,
                                  .duration_unit = 1ms}};
  const auto* const record = read(reader, {{"ts", "1715068989123", false},
                                           {"tool_call_id", "call-17"},
                                           {"tool", "search"},
                                           {"retry", "1", false},
                                           {"exception", "TimeoutError"},
                                           {"ms", "12.5", false}});
  REQUIRE(record != nullptr);
  CHECK(*record == EventRecord{.wall = encore::WallTime{1715068989123ms},
                               .call_id = "call-17",
                               .call_name = "search",
                               .ordinal = 2,
                               .error_type = "TimeoutError",
                               .took = 12500us});
  // Where both are told, the attempt's own number counts.
  for (const auto attempt_first : {true, false}) {
    const Field attempt{"encore.attempt", "4"};
    const Field retry{"retry", "1"};
    const auto* const both = attempt_first ? read(reader, {{"tool", "t"}, attempt, retry})
                                           : read(reader, {{"tool", "t"}, retry, attempt});
    REQUIRE(both != nullptr);
    CHECK(both->ordinal == 4);
  }
}

TEST_CASE("a log's error that is null, false or empty is not an error", "[record_reader]") {
  RecordReader reader;
  for (const auto& none :
       {Field{"error.type", "null", false}, Field{"error.type", "false", false}, Field{"error.type", ""}}) {
    const auto* const record = read(reader, {{"gen_ai.tool.call.id", "a"}, {"encore.attempt", "1"}, none});
    REQUIRE(record != nullptr);
    CHECK(record->error_type.empty());
  }
}

TEST_CASE("a logged wait means that another attempt follows, unless the line says that none does",
          "[record_reader]") {
  RecordReader reader;
  const Field id{"gen_ai.tool.call.id", "a"};
  const Field attempt{"encore.attempt", "1"};
  const Field wait{"encore.retry_in", "2"};
  const Field none{"encore.will_retry", "false"};
  const auto* const implied = read(reader, {id, attempt, wait});
  REQUIRE(implied != nullptr);
  CHECK(implied->will_retry);
  CHECK(implied->wait == 2s);
  const auto* const denied = read(reader, {id, attempt, wait, none});
  REQUIRE(denied != nullptr);
  CHECK(!denied->will_retry);
  CHECK(denied->wait == 0s);
}

TEST_CASE("a log line without an event and without an attempt makes no record", "[record_reader]") {
  RecordReader reader;
  CHECK(read(reader, {{"level", "info"}}) == nullptr);
  CHECK(reader.fault() == "it has neither an event nor an attempt");
  // As encore writes a failed call.
  CHECK(read(reader, {{"gen_ai.tool.call.id", "call-17"}, {"encore.attempts", "3"}, {"error.type", "E"}}) ==
        nullptr);
  CHECK(read(reader, {{"encore.attempt", "1"}}) == nullptr);  // of nobody
  CHECK(read(reader, {{"encore.event", "attempt_started"}, {"encore.attempt", "1"}}) == nullptr);
  CHECK(reader.fault() == "it has an event, but no call id");
  CHECK(read(reader, {{"encore.event", "attempt_started"}, {"gen_ai.tool.call.id", "call-17"}}) == nullptr);
  CHECK(reader.fault() == "it has an attempt's event, but no attempt number");
  CHECK(read(reader, {{"encore.event", "call_finished"}, {"gen_ai.tool.call.id", "call-17"}}) != nullptr);

  RecordReader trusting{TraceFields{.each_line_is_an_attempt = true}};
  CHECK(read(trusting, {{"gen_ai.tool.call.id", "call-17"}}) != nullptr);
  CHECK(read(trusting, {{"gen_ai.tool.name", "search"}}) != nullptr);
  CHECK(read(trusting, {{"level", "info"}}) == nullptr);
}

TEST_CASE("a log value that cannot be used is reported, with its field", "[record_reader]") {
  RecordReader reader;
  const auto fault_of = [&](std::string_view name, std::string_view value) {
    CHECK(read(reader, {{"gen_ai.tool.call.id", "call-17"}, {"encore.attempt", "1"}, {name, value}}) ==
          nullptr);
    return std::string{reader.fault()};
  };
  CHECK(fault_of("encore.attempt", "two") == R"(encore.attempt = "two" is invalid)");
  CHECK(fault_of("encore.attempt", "-1") == R"(encore.attempt = "-1" is invalid)");
  CHECK(fault_of("encore.attempt", "99999999999") == R"(encore.attempt = "99999999999" is invalid)");
  CHECK(fault_of("timestamp", "yesterday\n") == R"(timestamp = "yesterday\n" is invalid)");
  CHECK(fault_of("encore.reason", "bored") == R"(encore.reason = "bored" is invalid)");
  CHECK(fault_of("encore.event", "attempt_paused") == R"(encore.event = "attempt_paused" is invalid)");
  CHECK(fault_of("encore.mode", "") == R"(encore.mode = "" is invalid)");
  CHECK(fault_of("encore.will_retry", "maybe") == R"(encore.will_retry = "maybe" is invalid)");
  CHECK(fault_of("encore.slept", "1s") == R"(encore.slept = "1s" is invalid)");
  CHECK(fault_of("encore.hint", std::string(1'000, 'x')).size() < 150);
}

TEST_CASE("a log text that is too long is cut between two characters, a name that is too long is unusable",
          "[record_reader]") {
  RecordReader reader;
  std::string text(511, 'x');
  text += "\xE2\x82\xAC and more";
  const auto* const record =
      read(reader, {{"gen_ai.tool.call.id", "a"}, {"encore.attempt", "1"}, {"error.type", text}});
  REQUIRE(record != nullptr);
  CHECK(record->error_type == std::string(511, 'x'));
  for (const auto name :
       {"gen_ai.tool.call.id", "gen_ai.tool.name", "encore.scope", "encore.outer.call.id"}) {
    CHECK(read(reader, {{"gen_ai.tool.call.id", "a"}, {"encore.attempt", "1"}, {name, text}}) == nullptr);
    CHECK(std::string{reader.fault()}.ends_with("is invalid"));
  }
  text.resize(512);
  CHECK(read(reader, {{"gen_ai.tool.call.id", text}, {"encore.attempt", "1"}}) != nullptr);
}

TEST_CASE("a number as a log's time counts from 1970, within the years that a text can name",
          "[record_reader]") {
  RecordReader reader;
  const auto time_of = [&](std::string_view number) {
    const auto* const record =
        read(reader, {{"gen_ai.tool.call.id", "a"}, {"encore.attempt", "1"}, {"timestamp", number, false}});
    return record != nullptr ? record->wall : std::nullopt;
  };
  CHECK(time_of("0") == encore::WallTime{});
  CHECK(time_of("-1.5") == encore::WallTime{-1500ms});
  CHECK(time_of("9214646399.999999999") == encore::read_timestamp("2261-12-31T23:59:59.999999999Z"));
  CHECK(!time_of("9214646400"));
  CHECK(time_of("-9214560000") == encore::read_timestamp("1678-01-01T00:00:00Z"));
  CHECK(!time_of("-9214560000.000000001"));
}

TEST_CASE("a negative time in a log is unusable", "[record_reader]") {
  RecordReader reader;
  for (const auto name :
       {"encore.took", "encore.slept", "encore.retry_in", "encore.elapsed", "encore.remaining"})
    CHECK(read(reader, {{"gen_ai.tool.call.id", "a"}, {"encore.attempt", "1"}, {name, "-1"}}) == nullptr);
}

}  // namespace
