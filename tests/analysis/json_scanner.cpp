#include <encore/analysis/json_scanner.hpp>
#include <encore/detail/quoted_text.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace {

using encore::JsonFault;
using encore::JsonField;

struct Shown {
  std::string name;
  std::string value;
  bool quoted = false;
  bool operator==(const Shown&) const = default;
};

JsonFault scan(std::string_view text, std::vector<Shown>& shown) {
  static encore::JsonScanner scanner;  // one for all tests: nothing of one text stays for the next
  return scanner.scan(text, [&](const JsonField& field) {
    shown.push_back({std::string{field.name}, std::string{field.value}, field.quoted});
  });
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

TEST_CASE("each field is shown with its value as it was written", "[json_scanner]") {
  CHECK(
      shown_of(R"({"id":"call-17","attempt":2,"wait":-0.5e3,"open":true,"last":null})") ==
      std::vector<Shown>{
          {"id", "call-17", true}, {"attempt", "2"}, {"wait", "-0.5e3"}, {"open", "true"}, {"last", "null"}});
  CHECK(shown_of("{}").empty());
  CHECK(shown_of(" { \"a\" : 1 ,\t\"b\" : \"2\" } \r\n") == shown_of(R"({"a":1,"b":"2"})"));
}

TEST_CASE("fields of objects within have the names of both", "[json_scanner]") {
  CHECK(shown_of(R"({"a":{"b":{"c":1,"d":2},"e":{},"i":4},"f":"x","g":{"h":3}})") ==
        std::vector<Shown>{{"a.b.c", "1"}, {"a.b.d", "2"}, {"a.i", "4"}, {"f", "x", true}, {"g.h", "3"}});
  CHECK(shown_of(R"({"a\n":{"b\t":"c\u0041"}})") == std::vector<Shown>{{"a\n.b\t", "cA", true}});
}

TEST_CASE("arrays are passed over, whatever they hold", "[json_scanner]") {
  CHECK(shown_of(R"({"a":[],"b":[1,"]",{"c":[{}]},[[]]],"d":1})") == std::vector<Shown>{{"d", "1"}});
}

TEST_CASE("a name that comes twice is shown twice", "[json_scanner]") {
  CHECK(shown_of(R"({"a":1,"a":2})") == std::vector<Shown>{{"a", "1"}, {"a", "2"}});
}

TEST_CASE("what is no object is told from what is cut off", "[json_scanner]") {
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

TEST_CASE("what is nested too deep is refused, and what is not is read", "[json_scanner]") {
  constexpr auto deepest = encore::JsonScanner::deepest;
  const auto objects = [](std::size_t depth) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += "{\"a\":";
    return text.append("1").append(depth, '}');
  };
  CHECK(shown_of(objects(deepest)).size() == 1);
  CHECK(fault_of(objects(deepest + 1)) == JsonFault::too_deep);
  const auto arrays = [](std::size_t depth) {
    return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  CHECK(shown_of(arrays(deepest)).empty());
  CHECK(fault_of(arrays(deepest + 1)) == JsonFault::too_deep);
  CHECK(fault_of(std::string(1'000'000, '[').insert(0, "{\"a\":")) == JsonFault::too_deep);
}

TEST_CASE("whatever append_quoted writes is read back, as name and as value", "[json_scanner]") {
  std::string every;
  for (int byte = 0; byte < 0x80; ++byte) every += static_cast<char>(byte);
  every += "\xC2\x80\xE2\x80\xA8\xF0\x9F\x98\x80";
  std::string line{"{"};
  encore::append_quoted(line, every);
  encore::append_quoted(line += ':', every);
  CHECK(shown_of(line + '}') == std::vector<Shown>{{every, every, true}});
}

}  // namespace
