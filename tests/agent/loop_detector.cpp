#include "../csv.hpp"
#include "../invalid_setting.hpp"
#include <encore/agent/loop_detector.hpp>

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <cstddef>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using encore::IssuedCall;
using encore::LoopDetected;
using encore::LoopDetector;
using encore::LoopWatch;
using encore::StopReason;
using encore_tests::refusal_of;

std::vector<std::string> words_of(const std::string& text) {
  std::stringstream stream{text};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text.append(text.empty() ? "" : " ").append(word);
  return text;
}

/// '+' for each call that is admitted, '-' for each that is refused.
std::string shape_of(LoopWatch& watch, const std::string& names) {
  std::string shape;
  for (const auto& name : words_of(names)) shape += watch.admit({.name = name}) ? '-' : '+';
  return shape;
}

TEST_CASE("loops are found where loops.csv says, with the primitive pattern [H6]", "[loop_detector]") {
  for (const auto& row : encore_tests::rows_of("loops.csv")) {
    INFO(row.where());
    LoopWatch watch{
        LoopDetector{.repeats = row.whole("repeats"), .max_cycle_len = row.whole("max_cycle_len")}};
    int refused_at = 0;
    std::string pattern;
    int number = 0;
    for (const auto& name : words_of(row.text("signatures"))) {
      ++number;
      const auto loop = watch.admit({.name = name, .arguments = "{}"});
      if (loop && refused_at == 0) {
        refused_at = number;
        pattern = joined(loop->pattern);
        CHECK(loop->repeats == row.whole("repeats"));
      }
    }
    CHECK(refused_at == row.whole("refused_at"));
    CHECK(pattern == row.text("pattern"));
  }
}

TEST_CASE("if signatures are recorded after the call, the call after a full cycle is refused: loops.csv [H6]",
          "[loop_detector]") {
  for (const auto& row : encore_tests::rows_of("loops.csv")) {
    INFO(row.where());
    LoopWatch watch{
        LoopDetector{.repeats = row.whole("repeats"), .max_cycle_len = row.whole("max_cycle_len")}};
    int refused_at = 0;
    int number = 0;
    std::string pattern;
    for (const auto& name : words_of(row.text("signatures"))) {
      ++number;
      if (const auto loop = watch.standing_loop()) {
        refused_at = number;
        pattern = joined(loop->pattern);
        break;
      }
      watch.record({.signature = name});
    }
    // What the next call would have been is not known, so the row whose loop is broken by it is refused as well.
    const auto broken = row.text("signatures") == "A A A B";
    const auto late = row.text("signatures") == "A B A B A B C A A A A";
    CHECK(refused_at == (broken ? 4 : late ? 7 : row.whole("refused_at")));
    CHECK(pattern == (broken ? "A" : late ? "A B" : row.text("pattern")));
  }
}

TEST_CASE("a loop refusal names the loop for a person, and asks the model not to repeat it [H6]",
          "[loop_detector]") {
  LoopWatch watch{LoopDetector{.repeats = 2}};
  const IssuedCall search{.name = "search", .arguments = R"({"q":"secret"})"};
  const IssuedCall read{.name = "read", .arguments = "{}"};
  for (int i = 0; i < 2; ++i) {
    CHECK_FALSE(watch.admit(search));
    CHECK_FALSE(watch.admit(read));
  }
  const auto loop = watch.admit(search);
  REQUIRE(loop);
  CHECK(loop->reason == StopReason::loop_detected);
  CHECK(
      loop->to_model ==
      R"(The tool "search" was not called: the same calls are repeated in a loop. Do not make the same call again.)");
  CHECK(loop->to_person == R"(loop detected: "search" "read", 2 times in a row)");
  CHECK(loop->pattern == std::vector<std::string>{"search", "read"});
  CHECK(loop->repeats == 2);
  CHECK_FALSE(loop->ends_run);
  const std::optional<encore::Refusal> plain = loop;
  CHECK(plain->to_person == loop->to_person);
}

TEST_CASE("the call that closes a loop stays refused, and another call is admitted and breaks the loop",
          "[loop_detector]") {
  LoopWatch watch{LoopDetector{.repeats = 3}};
  CHECK(shape_of(watch, "A A A A A A B A A A A") == "+++---++++-");
}

TEST_CASE(
    "for the loop detector, any other byte in the arguments makes another call, and the caller's own "
    "signature replaces both [H6]",
    "[loop_detector]") {
  LoopWatch watch{LoopDetector{.repeats = 2}};
  for (int page = 0; page < 10; ++page)
    CHECK_FALSE(watch.admit({.name = "search", .arguments = std::to_string(page)}));
  LoopWatch own{LoopDetector{.repeats = 2}};
  CHECK_FALSE(own.admit({.name = "search", .arguments = "1", .signature = "search"}));
  CHECK_FALSE(own.admit({.name = "search", .arguments = "2", .signature = "search"}));
  CHECK(own.admit({.name = "search", .arguments = "3", .signature = "search"}));
  CHECK_FALSE(own.admit({.name = "search", .arguments = "3", .signature = "other"}));
}

TEST_CASE("a loop detector can compute the signatures of calls that bring none [H6]", "[loop_detector]") {
  const LoopDetector by_name{.repeats = 2,
                             .signature = [](const IssuedCall& call) { return std::string{call.name}; }};
  LoopWatch watch{by_name};
  CHECK_FALSE(watch.admit({.name = "search", .arguments = "1"}));
  CHECK_FALSE(watch.admit({.name = "search", .arguments = "2"}));
  const auto loop = watch.admit({.name = "search", .arguments = "3"});
  REQUIRE(loop);
  CHECK(loop->pattern == std::vector<std::string>{"search"});
  CHECK_FALSE(watch.admit({.name = "search", .signature = "its own"}));

  auto with_results = by_name;
  with_results.with_results = true;
  LoopWatch polls{with_results};
  for (const auto* page : {"1", "2"}) {
    CHECK_FALSE(polls.admit({.name = "search", .arguments = page}));
    polls.answered({.name = "search", .arguments = page}, "nothing found");
  }
  CHECK(polls.admit({.name = "search", .arguments = "3"}));

  LoopWatch model{by_name};
  model.record({.name = "plan", .arguments = "1"});
  model.record({.name = "plan", .arguments = "2"});
  CHECK(model.standing_loop());
}

TEST_CASE(
    "a loop detector that looks at results allows polling with progress and refuses polling without [H6]",
    "[loop_detector]") {
  LoopWatch watch{LoopDetector{.repeats = 3, .with_results = true}};
  const IssuedCall poll{.name = "status", .arguments = R"({"job":7})"};
  for (int percent = 0; percent < 100; percent += 10) {
    CHECK_FALSE(watch.admit(poll));
    watch.answered(poll, std::to_string(percent) + " %");
  }
  for (int i = 0; i < 3; ++i) {
    CHECK_FALSE(watch.admit(poll));
    watch.answered(poll, "100 %");
  }
  const auto loop = watch.admit(poll);
  REQUIRE(loop);
  CHECK(loop->pattern == std::vector<std::string>{"status"});
  CHECK(loop->repeats == 3);
  const IssuedCall other{.name = "download", .arguments = "{}"};
  CHECK_FALSE(watch.admit(other));
  watch.answered(other, "done");
  CHECK_FALSE(watch.admit(poll));
}

TEST_CASE("a loop detector that ignores results does not change its decision with the answers",
          "[loop_detector]") {
  LoopWatch watch{LoopDetector{.repeats = 2}};
  const IssuedCall poll{.name = "status"};
  CHECK_FALSE(watch.admit(poll));
  watch.answered(poll, "10 %");
  CHECK_FALSE(watch.admit(poll));
  watch.answered(poll, "20 %");
  CHECK(watch.admit(poll));
}

TEST_CASE("a call refused by the loop detector leaves no trace, as a simulation of the rule confirms [H6]",
          "[loop_detector]") {
  std::mt19937 random{17};
  int refusals = 0;
  for (int round = 0; round < 500; ++round) {
    const int repeats = 2 + static_cast<int>(random() % 3);
    const int max_cycle_len = 1 + static_cast<int>(random() % 8);
    LoopWatch watch{LoopDetector{.repeats = repeats, .max_cycle_len = max_cycle_len}};
    const auto alphabet = 1 + random() % 3;
    std::string admitted;  // the calls that were made, one letter each
    for (int step = 0; step < 200; ++step) {
      const char next = static_cast<char>('A' + random() % alphabet);
      std::string expected;
      for (std::size_t length = 1; length <= static_cast<std::size_t>(max_cycle_len) && expected.empty();
           ++length) {
        if (length * static_cast<std::size_t>(repeats) > admitted.size()) break;
        const auto pattern = admitted.substr(admitted.size() - length);
        std::string loop;
        for (int i = 0; i < repeats; ++i) loop += pattern;
        if (admitted.ends_with(loop) && pattern.front() == next) expected = pattern;
      }
      const auto loop = watch.admit({.name = std::string(1, next)});
      std::string found;
      if (loop)
        for (const auto& name : loop->pattern) found += name;
      if (found != expected) {
        INFO(admitted << ", then " << next << ", repeats " << repeats << ", max_cycle_len " << max_cycle_len);
        REQUIRE(found == expected);
      }
      if (loop)
        ++refusals;
      else
        admitted += next;
    }
  }
  CHECK(refusals > 10'000);
}

TEST_CASE(
    "loop detector settings below their minimum are invalid by name, and the defaults are three repetitions "
    "over eight calls [C3, H6]",
    "[loop_detector]") {
  CHECK(refusal_of([] { return LoopDetector{.repeats = 1}; }) ==
        "encore: repeats = 1 is invalid: it must be at least 2");
  CHECK(refusal_of([] { return LoopDetector{.max_cycle_len = 0}; }) ==
        "encore: max_cycle_len = 0 is invalid: it must be at least 1");
  STATIC_CHECK(LoopDetector{}.repeats == 3);
  STATIC_CHECK(LoopDetector{}.max_cycle_len == 8);
  STATIC_CHECK_FALSE(LoopDetector{}.with_results);
}

TEST_CASE("a loop detector starts each new run empty", "[loop_detector]") {
  LoopWatch watch{LoopDetector{.repeats = 2}};
  CHECK(shape_of(watch, "A A A") == "++-");
  watch.new_run();
  CHECK(shape_of(watch, "A A A") == "++-");
}

TEST_CASE("a loop detector stores a name up to 64 bytes, and compares names in full", "[loop_detector]") {
  LoopWatch watch{LoopDetector{.repeats = 2}};
  const std::string long_name(100'000, 'x');
  CHECK_FALSE(watch.admit({.name = long_name}));
  CHECK_FALSE(watch.admit({.name = long_name + 'y'}));
  CHECK_FALSE(watch.admit({.name = long_name}));
  CHECK_FALSE(watch.admit({.name = long_name + 'y'}));
  const auto loop = watch.admit({.name = long_name});
  REQUIRE(loop);
  CHECK(loop->pattern == std::vector{std::string(64, 'x'), std::string(64, 'x')});
}

TEST_CASE("a loop detector is saved as one JSON line without arguments, and continues after a restart [H6]",
          "[loop_detector]") {
  std::mt19937 random{17};
  for (int round = 0; round < 200; ++round) {
    const LoopDetector settings{.repeats = 2 + static_cast<int>(random() % 2),
                                .max_cycle_len = 1 + static_cast<int>(random() % 5),
                                .with_results = random() % 2 == 0};
    LoopWatch watch{settings};
    std::optional<LoopWatch> resumed;
    for (int step = 0; step < 60; ++step) {
      const IssuedCall call{.name = random() % 2 == 0 ? "search" : "re\"ad", .arguments = "top secret"};
      const auto* result = random() % 2 == 0 ? "yes" : "no";
      const auto loop = watch.admit(call);
      if (resumed) {
        const auto same = resumed->admit(call);
        REQUIRE(same.has_value() == loop.has_value());
        if (loop) REQUIRE((same->pattern == loop->pattern && same->repeats == loop->repeats));
        if (!loop) resumed->answered(call, result);
      }
      if (!loop) watch.answered(call, result);
      if (step % 20 == 10) {
        resumed.emplace(settings);
        resumed->restore(watch.save());
      }
    }
    const auto text = watch.save();
    REQUIRE(text.find('\n') == text.size() - 1);
    REQUIRE(text.find("secret") == std::string::npos);
    REQUIRE(resumed->save() == text);
  }
}

TEST_CASE("an empty loop detector is saved and restored too", "[loop_detector]") {
  LoopWatch watch{LoopDetector{.repeats = 2}};
  const auto text = watch.save();
  CHECK(text == "{\"state\":\"loop_detector\",\"calls\":[],\"with_results\":[],\"names\":[],\"runs\":[]}\n");
  CHECK(shape_of(watch, "A A") == "++");
  watch.restore(text);
  CHECK(shape_of(watch, "A A A") == "++-");
}

TEST_CASE("text that is not a saved loop detector is rejected by name, and changes nothing",
          "[loop_detector]") {
  LoopWatch watch{LoopDetector{.repeats = 2}};
  CHECK(shape_of(watch, "A A") == "++");
  const auto before = watch.save();
  const auto why = [&](const std::string& text) {
    return refusal_of([&] { return watch.restore(text), 0; });
  };
  const std::string hash = "0123456789abcdeffedcba9876543210";
  const auto line = [](const std::string& calls, const std::string& wholes, const std::string& names,
                       const std::string& runs) {
    return R"({"state":"loop_detector","calls":[)" + calls + R"(],"with_results":[)" + wholes +
           R"(],"names":[)" + names + R"(],"runs":[)" + runs + "]}";
  };
  const auto one = '"' + hash + '"';
  CHECK(why("") == "encore: number of loop_detector lines = 0 is invalid: it must be 1");
  CHECK(why(line(R"("xyz")", one, R"("a")", "0")) ==
        "encore: calls = \"xyz\" is invalid: it must be 32 lower-case hexadecimal digits");
  CHECK(why(line(one, R"("")", R"("a")", "0")) ==
        "encore: with_results = \"\" is invalid: it must be 32 lower-case hexadecimal digits");
  CHECK(why(line(one, "", R"("a")", "0")) ==
        "encore: with_results = 0 values is invalid: there must be 1, one for each call");
  CHECK(why(line(one, one, R"("a","b")", "0")) ==
        "encore: names = 2 values is invalid: there must be 1, one for each call");
  CHECK(why(line(one, one, R"("a")", "")) ==
        "encore: runs = 0 values is invalid: there must be 1, one for each call");
  CHECK(why(line(one, one, R"("a")", "-1")) ==
        "encore: runs = -1 is invalid: it must be a whole number from 0 to 9007199254740991");
  CHECK(why(R"({"state":"loop_detector"})") ==
        "encore: calls = nothing is invalid: the saved line has no such field");
  CHECK(watch.save() == before);
  CHECK(why(line(one, one, R"("a")", "0")) == "not refused");
}

TEST_CASE("a saved loop detector with random damage is restored or rejected, never worse",
          "[loop_detector]") {
  std::mt19937 random{17};
  LoopWatch source{LoopDetector{.repeats = 2, .max_cycle_len = 3}};
  static_cast<void>(shape_of(source, "A B A B C"));
  const auto good = source.save();
  int restored = 0;
  for (int i = 0; i < 5'000; ++i) {
    auto text = good;
    for (auto changes = 1 + random() % 2; changes > 0; --changes)
      text[random() % text.size()] = "0123456789abcdef{}[],:\"\\-"[random() % 25];
    LoopWatch watch{LoopDetector{.repeats = 2, .max_cycle_len = 3}};
    const auto empty = watch.save();
    if (refusal_of([&] { return watch.restore(text), 0; }) == "not refused")
      ++restored;
    else
      REQUIRE(watch.save() == empty);
    static_cast<void>(shape_of(watch, "A B A B A"));
  }
  CHECK(restored > 500);
}

TEST_CASE("when many threads make the same call, the loop detector admits as many as the rule allows [H8]",
          "[loop_detector][threads]") {
  LoopWatch watch{LoopDetector{.repeats = 3}};
  std::atomic<int> admitted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        admitted += watch.admit({.name = "search", .arguments = "{}"}) ? 0 : 1;
        watch.answered({.name = "search"}, "nothing");
        if (i % 100 == 0) static_cast<void>(watch.save()), static_cast<void>(watch.standing_loop());
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(admitted == 3);
}

}  // namespace
