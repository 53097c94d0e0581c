// Feeds any bytes to the readers of Retry-After and Date; stops at the first answer that breaks E1, E2, E3 or E6.
#include "fuzz.hpp"
#include <encore/http/retry_after.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace {

using encore::Duration;
using encore::WallTime;
using encore::http::parse_http_date;
using encore::http::retry_after;
using encore::http::retry_after_ms;
using fuzz::require;

std::string with_other_case(std::string_view text) {
  std::string changed{text};
  for (char& c : changed) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) c = static_cast<char>(c ^ 0x20);
  }
  return changed;
}

bool is_held_at_an_end(WallTime time) { return time == WallTime::max() || time == WallTime::min(); }

/// What a date must mean, by the other way: unsigned arithmetic, which has no overflow.
std::optional<Duration> until(WallTime date, WallTime from) {
  if (date < from) return std::nullopt;
  const auto ahead = static_cast<std::uint64_t>(date.time_since_epoch().count()) -
                     static_cast<std::uint64_t>(from.time_since_epoch().count());
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Duration::rep>::max());
  return ahead > most ? Duration::max() : Duration{static_cast<Duration::rep>(ahead)};
}

/// The last two seconds below the longest wait are not told apart: both answers are the longest wait, or nearly.
bool same_wait(std::optional<Duration> left, std::optional<Duration> right) {
  using namespace std::chrono_literals;
  return left == right || (left && right && *left > Duration::max() - 2s && *right > Duration::max() - 2s);
}

void check_date(std::string_view header, WallTime from, std::optional<Duration> wait) {
  const auto date = parse_http_date(header, from);
  if (!date) {
    require(!wait, "what is no number and no date is no hint");
  } else if (!is_held_at_an_end(*date)) {
    require(same_wait(wait, until(*date, from)), "a date means the time until then");
  }
}

void check(std::string_view header, std::string_view date_header, WallTime now) {
  const auto wait = retry_after(header, now);
  const auto wait_from_date = retry_after(header, date_header, now);
  const auto wait_ms = retry_after_ms(header);
  require(!wait || *wait >= Duration::zero(), "a wait is not negative");
  require(!wait_from_date || *wait_from_date >= Duration::zero(), "a wait from a Date is not negative");
  require(!wait_ms || *wait_ms >= Duration::zero(), "a wait in milliseconds is not negative");
  require(retry_after(header, "", now) == wait, "without a Date, now counts");

  const std::string changed = " \t" + with_other_case(header) + "\t ";
  require(retry_after(changed, now) == wait, "letter case and white space around the text do not matter");

  if (wait_ms) {
    require(!parse_http_date(header, now), "a number is no date");
    require(wait && *wait >= *wait_ms, "so many seconds are not shorter than as many milliseconds");
    require(wait_from_date == wait, "a Date does not matter to a number");
  } else {
    check_date(header, now, wait);
    const auto sent = parse_http_date(date_header, now);
    if (!sent || !is_held_at_an_end(*sent)) check_date(header, sent.value_or(now), wait_from_date);
  }
}

}  // namespace

/// The input: eight bytes of clock, the Date's text, a line break, the Retry-After's text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::int64_t clock = 0;
  if (size < sizeof clock) return 0;
  std::memcpy(&clock, data, sizeof clock);
  const std::string text{reinterpret_cast<const char*>(data) + sizeof clock, size - sizeof clock};
  const std::size_t line_break = text.find('\n');
  const bool has_date = line_break != std::string::npos;
  const std::string date_header = has_date ? text.substr(0, line_break) : std::string{};
  const std::string header = has_date ? text.substr(line_break + 1) : text;
  check(header, date_header, WallTime{Duration{clock}});
  return 0;
}

#ifdef ENCORE_FUZZ_STANDALONE
int main(int count, char** arguments) {
  fuzz::feed_files(count, arguments);
  constexpr std::string_view texts[] = {"120",
                                        "0",
                                        "-1",
                                        "0.4",
                                        "1.0000000001",
                                        "9223372036.854775807",
                                        "9223372036.854775808",
                                        "9999999999",
                                        "18446744073709551617",
                                        "1e3",
                                        "nan",
                                        "5.",
                                        "soon",
                                        "Sun, 06 Nov 1994 08:49:37 GMT",
                                        "Sun, 06 Nov 1994 08:50:07 GMT",
                                        "Sunday, 06-Nov-94 08:49:37 GMT",
                                        "sUNDAY, 29-fEB-00 23:59:60 gmt",
                                        "Sun Nov  6 08:49:37 1994",
                                        "Sun Nov 16 08:49:37 1994",
                                        "Thu, 29 Feb 2024 00:00:00 GMT",
                                        "Sat, 01 Jan 0000 00:00:00 GMT",
                                        "Fri, 31 Dec 9999 23:59:59 GMT",
                                        "Fri, 11 Apr 2262 23:47:16 GMT",
                                        "Tue, 21 Sep 1677 00:12:43 GMT"};
  constexpr std::int64_t clocks[] = {0,
                                     -1,
                                     784'111'777'000'000'000,
                                     1'781'524'800'000'000'001,
                                     std::numeric_limits<std::int64_t>::min(),
                                     std::numeric_limits<std::int64_t>::max()};
  unsigned long long inputs = 0;
  for (const std::int64_t clock : clocks) {
    for (const std::string_view date_header : texts) {
      for (const std::string_view header : texts) {
        for (std::size_t length = 0; length <= header.size(); ++length) {
          std::string input(sizeof clock, '\0');
          std::memcpy(input.data(), &clock, sizeof clock);
          input.append(date_header).append("\n").append(header.substr(0, length));
          fuzz::feed(input);
          ++inputs;
        }
      }
    }
  }
  std::printf("%llu inputs, no rule broken\n", inputs);
}
#endif
