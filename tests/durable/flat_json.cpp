#include <encore/detail/quoted_text.hpp>
#include <encore/durable/flat_json.hpp>

#include <catch2/catch_test_macros.hpp>

#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using encore::FlatJsonField;
using encore::FlatJsonReader;
using encore::FlatJsonValue;
using namespace std::string_literals;

std::vector<FlatJsonField> read(std::string_view line) { return FlatJsonReader{line}.read(); }

std::string refusal_of(std::string_view line) {
  try {
    static_cast<void>(read(line));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "not refused";
}

TEST_CASE("strings, numbers, words and arrays of them are read in order", "[flat_json]") {
  CHECK(read(R"({"name":"a b","count":17,"share":-0.5e3,"open":true,"last":null})") ==
        std::vector<FlatJsonField>{{"name", {{"a b", true}}, false},
                                   {"count", {{"17", false}}, false},
                                   {"share", {{"-0.5e3", false}}, false},
                                   {"open", {{"true", false}}, false},
                                   {"last", {{"null", false}}, false}});
  CHECK(read(R"({"names":["a","b"],"runs":[1,2,3],"none":[]})") ==
        std::vector<FlatJsonField>{{"names", {{"a", true}, {"b", true}}, true},
                                   {"runs", {{"1", false}, {"2", false}, {"3", false}}, true},
                                   {"none", {}, true}});
  CHECK(read("{}").empty());
}

TEST_CASE("space between the parts means nothing", "[flat_json]") {
  CHECK(read(" { \"a\" : [ 1 ,\t\"x\" ] , \"b\" : 2 } \r\n") == read(R"({"a":[1,"x"],"b":2})"));
}

TEST_CASE("escapes are read as RFC 8259 has them, surrogate pairs included", "[flat_json]") {
  const auto text_of = [](std::string_view line) { return read(line).at(0).values.at(0).text; };
  CHECK(text_of(R"({"":"\"\\\/\b\f\n\r\t"})") == "\"\\/\b\f\n\r\t");
  CHECK(text_of(R"({"":"\u0041\u00e4\u20AC"})") == "A\xC3\xA4\xE2\x82\xAC");
  CHECK(text_of(R"({"":"\ud83d\ude00"})") == "\xF0\x9F\x98\x80");
  CHECK(text_of(R"({"":"\ud800\udc00\uDBFF\uDFFF"})") == "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF");
  CHECK(text_of(R"({"":"\u0000"})") == "\0"s);
  CHECK(text_of(R"({"":"\uFFFF\u07ff\u0800"})") == "\xEF\xBF\xBF\xDF\xBF\xE0\xA0\x80");
}

TEST_CASE("whatever append_quoted writes is read back", "[flat_json]") {
  std::string every;
  for (char32_t c = 0; c < 0x3000; ++c) {
    if (c < 0x80)
      every += static_cast<char>(c);
    else if (c < 0x800)
      every += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
    else
      every += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
                static_cast<char>(0x80 | (c & 0x3F))};
  }
  std::string line{"{\"all\":"};
  encore::append_quoted(line, every);
  CHECK(read(line + '}').at(0).values.at(0).text == every);
}

TEST_CASE("what is no flat object is refused, quoting it", "[flat_json]") {
  CHECK(refusal_of("") == "encore: the line = \"\" is refused: it is no flat JSON object: '{' is missing");
  CHECK(refusal_of(R"({"a":1)") ==
        R"(encore: the line = "{\"a\":1" is refused: it is no flat JSON object: '}' is missing)");
  CHECK(refusal_of(R"({"a":1,"a":2})").ends_with("is refused: it has a field twice"));
  CHECK(refusal_of(R"({"a":1}{})").ends_with("is refused: it has something after its end"));
  CHECK(
      refusal_of("{\"a\":\"\n\"}").ends_with("it has a string with a control character, or without an end"));
  CHECK(refusal_of("{\"a\n").size() < 300);
  for (const auto* line : {"[1]",
                           "17",
                           "{a:1}",
                           "{\"a\"}",
                           "{\"a\" 1}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{,}",
                           "{\"a\":{}}",
                           "{\"a\":[[]]}",
                           "{\"a\":[1}",
                           "{\"a\":[1,]}",
                           "{\"a\":\"",
                           "{\"a",
                           "{\"a\":\"\\",
                           "{\"a\":\"\\x\"}",
                           "{\"a\":\"\\u12\"}",
                           "{\"a\":\"\\u12",
                           "{\"a\":\"\\u12g4\"}",
                           "{\"a\":\"\\u-123\"}",
                           "{\"a\":\"\\ud800\"}",
                           "{\"a\":\"\\ud800\\u0041\"}",
                           "{\"a\":\"\\udc00\"}",
                           "{\"a\":\"\\udc00\\udc00\"}",
                           "{\"a\":'b'}",
                           "{\"a\":1:2}",
                           "{\"a\":b\"c}",
                           "}"}) {
    CAPTURE(line);
    CHECK(refusal_of(line).starts_with("encore: the line = "));
  }
}

TEST_CASE("a line of random bytes is read or refused, and nothing worse", "[flat_json]") {
  std::mt19937 random{17};
  const std::string good = R"({"state":"x","list":["a\u00e4",1],"n":-1.5})";
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto line = good;
    for (auto changes = 1 + random() % 4; changes > 0; --changes) {
      const auto at = random() % line.size();
      if (random() % 3 == 0)
        line.erase(at, 1 + random() % 5);
      else
        line[at] = random() % 2 == 0 ? "{}[],:\"\\u0"[random() % 10] : static_cast<char>(random());
      if (line.empty()) break;
    }
    if (refusal_of(line) != "not refused") ++refused;
  }
  CHECK(refused > 10'000);
}

}  // namespace
