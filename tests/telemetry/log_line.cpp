#include "flat_json.hpp"
#include <encore/telemetry/log_line.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;
using encore::LineShape;
using encore::LogLine;

std::string one_of_each(LineShape shape) {
  LogLine line{shape};
  line.text({"tool", "gen_ai.tool.name"}, "inventory_lookup");
  line.number({"attempt", "encore.attempt"}, -3);
  line.flag({"retry", "encore.retry"}, true);
  line.flag({"last", "encore.last"}, false);
  line.seconds({"retry_in", "encore.retry_in"}, 250ms);
  line.timestamp({"at", "timestamp"}, encore::WallTime{1s});
  return std::move(line).finish();
}

std::string only(LineShape shape, std::string_view value) {
  LogLine line{shape};
  line.text({"value", "value"}, value);
  return std::move(line).finish();
}

TEST_CASE("a logfmt line is names and values with spaces between", "[log_line]") {
  CHECK(one_of_each(LineShape::logfmt) ==
        "tool=inventory_lookup attempt=-3 retry=true last=false retry_in=0.25s "
        "at=1970-01-01T00:00:01.000000000Z");
}

TEST_CASE("a JSON log line is one object whose numbers are numbers", "[log_line]") {
  CHECK(
      one_of_each(LineShape::json) ==
      R"({"gen_ai.tool.name":"inventory_lookup","encore.attempt":-3,"encore.retry":true,"encore.last":false,)"
      R"("encore.retry_in":0.25,"timestamp":"1970-01-01T00:00:01.000000000Z"})");
}

TEST_CASE("a log field without a name in a format is omitted there", "[log_line]") {
  const auto both = [](LineShape shape) {
    LogLine line{shape};
    line.number({"", "b"}, 2);
    line.number({"a", ""}, 1);
    line.number({"c", "c"}, 3);
    return std::move(line).finish();
  };
  CHECK(both(LineShape::logfmt) == "a=1 c=3");
  CHECK(both(LineShape::json) == R"({"b":2,"c":3})");
}

TEST_CASE("a log line without fields is empty", "[log_line]") {
  CHECK(LogLine{LineShape::logfmt}.finish().empty());
  CHECK(LogLine{LineShape::json}.finish() == "{}");
}

TEST_CASE("a logfmt value is quoted where it would be ambiguous", "[log_line]") {
  CHECK(only(LineShape::logfmt, "a b") == R"(value="a b")");
  CHECK(only(LineShape::logfmt, "a attempt=9") == R"(value="a attempt=9")");
  CHECK(only(LineShape::logfmt, "") == R"(value="")");
  CHECK(only(LineShape::logfmt, R"("quoted")") == R"(value="\"quoted\"")");
}

TEST_CASE("no value breaks the log line or the JSON around it", "[log_line]") {
  for (const auto hostile : {"\n"sv, "\r\n"sv, "\",\"admin\":\"yes"sv, "a\nevent=forged"sv,
                             "\x1B[2J\x1B[31m"sv, "\0"sv, "\\"sv, "\xFF\xC3"sv, "\xE2\x80\xA8"sv,
                             "\xC2\x9B"
                             "31m"sv}) {
    CAPTURE(hostile);
    const auto logfmt = only(LineShape::logfmt, hostile);
    const auto json = only(LineShape::json, hostile);
    CHECK(tests::is_one_clean_line(logfmt));
    CHECK(tests::is_one_clean_line(json));
    CHECK(logfmt.starts_with("value=\""));
    CHECK(tests::flat_json(json).size() == 1);
  }
}

TEST_CASE("a value's JSON text reads back as the value", "[log_line]") {
  const auto text = "a \"b\" \\ \n\t\x1B \xE2\x80\xA8 東京 \x7F"sv;
  CHECK(tests::flat_json(only(LineShape::json, text)) == tests::FlatJson{{"value", std::string{text}}});
}

}  // namespace
