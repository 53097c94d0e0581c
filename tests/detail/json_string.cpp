#include <encore/detail/json_string.hpp>

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <string_view>

namespace {

using encore::detail::JsonFault;
using namespace std::string_literals;

struct Taken {
  JsonFault fault;
  std::string text;
  std::string rest;
  bool operator==(const Taken&) const = default;
};

Taken take(std::string_view rest) {
  std::string buffer;
  std::string_view text;
  const auto fault = encore::detail::take_json_string(rest, buffer, text);
  if (fault != JsonFault::none) return {fault, {}, {}};
  return {fault, std::string{text}, std::string{rest}};
}

TEST_CASE("a JSON string ends at its quote, and what follows stays unread", "[json_string]") {
  CHECK(take(R"("call-17":1)") == Taken{JsonFault::none, "call-17", ":1"});
  CHECK(take(R"("")") == Taken{JsonFault::none, "", ""});
  CHECK(take(R"("a\"b",)") == Taken{JsonFault::none, "a\"b", ","});
}

TEST_CASE("JSON string escapes mean what RFC 8259 says", "[json_string]") {
  CHECK(take(R"("x\"\\\/\b\f\n\r\ty")").text == "x\"\\/\b\f\n\r\ty");
  CHECK(take(R"("\u0041\u00e4\u20AC\ud83d\ude00\u0000")").text == "A\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\0"s);
}

TEST_CASE("a JSON string without an escape is not copied", "[json_string]") {
  const std::string_view line{R"("plain")"};
  auto rest = line;
  std::string buffer{"untouched"};
  std::string_view text;
  REQUIRE(encore::detail::take_json_string(rest, buffer, text) == JsonFault::none);
  CHECK(text.data() == line.data() + 1);
  CHECK(buffer == "untouched");
}

TEST_CASE("each fault of a JSON string has its own name", "[json_string]") {
  CHECK(take("\"a\nb\"").fault == JsonFault::control_character);
  CHECK(take(R"("\x41")").fault == JsonFault::unknown_escape);
  CHECK(take(R"("\u12g4")").fault == JsonFault::unknown_escape);
  CHECK(take(R"("\u-123")").fault == JsonFault::unknown_escape);
  CHECK(take(R"("\ud800")").fault == JsonFault::half_of_a_pair);
  CHECK(take(R"("\ud800\u0041")").fault == JsonFault::half_of_a_pair);
  CHECK(take(R"("\udc00")").fault == JsonFault::half_of_a_pair);
}

TEST_CASE("a JSON string that is cut off anywhere is reported as cut off, not as wrong", "[json_string]") {
  const std::string_view whole{R"("a\n\u0041\ud83d\ude00z")"};
  for (std::size_t size = 1; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK(take(whole.substr(0, size)).fault == JsonFault::cut_off);
  }
  CHECK(take(whole).fault == JsonFault::none);
}

TEST_CASE("a JSON string's end, an escape and a control character are found at any position",
          "[json_string]") {
  for (std::size_t size = 0; size < 40; ++size) {
    for (std::size_t at = 0; at <= size; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text(size, '\xE9');
        text.insert(at, 1, static_cast<char>(byte));
        const auto special = byte < 0x20 || byte == '"' || byte == '\\';
        if (encore::detail::plain_json_size(text) != (special ? at : size + 1))
          FAIL(size << ' ' << at << ' ' << byte);
      }
    }
  }
}

}  // namespace
