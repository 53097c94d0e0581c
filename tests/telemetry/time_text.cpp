#include <encore/telemetry/time_text.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <string>

namespace {

using namespace std::chrono_literals;

std::string timestamp(encore::WallTime time) {
  std::string text;
  encore::append_timestamp(text, time);
  return text;
}

TEST_CASE("a calendar time is told in UTC as in RFC 3339, to the nanosecond", "[time_text]") {
  using std::chrono::sys_days;
  using namespace std::chrono;
  CHECK(timestamp(encore::WallTime{}) == "1970-01-01T00:00:00.000000000Z");
  CHECK(timestamp(sys_days{2024y / May / 7} + 8h + 3min + 9s + 1ns) == "2024-05-07T08:03:09.000000001Z");
  CHECK(timestamp(sys_days{2024y / February / 29} + 23h + 59min + 59s + 999'999'999ns) ==
        "2024-02-29T23:59:59.999999999Z");
}

TEST_CASE("a time before 1970 is told forwards", "[time_text]") {
  CHECK(timestamp(encore::WallTime{-1ns}) == "1969-12-31T23:59:59.999999999Z");
  CHECK(timestamp(encore::WallTime{-1s}) == "1969-12-31T23:59:59.000000000Z");
}

TEST_CASE("the ends of the range are told", "[time_text]") {
  // 2^63 nanoseconds before and after 1970; the seconds as `date -u -d @-9223372037` and `-d @9223372036` tell them.
  CHECK(timestamp(encore::WallTime::min()) == "1677-09-21T00:12:43.145224192Z");
  CHECK(timestamp(encore::WallTime::max()) == "2262-04-11T23:47:16.854775807Z");
}

}  // namespace
