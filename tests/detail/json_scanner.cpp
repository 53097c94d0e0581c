#include <encore/detail/json_scanner.hpp>
#include <encore/detail/quoted_text.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace {

using encore::detail::JsonFault;
using encore::detail::JsonField;
using namespace std::string_literals;

struct Shown {
  std::string name;
  std::string value;
  bool quoted = false;
  bool is_array = false;
  bool in_array = false;
  bool operator==(const Shown&) const = default;
};

auto put_into(std::vector<Shown>& shown) {
  return [&](const JsonField& field) {
    shown.push_back(
        {std::string{field.name}, std::string{field.value}, field.quoted, field.is_array, field.in_array});
  };
}
encore::detail::JsonScanner scanner;  // one for all tests: nothing of one text stays for the next
JsonFault scan(std::string_view text, std::vector<Shown>& shown) {
  return scanner.scan(text, put_into(shown));
}
std::vector<Shown> shown_of(std::string_view text) {
  std::vector<Shown> shown;
  CHECK(scan(text, shown) == JsonFault::none);
  return shown;
}
JsonFault fault_of(std::string_view text) {
  std::vector<Shown> shown;
  return scan(text, shown);
}

TEST_CASE("the JSON scanner reports each field with its value as it was written", "[json_scanner]") {
  CHECK(
      shown_of(R"({"id":"call-17","attempt":2,"wait":-0.5e3,"open":true,"last":null})") ==
      std::vector<Shown>{
          {"id", "call-17", true}, {"attempt", "2"}, {"wait", "-0.5e3"}, {"open", "true"}, {"last", "null"}});
  CHECK(shown_of("{}").empty());
  CHECK(shown_of(" { \"a\" : 1 ,\t\"b\" : \"2\" } \r\n") == shown_of(R"({"a":1,"b":"2"})"));
}

TEST_CASE("the JSON scanner names nested fields by both names", "[json_scanner]") {
  CHECK(shown_of(R"({"a":{"b":{"c":1,"d":2},"e":{},"i":4},"f":"x","g":{"h":3}})") ==
        std::vector<Shown>{{"a.b.c", "1"}, {"a.b.d", "2"}, {"a.i", "4"}, {"f", "x", true}, {"g.h", "3"}});
  CHECK(shown_of(R"({"a\n":{"b\t":"c\u0041"}})") == std::vector<Shown>{{"a\n.b\t", "cA", true}});
}

TEST_CASE("the JSON scanner skips arrays, whatever they contain", "[json_scanner]") {
  CHECK(shown_of(R"({"a":[],"b":[1,"]",{"c":[{}]},[[]]],"d":1})") == std::vector<Shown>{{"d", "1"}});
}

TEST_CASE("the JSON scanner reports a repeated name twice", "[json_scanner]") {
  CHECK(shown_of(R"({"a":1,"a":2})") == std::vector<Shown>{{"a", "1"}, {"a", "2"}});
}

TEST_CASE("the JSON scanner distinguishes text that is not an object from text that is cut off",
          "[json_scanner]") {
  const std::string_view whole{R"({"a":{"b":"c"},"d":[1,{"e":"f"}],"g":17})"};
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK(fault_of(whole.substr(0, size)) == JsonFault::cut_off);
  }
  for (const auto* text : {"plain text", "[1]", "17", "\"a\"", "}"}) {
    CAPTURE(text);
    CHECK(fault_of(text) == JsonFault::no_object);
  }
  for (const auto* text :
       {"{a:1}", "{\"a\"}", "{\"a\" 1}", "{\"a\":}", "{\"a\":1,}", "{,}", "{\"a\":[}]}", "{\"a\":[1}]}",
        "{\"a\":'b'}", "{\"a\":1:2}", "{\"a\":1 \"b\":2}", "{\"a\":b\"c}"}) {
    CAPTURE(text);
    CHECK(fault_of(text) == JsonFault::no_value);
  }
  CHECK(fault_of(R"({"a":1}{})") == JsonFault::not_at_its_end);
  CHECK(fault_of("{\"a\":\"\n\"}") == JsonFault::control_character);
  CHECK(fault_of(R"({"a\x":1})") == JsonFault::unknown_escape);
}

std::vector<Shown> flat(std::string_view text) {
  std::vector<Shown> shown;
  CHECK(scanner.scan_flat(text, put_into(shown)) == JsonFault::none);
  return shown;
}
JsonFault fault_of_flat(std::string_view text) {
  std::vector<Shown> shown;
  return scanner.scan_flat(text, put_into(shown));
}

TEST_CASE("for a flat object the JSON scanner reports array elements too, in order", "[json_scanner]") {
  CHECK(flat(R"({"name":"a b","count":17,"share":-0.5e3,"open":true,"last":null})") ==
        std::vector<Shown>{
            {"name", "a b", true}, {"count", "17"}, {"share", "-0.5e3"}, {"open", "true"}, {"last", "null"}});
  CHECK(flat(R"({"names":["a","b"],"runs":[1,2,3],"none":[]})") ==
        std::vector<Shown>{{"names", "", false, true},
                           {"names", "a", true, false, true},
                           {"names", "b", true, false, true},
                           {"runs", "", false, true},
                           {"runs", "1", false, false, true},
                           {"runs", "2", false, false, true},
                           {"runs", "3", false, false, true},
                           {"none", "", false, true}});
  CHECK(flat("{}").empty());
  CHECK(flat(" { \"a\" : [ 1 ,\t\"x\" ] , \"b\" : 2 } \r\n") == flat(R"({"a":[1,"x"],"b":2})"));
}

TEST_CASE("the JSON scanner rejects a nested object where a flat one is expected", "[json_scanner]") {
  for (const auto* text :
       {"{\"a\":{}}", "{\"a\":[[]]}", "{\"a\":[{}]}", "{\"a\":[1}", "{\"a\":[1,]}", "{\"a\":[,]}"}) {
    CAPTURE(text);
    CHECK(fault_of_flat(text) == JsonFault::no_value);
  }
  CHECK(fault_of_flat("{\"a\":[1") == JsonFault::cut_off);
  CHECK(fault_of_flat("{\"a\":[") == JsonFault::cut_off);
}

TEST_CASE("the JSON scanner reads escapes as in RFC 8259, surrogate pairs included", "[json_scanner]") {
  const auto text_of = [](std::string_view line) { return flat(line).at(0).value; };
  CHECK(text_of(R"({"":"\"\\\/\b\f\n\r\t"})") == "\"\\/\b\f\n\r\t");
  CHECK(text_of(R"({"":"\u0041\u00e4\u20AC"})") == "A\xC3\xA4\xE2\x82\xAC");
  CHECK(text_of(R"({"":"\ud83d\ude00"})") == "\xF0\x9F\x98\x80");
  CHECK(text_of(R"({"":"\ud800\udc00\uDBFF\uDFFF"})") == "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF");
  CHECK(text_of(R"({"":"\u0000"})") == "\0"s);
  CHECK(text_of(R"({"":"\uFFFF\u07ff\u0800"})") == "\xEF\xBF\xBF\xDF\xBF\xE0\xA0\x80");
}

TEST_CASE("the JSON scanner rejects input that is nested too deep, and reads the rest", "[json_scanner]") {
  constexpr auto max_depth = encore::detail::JsonScanner::max_depth;
  const auto objects = [](std::size_t depth) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += "{\"a\":";
    return text.append("1").append(depth, '}');
  };
  CHECK(shown_of(objects(max_depth)).size() == 1);
  CHECK(fault_of(objects(max_depth + 1)) == JsonFault::too_deep);
  const auto arrays = [](std::size_t depth) {
    return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  CHECK(shown_of(arrays(max_depth)).empty());
  CHECK(fault_of(arrays(max_depth + 1)) == JsonFault::too_deep);
  CHECK(fault_of(std::string(1'000'000, '[').insert(0, "{\"a\":")) == JsonFault::too_deep);
}

TEST_CASE("the JSON scanner reads back whatever append_quoted writes, as name and as value",
          "[json_scanner]") {
  std::string every;
  for (int byte = 0; byte < 0x80; ++byte) every += static_cast<char>(byte);
  every += "\xF0\x9F\x98\x80";
  for (char32_t c = 0x80; c < 0x3000; ++c) {
    if (c < 0x800)
      every += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
    else
      every += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
                static_cast<char>(0x80 | (c & 0x3F))};
  }
  std::string line{"{"};
  encore::append_quoted(line, every);
  encore::append_quoted(line += ':', every);
  CHECK(shown_of(line + '}') == std::vector<Shown>{{every, every, true}});
  CHECK(flat(line + '}') == std::vector<Shown>{{every, every, true}});
}

}  // namespace
