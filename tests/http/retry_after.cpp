#include <encore/http/retry_after.hpp>

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>

namespace {

using encore::Duration;
using encore::WallTime;
using encore::http::retry_after;
using encore::http::retry_after_ms;
using std::chrono::seconds;
using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace std::string_view_literals;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

// 1994-11-06 08:49:37, by `date -u -d "1994-11-06 08:49:37" +%s`; the dates around it differ by what stands in them.
constexpr WallTime now{seconds{784'111'777}};

static_assert(retry_after("120", now) == 120s);
static_assert(retry_after("Sun, 06 Nov 1994 08:50:07 GMT", now) == 30s);
static_assert(retry_after("Sun, 06 Nov 1994 08:50:07 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", WallTime{}) ==
              30s);
static_assert(retry_after_ms("1500") == 1500ms);
static_assert(!retry_after("-1", now));
static_assert(noexcept(retry_after("120", now)));
static_assert(noexcept(retry_after("120", "", now)));
static_assert(noexcept(retry_after_ms("1500")));

TEST_CASE("a Retry-After in seconds is read, and zero means now [E3, E6]", "[retry_after]") {
  CHECK(retry_after("0", now) == 0s);
  CHECK(retry_after("1", now) == 1s);
  CHECK(retry_after("000120", now) == 120s);
  CHECK(retry_after(" \t120 \t", now) == 120s);
  CHECK(retry_after("86400", now) == 24h);
}

TEST_CASE("a Retry-After that is neither a number nor a date is ignored [E3, E6]", "[retry_after]") {
  for (const auto text : {""sv,         " "sv,   "soon"sv,  "+5"sv,           "0x10"sv,
                          "1e3"sv,      "5s"sv,  "5 s"sv,   "5, 10"sv,        "1,5"sv,
                          "5."sv,       ".5"sv,  "1.2.3"sv, "nan"sv,          "inf"sv,
                          "Infinity"sv, "5\0"sv, "5\r\n"sv, "\xEF\xBC\x95"sv, "99999999999999999999x"sv,
                          "1 2"sv}) {
    CAPTURE(text);
    CHECK_FALSE(retry_after(text, now));
    CHECK_FALSE(retry_after(text, "Sun, 06 Nov 1994 08:49:37 GMT", now));
    CHECK_FALSE(retry_after_ms(text));
  }
}

TEST_CASE("a negative Retry-After is ignored [E3] (fault 21: pydantic-ai #7065)", "[retry_after]") {
  for (const auto text : {"-1", "-0", "-0.5", "-9223372036854775809"}) {
    CAPTURE(text);
    CHECK_FALSE(retry_after(text, now));
    CHECK_FALSE(retry_after_ms(text));
  }
}

TEST_CASE(
    "a Retry-After date in the past is ignored, and one that is now means now [E3] (fault 21: httpx-retries "
    "#13)",
    "[retry_after]") {
  CHECK_FALSE(retry_after("Sun, 06 Nov 1994 08:49:36 GMT", now));
  CHECK_FALSE(retry_after("Thu, 01 Jan 1970 00:00:00 GMT", now));
  CHECK_FALSE(retry_after("Sat, 01 Jan 0000 00:00:00 GMT", now));
  CHECK(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now) == 0s);
  CHECK_FALSE(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now + 1ns));
}

TEST_CASE(
    "a Retry-After date is the time until then, to the nanosecond, in each form and case [E6] (fault 24: "
    "Azure #262, #1522)",
    "[retry_after]") {
  for (const auto text :
       {"Sun, 06 Nov 1994 08:50:07 GMT", "Sunday, 06-Nov-94 08:50:07 GMT", "Sun Nov  6 08:50:07 1994",
        "sun, 06 nov 1994 08:50:07 gmt", "SUNDAY, 06-NOV-94 08:50:07 GMT"}) {
    CAPTURE(text);
    CHECK(retry_after(text, now) == 30s);
    CHECK(retry_after(text, now + 1ns) == 29'999'999'999ns);
    CHECK(retry_after(text, now - 1ns) == 30'000'000'001ns);
  }
  // Before 1970 the count of nanoseconds is negative.
  CHECK(retry_after("Thu, 01 Jan 1970 00:00:00 GMT", WallTime{-1500ms}) == 1500ms);
  CHECK(retry_after("Wed, 31 Dec 1969 23:59:59 GMT", WallTime{-1500ms}) == 500ms);
  CHECK_FALSE(retry_after("Wed, 31 Dec 1969 23:59:58 GMT", WallTime{-1500ms}));
}

TEST_CASE("a Retry-After date is relative to the response's own Date, whatever our clock says [E6]",
          "[retry_after]") {
  const auto year_off = now + std::chrono::hours{8'760};
  for (const auto clock : {now, year_off, now - 1h, WallTime::max(), WallTime::min()}) {
    CHECK(retry_after("Sun, 06 Nov 1994 08:50:07 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", clock) == 30s);
    CHECK_FALSE(retry_after("Sun, 06 Nov 1994 08:50:07 GMT", "Sun, 06 Nov 1994 08:50:08 GMT", clock));
    CHECK(retry_after("30", "Sun, 06 Nov 1994 08:50:08 GMT", clock) == 30s);
  }
  // Also a two-digit year: by our clock's 2099 the year 94 is 2094, by the response's Date it is 1994.
  const WallTime year_2099{seconds{4'085'208'000}};  // 2099-06-15 12:00:00
  CHECK(retry_after("Sunday, 06-Nov-94 08:50:07 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", year_2099) == 30s);
  // By our clock's 1970 the year 26 is 1926, by the response's Date it is 2026; and by our clock, if that says 2026.
  const WallTime year_2026{seconds{1'781'524'800}};  // 2026-06-15 12:00:00
  CHECK(retry_after("Monday, 15-Jun-26 12:00:30 GMT", "Mon, 15 Jun 2026 12:00:00 GMT", WallTime{}) == 30s);
  CHECK(retry_after("Monday, 15-Jun-26 12:00:30 GMT", year_2026) == 30s);
}

TEST_CASE("without a valid Date header a Retry-After date is relative to our own clock [E6]",
          "[retry_after]") {
  for (const auto date : {"", "today", "784111777", "Sun, 31 Nov 1994 08:49:37 GMT"}) {
    CAPTURE(date);
    CHECK(retry_after("Sun, 06 Nov 1994 08:50:07 GMT", date, now) == 30s);
    CHECK(retry_after("120", date, now) == 120s);
  }
}

TEST_CASE(
    "a Retry-After too large for Duration is the largest, never a short or negative wait [E2] (fault 21: "
    "urllib3 #3743; fault 22: go-retryablehttp #297)",
    "[retry_after]") {
  // Duration::max() is 9223372036.854775807 s.
  CHECK(retry_after("9223372036", now) == 9'223'372'036s);
  CHECK(retry_after("9223372036.854775807", now) == Duration{most});
  CHECK(retry_after("9223372036.854775806", now) == Duration{most - 1});
  for (const auto text :
       {"9223372037", "9999999999", "9223372036.854775808", "9223372036.8547758069", "9223372036.9",
        "9223372036854775807", "9223372036854775808", "18446744073709551616", "18446744073709551617",
        "340282366920938463463374607431768211456"}) {
    CAPTURE(text);
    CHECK(retry_after(text, now) == Duration::max());
  }
  CHECK(retry_after(std::string(100'000, '9'), now) == Duration::max());
  CHECK(retry_after(std::string(100'000, '0') + '7', now) == 7s);
}

TEST_CASE(
    "a Retry-After date too far ahead is the longest wait, never a short or negative one [E2] (fault 22: "
    "go-retryablehttp #297)",
    "[retry_after]") {
  CHECK(retry_after("Fri, 31 Dec 9999 23:59:59 GMT", now) == Duration::max());
  CHECK(retry_after("Fri, 31 Dec 9999 23:59:59 GMT", WallTime::min()) == Duration::max());
  CHECK(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", WallTime::min()) == Duration::max());
  CHECK(retry_after("Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 9999 23:59:58 GMT", now) == 1s);
  CHECK_FALSE(retry_after("Sat, 01 Jan 0000 00:00:00 GMT", WallTime::max()));
}

TEST_CASE("a fraction of a second in Retry-After is exact and rounded up [E1] (fault 22: kubevuln #637)",
          "[retry_after]") {
  CHECK(retry_after("0.4", now) == 400ms);
  CHECK(retry_after("0.0", now) == 0s);
  CHECK(retry_after("1.000000001", now) == 1'000'000'001ns);
  CHECK(retry_after("1.0000000010", now) == 1'000'000'001ns);
  CHECK(retry_after("1.0000000001", now) == 1'000'000'001ns);
  CHECK(retry_after("0.00000000000000000001", now) == 1ns);
  CHECK(retry_after("0.9999999999", now) == 1s);
  CHECK(retry_after("2." + std::string(100'000, '0'), now) == 2s);
  CHECK(retry_after("2." + std::string(100'000, '0') + '1', now) == 2'000'000'001ns);
}

TEST_CASE("a Retry-After in milliseconds is read by the same rules [E1, E2, E3]", "[retry_after]") {
  CHECK(retry_after_ms("0") == 0s);
  CHECK(retry_after_ms(" 250 ") == 250ms);
  CHECK(retry_after_ms("0.4") == 400us);
  CHECK(retry_after_ms("0.0000001") == 1ns);
  CHECK(retry_after_ms("9223372036854.775807") == Duration{most});
  CHECK(retry_after_ms("9223372036854.775808") == Duration::max());
  CHECK(retry_after_ms("9223372036855") == Duration::max());
  CHECK_FALSE(retry_after_ms("Sun, 06 Nov 1994 08:50:07 GMT"));
}

TEST_CASE(
    "every count of nanoseconds survives being written as seconds in a Retry-After, and one more digit "
    "rounds it up [E1]",
    "[retry_after]") {
  std::mt19937_64 random{22};
  for (int round = 0; round < 100'000; ++round) {
    const auto nanoseconds = static_cast<std::int64_t>(random() >> (1 + random() % 62)) % (most - 1);
    const auto digits = std::to_string(nanoseconds % 1'000'000'000);
    const auto text =
        std::to_string(nanoseconds / 1'000'000'000) + '.' + std::string(9 - digits.size(), '0') + digits;
    CAPTURE(text);
    REQUIRE(retry_after(text, now) == Duration{nanoseconds});
    REQUIRE(retry_after(text + "01", now) == Duration{nanoseconds + 1});
  }
}

TEST_CASE("whatever bytes a Retry-After has, it yields no wait or one that is not negative [E3, E6]",
          "[retry_after]") {
  constexpr auto likely = "0123456789 ,:.-+\tSunMonGMTNovday"sv;
  constexpr std::array seeds{"120"sv,
                             "0.4"sv,
                             "Sun, 06 Nov 1994 08:49:37 GMT"sv,
                             "Sunday, 06-Nov-94 08:49:37 GMT"sv,
                             "Sun Nov  6 08:49:37 1994"sv,
                             ""sv};
  std::mt19937_64 random{2026};
  int waits = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string text{seeds[random() % seeds.size()]};
    for (auto changes = random() % 4; changes > 0; --changes) {
      const char byte =
          random() % 4 == 0 ? static_cast<char>(random() % 256) : likely[random() % likely.size()];
      if (text.empty() || random() % 4 == 0) {
        text.insert(random() % (text.size() + 1), 1, byte);
      } else {
        text[random() % text.size()] = byte;
      }
    }
    const WallTime any_time{Duration{static_cast<std::int64_t>(random())}};
    const std::string_view date = seeds[random() % seeds.size()];
    CAPTURE(text, date, any_time.time_since_epoch().count());
    for (const auto wait :
         {retry_after(text, any_time), retry_after(text, date, any_time), retry_after_ms(text)}) {
      if (!wait) continue;
      REQUIRE(*wait >= 0s);
      ++waits;
    }
  }
  CHECK(waits > 10'000);  // the texts were not all refused
}

}  // namespace
