#include <encore/detail/seconds_text.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <string>

namespace {

using namespace std::chrono_literals;

std::string seconds(encore::Duration duration) {
  std::string text;
  encore::append_seconds(text, duration);
  return text;
}

TEST_CASE("a duration's text is in seconds, exact and without superfluous digits", "[seconds_text]") {
  CHECK(seconds(0ns) == "0");
  CHECK(seconds(250ms) == "0.25");
  CHECK(seconds(2s) == "2");
  CHECK(seconds(100s) == "100");  // zeros before the point stay
  CHECK(seconds(1ns) == "0.000000001");
  CHECK(seconds(100ms) == "0.1");  // as a double 0.1000000000000000055…
  CHECK(seconds(1h + 2ms) == "3600.002");
  CHECK(seconds(-1500ms) == "-1.5");
}

TEST_CASE("the longest durations have an exact text too", "[seconds_text]") {
  // 2^63 - 1 and -2^63 nanoseconds.
  CHECK(seconds(encore::Duration::max()) == "9223372036.854775807");
  CHECK(seconds(encore::Duration::min()) == "-9223372036.854775808");
}

TEST_CASE("a decimal number is read as a duration, exact to the nanosecond", "[seconds_text]") {
  using encore::read_duration;
  CHECK(read_duration("0.25") == 250ms);
  CHECK(read_duration("2") == 2s);
  CHECK(read_duration("0.000000001") == 1ns);
  CHECK(read_duration("0.0000000019") == 1ns);  // what is shorter is cut off
  CHECK(read_duration("-1.5") == -1500ms);
  CHECK(read_duration("-0") == 0s);
  CHECK(read_duration("1715068989.123456789") == 1715068989123456789ns);
  CHECK(read_duration("007") == 7s);
}

TEST_CASE("a duration is read from exponents and other units", "[seconds_text]") {
  using encore::read_duration;
  CHECK(read_duration("1e-05") == 10us);  // as Python writes a short time
  CHECK(read_duration("1.5e3") == 1500s);
  CHECK(read_duration("1.5E+3", 1us) == 1500us);
  CHECK(read_duration("12.5e-1") == 1250ms);
  CHECK(read_duration("1715068989123", 1ms) == 1715068989123ms);
  CHECK(read_duration("250", 1ms) == 250ms);
  CHECK(read_duration("0.5", 1ms) == 500us);
  CHECK(read_duration("1.9", 1ns) == 1ns);
}

TEST_CASE("a number beyond the range is read as the maximum duration", "[seconds_text]") {
  using encore::read_duration;
  constexpr auto most = encore::Duration::max();
  CHECK(read_duration("9223372036.854775807") == most);
  CHECK(read_duration("9223372036.854775808") == most);
  CHECK(read_duration("9999999999999999999999999") == most);
  CHECK(read_duration("1e10") == most);
  CHECK(read_duration("-1e999999999999") == -most);
  CHECK(read_duration("1e-999999999999") == 0s);
  CHECK(read_duration("0e999999999") == 0s);
}

TEST_CASE("text that is not a decimal number is not a duration", "[seconds_text]") {
  for (const auto* text : {"", "-", ".", ".5", "5.", "1e", "1e+", "1e+-2", "--1", "+1", " 1", "1 ", "1s",
                           "0x1", "nan", "inf", "1,5", "1.2.3", "1e1.5"}) {
    CAPTURE(text);
    CHECK(!encore::read_duration(text));
  }
}

TEST_CASE("a duration's text is read back exactly", "[seconds_text]") {
  for (const auto duration : {0ns, 1ns, 999'999'999ns, 1'000'000'001ns, encore::Duration::max(), -5ns}) {
    CHECK(encore::read_duration(seconds(duration)) == duration);
  }
}

}  // namespace
