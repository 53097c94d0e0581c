#include <encore/seconds_text.hpp>

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

TEST_CASE("a duration is told in seconds, exact and without noise", "[seconds_text]") {
  CHECK(seconds(0ns) == "0");
  CHECK(seconds(250ms) == "0.25");
  CHECK(seconds(2s) == "2");
  CHECK(seconds(100s) == "100");  // zeros before the point stay
  CHECK(seconds(1ns) == "0.000000001");
  CHECK(seconds(100ms) == "0.1");  // as a double 0.1000000000000000055…
  CHECK(seconds(1h + 2ms) == "3600.002");
  CHECK(seconds(-1500ms) == "-1.5");
}

TEST_CASE("the longest durations are told too", "[seconds_text]") {
  // 2^63 - 1 and -2^63 nanoseconds.
  CHECK(seconds(encore::Duration::max()) == "9223372036.854775807");
  CHECK(seconds(encore::Duration::min()) == "-9223372036.854775808");
}

}  // namespace
