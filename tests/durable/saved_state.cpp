#include "../invalid_setting.hpp"
#include "../telemetry/flat_json.hpp"
#include <encore/durable/saved_state.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using encore::saved_line;
using encore::saved_lines;
using encore::SavedLine;
using encore::StateLine;
using encore_tests::refusal_of;

TEST_CASE("a line of saved state is one flat JSON object that begins with its owner", "[saved_state]") {
  const auto line = StateLine{"spend_limit"}.add("spent_usd", "0.5").add("calls", 17).text();
  CHECK(line == R"({"state":"spend_limit","spent_usd":"0.5","calls":17})");
  CHECK(tests::flat_json(line) ==
        tests::FlatJson{{"state", "spend_limit"}, {"spent_usd", "0.5"}, {"calls", "17"}});
  CHECK(StateLine{"x"}
            .add("names", std::vector<std::string>{"a", "b\n"})
            .add("runs", std::vector<std::int64_t>{1, 2})
            .add("none", std::vector<std::string>{})
            .text() == R"({"state":"x","names":["a","b\n"],"runs":[1,2],"none":[]})");
}

TEST_CASE("saved state is read back as it was written", "[saved_state]") {
  const std::vector<std::string> names{"a,b", "]", "\"", ""};
  const std::vector<std::int64_t> runs{0, 9'007'199'254'740'991};
  const SavedLine line{
      StateLine{"\"x\""}.add("text", "ä\\").add("count", 3).add("names", names).add("runs", runs).text()};
  CHECK(line.text("state") == "\"x\"");
  CHECK(line.text("text") == "ä\\");
  CHECK(line.count("count") == 3);
  CHECK(line.texts("names") == names);
  CHECK(line.counts("runs") == runs);
  CHECK(line.has("count"));
  CHECK_FALSE(line.has("counts"));
}

TEST_CASE("a saved value of another kind is rejected by field and value", "[saved_state]") {
  const SavedLine line{
      R"({"minus":-1,"part":1.5,"huge":9007199254740992,"past":99999999999999999999,"text":"17","word":true,"all":[1,-2],"names":["a",3]})"};
  const auto count = [&](const char* field) { return refusal_of([&] { return line.count(field); }); };
  constexpr auto whole = " is invalid: it must be a whole number from 0 to 9007199254740991";
  CHECK(count("minus") == std::string{"encore: minus = -1"} + whole);
  CHECK(count("part") == std::string{"encore: part = 1.5"} + whole);
  CHECK(count("huge") == std::string{"encore: huge = 9007199254740992"} + whole);
  CHECK(count("past") == std::string{"encore: past = 99999999999999999999"} + whole);
  CHECK(count("text") == std::string{"encore: text = \"17\""} + whole);
  CHECK(count("word") == std::string{"encore: word = true"} + whole);
  CHECK(count("gone") == "encore: gone = nothing is invalid: the saved line has no such field");
  CHECK(count("all") == "encore: all = [...] is invalid: it must be one value");
  CHECK(refusal_of([&] { return line.counts("all"); }) == std::string{"encore: all = -2"} + whole);
  CHECK(refusal_of([&] { return line.counts("word"); }) ==
        "encore: word = true is invalid: it must be an array");
  CHECK(refusal_of([&] { return line.texts("names"); }) ==
        "encore: names = 3 is invalid: it must be a string");
  CHECK(refusal_of([&] { return line.text("minus"); }) ==
        "encore: minus = -1 is invalid: it must be a string");
}

TEST_CASE("a saved number out of its bounds is rejected, and the error has the bounds", "[saved_state]") {
  const SavedLine line{R"({"attempts":3,"over":1,"used":0})"};
  CHECK(line.count("attempts", 3, 3) == 3);
  CHECK(refusal_of([&] { return line.count("attempts", 4, 9); }) ==
        "encore: attempts = 3 is invalid: it must be from 4 to 9");
  CHECK(refusal_of([&] { return line.count("attempts", 0, 2); }) ==
        "encore: attempts = 3 is invalid: it must be from 0 to 2");
  CHECK(line.flag("over"));
  CHECK_FALSE(line.flag("used"));
  CHECK(refusal_of([&] { return line.flag("attempts"); }) ==
        "encore: attempts = 3 is invalid: it must be from 0 to 1");
}

TEST_CASE("each guard finds its own lines in a run's saved state", "[saved_state]") {
  const std::string text =
      "{\"state\":\"a\",\"n\":1}\n\n{\"state\":\"b\",\"n\":2}\r\n{\"state\":\"a\",\"n\":3}\n  "
      "\n{\"state\":\"ab\"}";
  const auto lines = saved_lines(text, "a");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].count("n") == 1);
  CHECK(lines[1].count("n") == 3);
  CHECK(saved_line(text, "b").count("n") == 2);
  CHECK(saved_lines(text, "c").empty());
  CHECK(saved_lines("", "a").empty());
  CHECK(refusal_of([&] { return saved_line(text, "a"); }) ==
        "encore: number of a lines = 2 is invalid: it must be 1");
  CHECK(refusal_of([&] { return saved_lines(text, "c", 3); }) ==
        "encore: number of c lines = 0 is invalid: it must be 3");
}

TEST_CASE("an unreadable line of saved state is rejected, whoever owns it", "[saved_state]") {
  CHECK(refusal_of([] {
          return saved_lines("{\"state\":\"a\"}\nnonsense\n", "a");
        }).starts_with("encore: the line = \"nonsense\" is invalid"));
  CHECK(refusal_of([] { return saved_lines("{\"guard\":\"a\"}\n", "a"); }) ==
        "encore: state = nothing is invalid: the saved line has no such field");
}

std::string refusal_of_line(std::string_view line) {
  return refusal_of([&] { return SavedLine{line}; });
}

TEST_CASE("saved state that is not a flat object is rejected, and the error quotes it", "[saved_state]") {
  CHECK(refusal_of_line("") ==
        "encore: the line = \"\" is invalid: it is not a flat JSON object: '{' is missing");
  CHECK(refusal_of_line(R"({"a":1)") ==
        R"(encore: the line = "{\"a\":1" is invalid: it is not a flat JSON object: '}' is missing)");
  CHECK(refusal_of_line(R"({"a":1,"a":2})").ends_with("is invalid: it has a field twice"));
  CHECK(refusal_of_line(R"({"a":1}{})").ends_with("is invalid: it has text after its end"));
  CHECK(refusal_of_line("{\"a\":\"\n\"}")
            .ends_with("it has a string that contains a control character or has no end"));
  CHECK(refusal_of_line("{\"a\n").size() < 300);
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
    CHECK(refusal_of_line(line).starts_with("encore: the line = "));
  }
}

TEST_CASE("random bytes as saved state are read or rejected, and nothing worse", "[saved_state]") {
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
    if (refusal_of_line(line) != "not refused") ++refused;
  }
  CHECK(refused > 10'000);
}

TEST_CASE("bytes in saved state come back as they were, whether or not they are UTF-8 [I2]",
          "[saved_state]") {
  for (const auto& bytes :
       {std::string{"order-5"}, std::string{"order-\xFF\0", 8}, std::string{}, std::string{"\xE2\x82\xAC"}}) {
    const auto line = encore::StateLine{"x"}.add_bytes("key", bytes).text();
    CHECK(encore::SavedLine{line}.bytes("key") == bytes);
  }
  CHECK(encore::StateLine{"x"}.add_bytes("key", "\xFF").text() == R"({"state":"x","key_hex":"ff"})");
}

}  // namespace
