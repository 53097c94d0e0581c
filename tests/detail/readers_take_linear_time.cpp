// Whatever stands in a text that comes from outside, reading it takes time in proportion to its length.
#include <encore/agent/call_signature.hpp>
#include <encore/agent/money.hpp>
#include <encore/analysis/trace_reader.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/detail/seconds_text.hpp>
#include <encore/detail/valid_utf8.hpp>
#include <encore/durable/saved_call.hpp>
#include <encore/durable/saved_state.hpp>
#include <encore/http/retry_after.hpp>
#include <encore/telemetry/time_text.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <ctime>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

/// The least time of the processor that reading the text took.
std::clock_t time_to(const auto& read, const std::string& text) {
  auto best = std::clock_t{1'000'000'000};
  for (int i = 0; i < 4; ++i) {
    const auto begin = std::clock();
    try {
      read(std::string_view{text});
    } catch (const std::invalid_argument&) {  // an answer too
    }
    best = std::min(best, std::clock() - begin);
  }
  return best;
}

/// Reads `text_of(size)` and a text eight times as long. A reader that looks back at all it has read takes 64 times as long;
/// 24 leave room for caches and neighbours.
void takes_linear_time(const auto& read, std::size_t size, const auto& text_of) {
  const auto once = time_to(read, text_of(size));
  const auto eight_times = time_to(read, text_of(8 * size));
  INFO(once << " of the clock's ticks, and " << eight_times << " for eight times as much");
  CHECK((eight_times <= 24 * once || eight_times < CLOCKS_PER_SEC / 500));
}

template <std::invocable<std::size_t> Part>
std::string repeated(std::size_t count, const Part& part) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += part(i);
  return text;
}
std::string repeated(std::size_t count, std::string_view part) {
  return repeated(count, [&](std::size_t) { return part; });
}

TEST_CASE("a saved line takes linear time to read, whatever its fields are", "[readers]") {
  const auto read = [](std::string_view text) { static_cast<void>(encore::SavedCall::read(text)); };
  const auto named = [](std::string_view front, const auto& value) {
    return [=](std::size_t count) {
      return "{\"state\":\"call\"" +
             repeated(count,
                      [&](std::size_t i) {
                        return ",\"" + std::string{front} + std::to_string(i) + "\":" + value;
                      }) +
             "}";
    };
  };
  takes_linear_time(read, 2'000, named("f", "1"));
  takes_linear_time(read, 500, named(std::string(200, 'f'), "1"));
  takes_linear_time(read, 1'000, [](std::size_t count) {
    return "{\"state\":\"call\",\"f\":[1" + repeated(count, ",1") + "]}";
  });
  takes_linear_time(read, 1'000, [](std::size_t count) {
    return "{\"state\":\"call\",\"f\":\"" + repeated(count, "\\ud83d\\ude00") + "\"}";
  });
  takes_linear_time(read, 20'000, [](std::size_t count) { return std::string(count, ' '); });
  takes_linear_time(read, 500, [](std::size_t count) { return repeated(count, "{\"state\":\"other\"}\n"); });
}

TEST_CASE("a trace line takes linear time to read, whatever its fields are named", "[readers]") {
  encore::TraceReader reader;
  const auto read = [&](std::string_view text) { static_cast<void>(reader.read(text)); };
  takes_linear_time(read, 3'000, [](std::size_t count) {  // a long outer name, and as many inner ones
    return "{\"" + std::string(6 * count, 'a') + "\":{\"b\":1" + repeated(count, ",\"b\":1") + "}}";
  });
  takes_linear_time(read, 100, [](std::size_t count) {  // long names all the way down
    return repeated(60, "{\"" + std::string(count, 'a') + "\":") + "{\"b\":1" +
           repeated(10 * count, ",\"b\":1") + "}" + std::string(60, '}');
  });
  takes_linear_time(read, 1'000, [](std::size_t count) {  // a value that is used, again and again
    return "{\"message\":\"\"" + repeated(count, ",\"exception.message\":\"a\\n\"") + "}";
  });
  takes_linear_time(read, 2'000,
                    [](std::size_t count) { return "{\"a\":[" + repeated(count, "[\"\\n\"],") + "1]}"; });
  takes_linear_time(
      read, 2'000, [](std::size_t count) { return "{\"a\":\"" + repeated(count, "\\ud83d\\ude00") + "\"}"; });
}

TEST_CASE("a header, a number, a point in time and a signature take linear time to read [E6]", "[readers]") {
  const auto read = [](std::string_view text) {
    static_cast<void>(encore::http::retry_after(text, text, {}));
    static_cast<void>(encore::http::retry_after_ms(text));
    static_cast<void>(encore::http::parse_http_date(text, {}));
    static_cast<void>(encore::read_duration(text, encore::whole_seconds(1)));
    static_cast<void>(encore::read_timestamp(text));
    static_cast<void>(encore::CallSignature::from_text(text));
    static_cast<void>(encore::usd(text));
  };
  for (const std::string_view part : {"1", " ", "0.", "0", "Sun, ", "\t", "-", "e1", "\xC2"})
    takes_linear_time(read, 5'000, [&](std::size_t count) { return repeated(count, part); });
  takes_linear_time(read, 5'000, [](std::size_t count) { return "0." + std::string(count, '0') + "1"; });
  takes_linear_time(read, 5'000, [](std::size_t count) { return "1" + std::string(count, ' ') + "1"; });
}

TEST_CASE("a text takes linear time to quote, whatever it contains", "[readers]") {
  const auto read = [](std::string_view text) {
    std::string quoted;
    encore::append_quoted(quoted, text);
    static_cast<void>(encore::detail::valid_utf8(text));
    static_cast<void>(encore::reads_plain(text));
  };
  for (const std::string_view part : {"a", "\"", "\x1B", "\xF0\x9F\x98", "\xC2\x9B", "\xFF"})
    takes_linear_time(read, 2'000, [&](std::size_t count) { return repeated(count, part); });
}

}  // namespace
