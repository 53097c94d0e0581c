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

TEST_CASE("a calendar time is written in UTC as in RFC 3339, to the nanosecond", "[time_text]") {
  using std::chrono::sys_days;
  using namespace std::chrono;
  CHECK(timestamp(encore::WallTime{}) == "1970-01-01T00:00:00.000000000Z");
  CHECK(timestamp(sys_days{2024y / May / 7} + 8h + 3min + 9s + 1ns) == "2024-05-07T08:03:09.000000001Z");
  CHECK(timestamp(sys_days{2024y / February / 29} + 23h + 59min + 59s + 999'999'999ns) ==
        "2024-02-29T23:59:59.999999999Z");
}

TEST_CASE("a time before 1970 counts its fraction of a second forwards", "[time_text]") {
  CHECK(timestamp(encore::WallTime{-1ns}) == "1969-12-31T23:59:59.999999999Z");
  CHECK(timestamp(encore::WallTime{-1s}) == "1969-12-31T23:59:59.000000000Z");
}

TEST_CASE("times at the ends of the range are written", "[time_text]") {
  // 2^63 nanoseconds before and after 1970; the seconds as `date -u -d @-9223372037` and `-d @9223372036` tell them.
  CHECK(timestamp(encore::WallTime::min()) == "1677-09-21T00:12:43.145224192Z");
  CHECK(timestamp(encore::WallTime::max()) == "2262-04-11T23:47:16.854775807Z");
}

TEST_CASE("a time of RFC 3339 is read at any offset, to the nanosecond", "[time_text]") {
  using encore::read_timestamp;
  using namespace std::chrono;
  const auto noon = encore::WallTime{sys_days{2024y / May / 7} + 12h};
  CHECK(read_timestamp("2024-05-07T12:00:00Z") == noon);
  CHECK(read_timestamp("2024-05-07t12:00:00.000z") == noon);
  CHECK(read_timestamp("2024-05-07 12:00:00.000000001Z") == noon + 1ns);
  CHECK(read_timestamp("2024-05-07T12:00:00.5Z") == noon + 500ms);
  CHECK(read_timestamp("2024-05-07T12:00:00.1234567899Z") ==
        noon + 123456789ns);  // what is shorter is cut off
  CHECK(read_timestamp("2024-05-07T14:00:00+02:00") == noon);
  CHECK(read_timestamp("2024-05-07T06:30:00-05:30") == noon);
  CHECK(read_timestamp("2024-05-07T23:59:60Z") == noon + 12h);  // a leap second
  CHECK(read_timestamp("2024-02-29T12:00:00Z") == encore::WallTime{sys_days{2024y / February / 29} + 12h});
}

TEST_CASE("text that is not an RFC 3339 time is not read as a time", "[time_text]") {
  for (const auto* text : {"",
                           "now",
                           "1715068989",
                           "2024-05-07",
                           "2024-05-07T12:00:00",
                           "2024-05-07T12:00Z",
                           "2024-05-07T24:00:00Z",
                           "2024-05-07T12:60:00Z",
                           "2024-05-07T12:00:61Z",
                           "2024-13-07T12:00:00Z",
                           "2024-00-07T12:00:00Z",
                           "2023-02-29T12:00:00Z",
                           "2024-05-32T12:00:00Z",
                           "2024-05-07T12:00:00.Z",
                           "2024-05-07T12:00:00+0200",
                           "2024-05-07T12:00:00+02",
                           "2024-05-07T12:00:00+24:00",
                           "2024-05-07T12:00:00Z ",
                           " 2024-05-07T12:00:00Z",
                           "24-05-07T12:00:00Z",
                           "2024-5-07T12:00:00Z",
                           "1677-12-31T12:00:00Z",
                           "2262-01-01T12:00:00Z",
                           "2024-05-07T12:00:00.5"}) {
    CAPTURE(text);
    CHECK(!encore::read_timestamp(text));
  }
}

TEST_CASE("a written time is read back exactly", "[time_text]") {
  for (const auto time : {encore::WallTime{}, encore::WallTime{-1ns}, encore::WallTime{1715068989123456789ns},
                          encore::WallTime{-9'000'000'000s}, encore::WallTime{9'000'000'000s}}) {
    CHECK(encore::read_timestamp(timestamp(time)) == time);
  }
}

}  // namespace
