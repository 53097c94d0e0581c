#include <encore/testing/durations.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>

#include <chrono>
#include <sstream>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using encore::Duration;
using encore::testing::Durations;

TEST_CASE("durations of mixed units compare as one list", "[durations]") {
  const std::vector<Duration> in_nanoseconds{Duration{250'000'000}, Duration{1'500'000'000},
                                             Duration{60'000'000'000}};
  CHECK(Durations{250ms, 1.5s, 1min} == Durations{in_nanoseconds});
  CHECK_FALSE(Durations{250ms} == Durations{250us});
  CHECK_FALSE(Durations{250ms} == Durations{250ms, 250ms});
  CHECK(Durations{}.empty());
}

std::string printed(Duration duration) {
  std::ostringstream out;
  out << Durations{duration};
  return out.str();
}

TEST_CASE("a duration is printed in the largest unit of which it holds one, exactly", "[durations]") {
  CHECK(printed(0s) == "{ 0s }");
  CHECK(printed(250ms) == "{ 250ms }");
  CHECK(printed(1500ms) == "{ 1.5s }");
  CHECK(printed(2h) == "{ 7200s }");
  CHECK(printed(1s + 1ns) == "{ 1.000000001s }");
  CHECK(printed(1050us) == "{ 1.05ms }");
  CHECK(printed(999ns) == "{ 999ns }");
  CHECK(printed(-20us) == "{ -20us }");
  CHECK(printed(Duration::min()) == "{ -9223372036.854775808s }");
  CHECK(printed(Duration::max()) == "{ 9223372036.854775807s }");
}

TEST_CASE("a failing test shows durations readably", "[durations]") {
  CHECK(Catch::Detail::stringify(Durations{250ms, 500ms}) == "{ 250ms, 500ms }");
  CHECK(Catch::Detail::stringify(Durations{}) == "{}");
  std::ostringstream out;
  out << Durations{1s};
  CHECK(out.str() == "{ 1s }");
}

TEST_CASE("a sum of durations saturates at the end of the range [C7]", "[durations]") {
  CHECK(Durations{}.total() == 0s);
  CHECK(Durations{250ms, 500ms, 1s}.total() == 1750ms);
  CHECK(Durations{Duration::max(), 1s}.total() == Duration::max());
}
