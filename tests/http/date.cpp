#include <encore/http/date.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <random>
#include <string>
#include <string_view>

namespace {

using encore::WallTime;
using encore::http::parse_http_date;
using std::chrono::seconds;
using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace std::string_view_literals;

// Every count of seconds since 1970 below was printed by `date -u -d "<date and time>" +%s` of GNU coreutils.

constexpr WallTime at(std::int64_t epoch_seconds) { return WallTime{seconds{epoch_seconds}}; }

constexpr WallTime summer_2026 = at(1'781'524'800);     // 2026-06-15 12:00:00
constexpr WallTime rfc_9110_example = at(784'111'777);  // 1994-11-06 08:49:37

static_assert(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT", summer_2026) == rfc_9110_example);
static_assert(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT", summer_2026) == rfc_9110_example);
static_assert(parse_http_date("Sun Nov  6 08:49:37 1994", summer_2026) == rfc_9110_example);
static_assert(!parse_http_date("soon", summer_2026));
static_assert(noexcept(parse_http_date("soon", summer_2026)));

std::string with_each_letter(std::string_view text, int (*change)(int)) {
  std::string changed{text};
  std::ranges::transform(changed, changed.begin(), [change](char c) {
    return static_cast<char>(change(static_cast<unsigned char>(c)));
  });
  return changed;
}

TEST_CASE("an HTTP date is read to the second [E6]", "[http_date]") {
  struct Golden {
    std::string_view text;
    std::int64_t epoch_seconds;
  };
  constexpr std::array golden{
      Golden{"Thu, 01 Jan 1970 00:00:00 GMT", 0},
      Golden{"Wed, 31 Dec 1969 23:59:59 GMT", -1},
      Golden{"Wed, 28 Feb 1900 00:00:00 GMT", -2'203'977'600},
      Golden{"Fri, 31 Dec 1999 23:59:59 GMT", 946'684'799},
      Golden{"Tue, 29 Feb 2000 12:00:00 GMT", 951'825'600},
      Golden{"Tue Feb 29 12:00:00 2000", 951'825'600},
      Golden{"Tuesday, 29-Feb-00 12:00:00 GMT", 951'825'600},
      Golden{"Wed, 21 Oct 2015 07:28:00 GMT", 1'445'412'480},
      Golden{"Tue, 19 Jan 2038 03:14:08 GMT", 2'147'483'648},
      Golden{"Fri, 11 Apr 2262 23:47:16 GMT", 9'223'372'036},
  };
  for (const auto& [text, epoch_seconds] : golden) {
    CAPTURE(text);
    CHECK(parse_http_date(text, summer_2026) == at(epoch_seconds));
  }
}

TEST_CASE("letter case and white space around a date do not matter [E6] (fault 24: Azure #262, #1522)",
          "[http_date]") {
  for (const auto text : {"Sun, 06 Nov 1994 08:49:37 GMT"sv, "Sunday, 06-Nov-94 08:49:37 GMT"sv,
                          "Sun Nov  6 08:49:37 1994"sv}) {
    CAPTURE(text);
    CHECK(parse_http_date(with_each_letter(text, std::tolower), summer_2026) == rfc_9110_example);
    CHECK(parse_http_date(with_each_letter(text, std::toupper), summer_2026) == rfc_9110_example);
    CHECK(parse_http_date(" \t" + std::string{text} + "\t ", summer_2026) == rfc_9110_example);
  }
}

TEST_CASE("HTTP dates written by the C library are read back, in all three forms [E6]", "[http_date]") {
  // Some 30,000 moments from 1970 to 2261; the step is odd, so that every field takes every value.
  for (std::int64_t moment = 0; moment < 9'200'000'000; moment += 304'861) {
    const auto time = static_cast<std::time_t>(moment);
    const std::tm fields = *std::gmtime(&time);
    for (const char* form :
         {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"}) {
      std::array<char, 64> text{};
      REQUIRE(std::strftime(text.data(), text.size(), form, &fields) > 0);
      const auto date = parse_http_date(text.data(), at(moment));
      if (date != at(moment)) {
        CAPTURE(text.data(), moment);
        REQUIRE(date == at(moment));
      }
    }
  }
}

TEST_CASE("an HTTP date's weekday must be one, but need not be the date's own [E6]", "[http_date]") {
  for (const auto day : {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}) {
    CAPTURE(day);
    CHECK(parse_http_date(day + ", 06 Nov 1994 08:49:37 GMT"s, summer_2026) == rfc_9110_example);
  }
  for (const auto day : {"", "Sonntag", "Xyz", "Su", "Sund", "Sunday", "Nov"}) {
    CAPTURE(day);
    CHECK_FALSE(parse_http_date(day + ", 06 Nov 1994 08:49:37 GMT"s, summer_2026));
  }
  CHECK_FALSE(parse_http_date("Sun, 06-Nov-94 08:49:37 GMT", summer_2026));
  CHECK_FALSE(parse_http_date("Sunday Nov  6 08:49:37 1994", summer_2026));
}

TEST_CASE("an HTTP date's two-digit year is at most 50 years ahead (RFC 9110, 5.6.7) [E6]", "[http_date]") {
  // 2076-06-15 12:00:00, 50 years to the second after summer_2026; a second more, and it is 1976-06-15 12:00:01.
  CHECK(parse_http_date("Monday, 15-Jun-76 12:00:00 GMT", summer_2026) == at(3'359'448'000));
  CHECK(parse_http_date("Tuesday, 15-Jun-76 12:00:01 GMT", summer_2026) == at(203'688'001));
  CHECK(parse_http_date("Monday, 15-Jun-26 12:00:00 GMT", summer_2026) == summer_2026);
  // In 2099 (2099-06-15 12:00:00) the year 01 is the one two years ahead, 2101-01-02 03:04:05, not that of 2001.
  CHECK(parse_http_date("Sunday, 02-Jan-01 03:04:05 GMT", at(4'085'208'000)) == at(4'134'078'245));
  // In 1950 the same year 94 is the past 1894's no more: 1994 is 44 years ahead.
  CHECK(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT", at(-631'152'000)) == rfc_9110_example);
  // From 2080-01-01 the year 00 is 2100, which has no 29 February.
  CHECK_FALSE(parse_http_date("Monday, 29-Feb-00 12:00:00 GMT", at(3'471'292'800)));
}

TEST_CASE("second 60 of an HTTP date is a leap second, the one after 59 (RFC 9110, 5.6.7) [E6]",
          "[http_date]") {
  CHECK(parse_http_date("Sat, 31 Dec 2016 23:59:60 GMT", summer_2026) ==
        at(1'483'228'800));  // 2017-01-01 00:00:00
}

TEST_CASE("an HTTP date that no calendar or clock has is rejected [E6]", "[http_date]") {
  for (const auto text :
       {"Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 32 Dec 1994 08:49:37 GMT",
        "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 29 Feb 2023 08:49:37 GMT", "Sun, 99 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sunday, 31-Nov-94 08:49:37 GMT", "Sun Nov  0 08:49:37 1994", "Sun Nov 31 08:49:37 1994"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_http_date(text, summer_2026));
  }
}

TEST_CASE("text that is not a whole HTTP date is rejected, every incomplete date included [E6]",
          "[http_date]") {
  for (const auto text : {""sv,
                          " "sv,
                          "120"sv,
                          "Sun"sv,
                          "1994-11-06T08:49:37Z"sv,
                          "Sun, 06 Nov 1994 08:49:37"sv,
                          "Sun, 06 Nov 1994 08:49:37 UTC"sv,
                          "Sun, 06 Nov 1994 08:49:37 +0000"sv,
                          "Sun, 06 Nov 1994 08:49:37 GMT!"sv,
                          "Sun, 6 Nov 1994 08:49:37 GMT"sv,
                          "Sun, 06 Nov 94 08:49:37 GMT"sv,
                          "Sun, 06  Nov 1994 08:49:37 GMT"sv,
                          "Sun, 06 November 1994 08:49:37 GMT"sv,
                          "Sun, 06 Nov 1994 8:49:37 GMT"sv,
                          "Sun, +6 Nov 1994 08:49:37 GMT"sv,
                          "Sun, 06 Nov -994 08:49:37 GMT"sv,
                          "06 Nov 1994 08:49:37 GMT"sv,
                          "Sun Nov 6 08:49:37 1994"sv,
                          "Sun Nov  6 08:49:37 1994 GMT"sv,
                          "Sunday, 06-Nov-1994 08:49:37 GMT"sv,
                          "Sun, 06 Nov 1994 08:49:37\0GMT"sv,
                          "Sun, 06 Nov 1994 08:49:37 GMT\r\n"sv,
                          "\xC2\xA0Sun, 06 Nov 1994 08:49:37 GMT"sv}) {
    CAPTURE(text);
    CHECK_FALSE(parse_http_date(text, summer_2026));
  }
  for (const auto text : {"Sun, 06 Nov 1994 08:49:37 GMT"sv, "Sunday, 06-Nov-94 08:49:37 GMT"sv,
                          "Sun Nov  6 08:49:37 1994"sv}) {
    for (std::size_t length = 0; length < text.size(); ++length) {
      CAPTURE(text, length);
      CHECK_FALSE(parse_http_date(text.substr(0, length), summer_2026));
    }
  }
}

TEST_CASE(
    "an HTTP date with a year beyond the range of nanoseconds is clamped to the end of the range [C7, E6]",
    "[http_date]") {
  // The range ends 2262-04-11 23:47:16.85 and begins 1677-09-21 00:12:43.15.
  CHECK(parse_http_date("Fri, 11 Apr 2262 23:47:17 GMT", summer_2026) == WallTime::max());
  CHECK(parse_http_date("Fri, 31 Dec 9999 23:59:59 GMT", summer_2026) == WallTime::max());
  CHECK(parse_http_date("Tue, 21 Sep 1677 00:12:44 GMT", summer_2026) == at(-9'223'372'036));
  CHECK(parse_http_date("Tue, 21 Sep 1677 00:12:43 GMT", summer_2026) == WallTime::min());
  CHECK(parse_http_date("Sat, 01 Jan 0000 00:00:00 GMT", summer_2026) == WallTime::min());
  // And the ends themselves can be what a two-digit year is measured from: 94 is 2294 from 2262, and 1694 from 1677.
  CHECK(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT", WallTime::max()) == WallTime::max());
  CHECK(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT", WallTime::min()) ==
        at(-8'682'909'023));  // 1694-11-06
}

TEST_CASE("a damaged HTTP date is rejected or read, never worse, and letter case changes nothing [E6]",
          "[http_date]") {
  std::mt19937_64 random{1994};
  int dates = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string text{round % 3 == 0   ? "Sun, 06 Nov 1994 08:49:37 GMT"
                     : round % 3 == 1 ? "Sunday, 06-Nov-94 08:49:37 GMT"
                                      : "Sun Nov  6 08:49:37 1994"};
    for (auto changes = random() % 3 + 1; changes > 0; --changes) {
      // Every second change is to a digit, so that many texts stay dates.
      text[random() % text.size()] =
          static_cast<char>(random() % 2 == 0 ? random() % 256 : '0' + random() % 10);
    }
    const WallTime now{std::chrono::nanoseconds{static_cast<std::int64_t>(random())}};
    const auto date = parse_http_date(text, now);
    CAPTURE(text, now.time_since_epoch().count());
    REQUIRE(parse_http_date(with_each_letter(text, std::toupper), now) == date);
    REQUIRE(parse_http_date(with_each_letter(text, std::tolower), now) == date);
    if (date) ++dates;
  }
  CHECK(dates > 10'000);  // the texts were not all refused
}

}  // namespace
