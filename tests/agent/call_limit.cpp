#include "../csv.hpp"
#include "../invalid_setting.hpp"
#include "../telemetry/flat_json.hpp"
#include <encore/agent/call_limit.hpp>
#include <encore/agent/spend_limit.hpp>
#include <encore/never_retry.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <cstdint>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using encore::BatchVerdict;
using encore::CallCounter;
using encore::CallLimit;
using encore::CallLimitExceeded;
using encore::IssuedCall;
using encore::OnLimit;
using encore::RunCounts;
using encore::StopReason;
using encore_tests::is_a_constant;
using encore_tests::refusal_of;

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream{text};
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// Views of the names.
std::vector<IssuedCall> calls_of(const std::vector<std::string>& names) {
  std::vector<IssuedCall> calls;
  for (const auto& name : names) calls.push_back({.name = name});
  return calls;
}

/// '+' for each call that may run, '-' for each that is refused.
std::string shape_of(const BatchVerdict& verdict) {
  std::string shape;
  for (const auto& refusal : verdict.calls)
    shape.append(shape.empty() ? "" : " ").append(refusal ? "-" : "+");
  return shape;
}

/// What one turn of the model leads to, and what a person is told of the last refused call.
std::string take_turn(CallCounter& counter, const std::vector<std::string>& names, std::string& says) {
  try {
    const auto verdict = counter.admit(calls_of(names));
    for (const auto& refusal : verdict.calls)
      if (refusal) says = refusal->to_person;
    if (verdict.ends_run) says = verdict.ends_run->to_person;
    return shape_of(verdict);
  } catch (const CallLimitExceeded& exceeded) {
    says = exceeded.what();
    return "!";
  }
}

OnLimit on_limit_of(const std::string& name) {
  if (name == "answer_calls") return OnLimit::answer_calls;
  if (name == "end_run") return OnLimit::end_run;
  REQUIRE(name == "throw_exception");
  return OnLimit::throw_exception;
}

CallLimit limit_of(const encore_tests::Row& row) {
  CallLimit limit{.run_limit = 1, .on_limit = on_limit_of(row.text("on_limit"))};
  limit.run_limit.reset();
  if (!row.text("tool").empty()) limit.tool = row.text("tool");
  if (!row.text("thread_limit").empty()) limit.thread_limit = row.whole("thread_limit");
  if (!row.text("run_limit").empty()) limit.run_limit = row.whole("run_limit");
  return limit;
}

std::string saved(std::int64_t thread, std::int64_t run, const std::string& tool = {}) {
  return R"({"state":"call_limit",)" + (tool.empty() ? "" : R"("tool":")" + tool + R"(",)") + R"("thread":)" +
         std::to_string(thread) + R"(,"run":)" + std::to_string(run) + "}\n";
}

TEST_CASE("call limits behave as in LangChain's tests: rows D7 to D27 [H5]", "[call_limit]") {
  for (const auto& row : encore_tests::rows_of("call_limits.csv")) {
    INFO(row.where());
    CallCounter counter{limit_of(row)};
    counter.restore(saved(row.whole("thread"), row.whole("run"), row.text("tool")));

    std::string says;
    std::string shapes;
    for (const auto& turn : parts_of(row.text("turns"), ';'))
      shapes.append(shapes.empty() ? "" : ";").append(take_turn(counter, parts_of(turn, ' '), says));

    CHECK(shapes == row.text("expected"));
    CHECK(counter.counts() == std::vector{RunCounts{row.whole("thread_after"), row.whole("run_after")}});
    CHECK(says.empty() == row.text("says").empty());
    CHECK(says.ends_with(row.text("says")));
  }
}

TEST_CASE("a call limit that makes no sense is invalid, and the error names it: rows D1, D4 and D5 [H5, C3]",
          "[call_limit]") {
  CHECK(refusal_of([] { return CallLimit{}; }) ==
        "encore: thread_limit and run_limit = none is invalid: at least one of them must be set");
  CHECK(refusal_of([] { return CallLimit{.tool = "search"}; }) ==
        "encore: thread_limit and run_limit = none is invalid: at least one of them must be set");
  CHECK(refusal_of([] { return CallLimit{.thread_limit = 3, .run_limit = 5}; }) ==
        "encore: run_limit = 5 is invalid: it must not exceed thread_limit = 3");
  CHECK(refusal_of([] { return CallLimit{.run_limit = -1}; }) ==
        "encore: run_limit = -1 is invalid: it must not be negative");
  CHECK(refusal_of([] { return CallLimit{.thread_limit = -7}; }) ==
        "encore: thread_limit = -7 is invalid: it must not be negative");
  CHECK(refusal_of([] {
          CallCounter counter{CallLimit{.run_limit = 1, .on_limit = static_cast<OnLimit>(7)}};
          return 0;
        }) == "encore: on_limit = 7 is invalid: it must be answer_calls, throw_exception or end_run");
  CHECK(refusal_of([] {
          CallCounter counter{CallLimit{.tool = "", .run_limit = 1}};
          return 0;
        }) == "encore: tool = \"\" is invalid: leave it out to count the calls of every tool");

  const CallCounter same{CallLimit{.thread_limit = 5, .run_limit = 5}};
  const CallCounter smaller{CallLimit{.thread_limit = 5, .run_limit = 3}};
  CHECK(same.counts().size() == 1);
  CHECK(smaller.counts().size() == 1);
}

TEST_CASE("call limits that were changed after construction are validated again [C3]", "[call_limit]") {
  CHECK(refusal_of([] {
          CallLimit limit{.thread_limit = 5, .run_limit = 5};
          limit.thread_limit = 4;
          CallCounter counter{limit};
          return 0;
        }) == "encore: run_limit = 5 is invalid: it must not exceed thread_limit = 4");
}

TEST_CASE("an invalid call limit in a constant expression does not compile [C3]", "[call_limit]") {
#if !defined(__clang__) || \
    __clang_major__ > 16  // which takes an optional string of this standard library for no constant
  STATIC_CHECK(is_a_constant([] { return CallLimit{.thread_limit = 5, .run_limit = 5}; }));
#endif
  STATIC_CHECK_FALSE(is_a_constant([] { return CallLimit{}; }));
  STATIC_CHECK_FALSE(is_a_constant([] { return CallLimit{.thread_limit = 3, .run_limit = 5}; }));
}

TEST_CASE(
    "a call limit asks the model not to call the tool again, and gives a person the limit and by how much it "
    "is exceeded [H5]",
    "[call_limit]") {
  CallCounter counter{CallLimit{.tool = "search", .thread_limit = 3, .run_limit = 2}};
  counter.restore(saved(3, 2, "search"));
  const auto refusal = counter.admit({.name = "search"});
  REQUIRE(refusal);
  CHECK(refusal->reason == StopReason::call_limit_reached);
  CHECK(refusal->to_model ==
        R"(The tool "search" was not called: its call limit is reached. Do not call it again.)");
  CHECK(refusal->to_person == R"(call limit of "search" reached: thread 4/3, run 3/2)");
  CHECK_FALSE(refusal->ends_run);

  CallCounter global{CallLimit{.run_limit = 0, .on_limit = OnLimit::end_run}};
  const auto ended = global.admit({.name = "a\n\"b\""});
  REQUIRE(ended);
  CHECK(
      ended->to_model ==
      R"(The tool "a\n\"b\"" was not called: the limit on tool calls is reached. Do not call any tool again.)");
  CHECK(ended->to_person == "call limit of every tool reached: run 1/0");
  CHECK(ended->ends_run);
}

TEST_CASE("call limits match tool names exactly: case, spaces and parts of names do not match",
          "[call_limit]") {
  CallCounter counter{CallLimit{.tool = "search", .run_limit = 0}};
  for (const auto* name : {"Search", "search ", "search_web", "sear", ""}) {
    CAPTURE(name);
    CHECK_FALSE(counter.admit({.name = name}));
  }
  CHECK(counter.counts() == std::vector{RunCounts{0, 0}});
  CHECK(counter.admit({.name = "search"}));
}

TEST_CASE("a call limit's exception carries the counts that were refused, and counts nothing [H5, B4]",
          "[call_limit]") {
  CallCounter counter{CallLimit{.thread_limit = 2, .on_limit = OnLimit::throw_exception}};
  counter.restore(saved(2, 2));
  try {
    static_cast<void>(counter.admit({.name = "a"}));
    FAIL("admitted");
  } catch (const CallLimitExceeded& exceeded) {
    CHECK(exceeded.thread_count() == 3);
    CHECK(exceeded.run_count() == 3);
    CHECK(exceeded.thread_limit() == 2);
    CHECK_FALSE(exceeded.run_limit());
    CHECK(std::string{exceeded.what()} == "encore: call limit of every tool reached: thread 3/2");
    CHECK(dynamic_cast<const encore::Unretryable*>(&exceeded) != nullptr);
  }
  CHECK(counter.counts() == std::vector{RunCounts{2, 2}});
}

TEST_CASE("call limits of single tools and of all tools hold at once, each with its own count [H5]",
          "[call_limit]") {
  CallCounter counter{{CallLimit{.tool = "search", .run_limit = 1}, CallLimit{.run_limit = 3}}};
  const auto verdict = counter.admit(calls_of({"search", "search", "c", "search", "c"}));
  // Of the search calls the first runs; the limit on all counts what was issued, so the fourth and fifth are over it.
  CHECK(shape_of(verdict) == "+ - + - -");
  CHECK(verdict.calls[1]->to_person == R"(call limit of "search" reached: run 2/1)");
  CHECK(verdict.calls[3]->to_person == R"(call limit of "search" reached: run 3/1)");
  CHECK(verdict.calls[4]->to_person == "call limit of every tool reached: run 5/3");
  CHECK(counter.counts() == std::vector{RunCounts{1, 3}, RunCounts{3, 5}});
}

TEST_CASE("when one call limit throws, no other has counted [H5]", "[call_limit]") {
  for (const bool throws_first : {true, false}) {
    CAPTURE(throws_first);
    const CallLimit strict{.tool = "pay", .run_limit = 1, .on_limit = OnLimit::throw_exception};
    const CallLimit ends{.run_limit = 1, .on_limit = OnLimit::end_run};
    CallCounter counter{throws_first ? std::vector{strict, ends} : std::vector{ends, strict}};
    CHECK_THROWS_AS(counter.admit(calls_of({"search", "pay", "pay"})), CallLimitExceeded);
    CHECK(counter.counts() == std::vector{RunCounts{0, 0}, RunCounts{0, 0}});
  }
}

TEST_CASE("with a soft and a hard limit on one tool, refused calls count towards the run's limit too [H5]",
          "[call_limit]") {
  CallCounter counter{{CallLimit{.tool = "search", .run_limit = 2},
                       CallLimit{.tool = "search", .run_limit = 4, .on_limit = OnLimit::end_run}}};
  std::string answers;
  for (int i = 0; i < 5; ++i) {
    const auto verdict = counter.admit(calls_of({"search"}));
    answers += verdict.ends_run ? "end" : shape_of(verdict);
  }
  CHECK(answers == "++--end");
}

TEST_CASE("every call of a refused batch is answered, calls of other tools too (fault 40: langchain #34159)",
          "[call_limit]") {
  CallCounter counter{CallLimit{.tool = "search", .thread_limit = 1, .on_limit = OnLimit::end_run}};
  const auto verdict = counter.admit(calls_of({"c", "search", "search"}));
  REQUIRE(verdict.ends_run);
  CHECK(verdict.ends_run->reason == StopReason::call_limit_reached);
  CHECK(verdict.ends_run->to_person == R"(call limit of "search" reached: thread 2/1)");
  CHECK(shape_of(verdict) == "- - -");
  CHECK(verdict.calls[0]->to_model == R"(The tool "c" was not called: the run is over.)");
  CHECK(verdict.calls[1]->to_model == R"(The tool "search" was not called: the run is over.)");
  CHECK(verdict.calls[2]->to_model ==
        R"(The tool "search" was not called: its call limit is reached. Do not call it again.)");
  for (const auto& refusal : verdict.calls) {
    CHECK(refusal->reason == StopReason::call_limit_reached);
    CHECK(refusal->ends_run);
  }
}

TEST_CASE("a call limit's run count restarts with each run, its thread count goes on [H5]", "[call_limit]") {
  CallCounter counter{CallLimit{.thread_limit = 3, .run_limit = 2}};
  CHECK(shape_of(counter.admit(calls_of({"a", "a", "a"}))) == "+ + -");
  CHECK(counter.counts() == std::vector{RunCounts{2, 3}});
  counter.new_run();
  CHECK(counter.counts() == std::vector{RunCounts{2, 0}});
  CHECK(shape_of(counter.admit(calls_of({"a", "a"}))) == "+ -");
  counter.new_run();
  CHECK(shape_of(counter.admit(calls_of({"a"}))) == "-");
}

TEST_CASE("a call limit without limits, or a turn without calls, refuses nothing", "[call_limit]") {
  CallCounter unlimited{std::vector<CallLimit>{}};
  CHECK(shape_of(unlimited.admit(calls_of({"a", "b"}))) == "+ +");
  CHECK(unlimited.save().empty());
  CallCounter closed{CallLimit{.run_limit = 0, .on_limit = OnLimit::end_run}};
  const auto verdict = closed.admit(calls_of({}));
  CHECK(verdict.calls.empty());
  CHECK_FALSE(verdict.ends_run);
}

TEST_CASE("a call limit counts calls, never attempts: row B10 [H5]", "[call_limit]") {
  encore::testing::FakeClock clock;
  const encore::RetryPolicy policy{encore::RetryOn<std::runtime_error>{}, encore::MaxRetries{2}, clock};
  CallCounter counter{CallLimit{.run_limit = 4, .on_limit = OnLimit::throw_exception}};
  int attempts = 0;
  int refused = 0;
  for (int call = 0; call < 5; ++call) {
    try {
      static_cast<void>(counter.admit({.name = "failing_tool"}));
      policy.run([&] { ++attempts, throw std::runtime_error{"down"}; });
    } catch (const CallLimitExceeded&) {
      ++refused;
    } catch (const std::runtime_error&) {}
  }
  CHECK(attempts == 12);
  CHECK(refused == 1);
}

TEST_CASE("an agent that asks a thousand times while another guard refuses is stopped by its call limit [H5]",
          "[call_limit]") {
  CallCounter counter{CallLimit{.run_limit = 20, .on_limit = OnLimit::end_run}};
  const encore::SpendMeter broke{encore::SpendLimit{encore::usd(0)}};
  int asked = 0;
  auto over = false;
  for (; asked < 1'000 && !over; ++asked) {
    over = counter.admit({.name = "search"}).has_value();
    CHECK(broke.admit({.name = "search"}));
  }
  CHECK(asked == 21);
}

TEST_CASE(
    "over random turns no call limit is exceeded, and nothing is refused before a limit is reached [H5]",
    "[call_limit]") {
  std::mt19937 random{17};
  for (int round = 0; round < 300; ++round) {
    const int run_limit = static_cast<int>(random() % 6);
    const int thread_limit = run_limit + static_cast<int>(random() % 10);
    const bool ends = random() % 2 == 0;
    CallCounter counter{CallLimit{.tool = "a",
                                  .thread_limit = thread_limit,
                                  .run_limit = run_limit,
                                  .on_limit = ends ? OnLimit::end_run : OnLimit::answer_calls}};
    RunCounts naive;
    for (int turn = 0; turn < 12; ++turn) {
      if (random() % 4 == 0) counter.new_run(), naive.run = 0;
      std::vector<std::string> names;
      for (auto size = random() % 4; size > 0; --size) names.emplace_back(random() % 3 == 0 ? "b" : "a");
      // By the words of the rule, one call after another.
      auto now = naive;
      std::string expected;
      bool blocked = false;
      int issued = 0;
      for (const auto& name : names) {
        expected += expected.empty() ? "" : " ";
        if (name == "b") {
          expected += '+';
          continue;
        }
        ++issued;
        if (now.thread + 1 > thread_limit || now.run + 1 > run_limit)
          expected += '-', blocked = true;
        else
          expected += '+', ++now.thread, ++now.run;
      }
      if (blocked && ends) {
        for (auto& sign : expected)
          if (sign == '+') sign = '-';
        now.thread = naive.thread;
      }
      naive = {now.thread, naive.run + issued};
      INFO("round " << round << ", turn " << turn);
      REQUIRE(shape_of(counter.admit(calls_of(names))) == expected);
      REQUIRE(counter.counts() == std::vector{naive});
    }
  }
}

TEST_CASE("a call limit's counts are saved as one JSON line for each limit, and restored", "[call_limit]") {
  const std::vector limits{CallLimit{.tool = "search \"web\"", .thread_limit = 9, .run_limit = 2},
                           CallLimit{.run_limit = 5}};
  CallCounter counter{limits};
  static_cast<void>(counter.admit(calls_of({"search \"web\"", "search \"web\"", "search \"web\"", "c"})));
  const auto text = counter.save();
  CHECK(text ==
        "{\"state\":\"call_limit\",\"tool\":\"search \\\"web\\\"\",\"thread\":2,\"run\":3}\n"
        "{\"state\":\"call_limit\",\"thread\":4,\"run\":4}\n");
  CHECK(tests::flat_json(parts_of(text, '\n')[0]) ==
        tests::FlatJson{{"state", "call_limit"}, {"tool", "search \"web\""}, {"thread", "2"}, {"run", "3"}});

  CallCounter resumed{limits};
  resumed.restore("{\"state\":\"spend_limit\",\"spent_usd\":\"1\"}\n" + text);
  CHECK(resumed.counts() == counter.counts());
  CHECK(resumed.admit({.name = "search \"web\""}));
}

TEST_CASE("a tool whose name is not UTF-8 is found again in restored counts", "[call_limit]") {
  const CallLimit limit{.tool = "\xFF", .run_limit = 2};
  CallCounter counter{limit};
  static_cast<void>(counter.admit({.name = "\xFF"}));
  CallCounter resumed{limit};
  resumed.restore(counter.save());
  CHECK(resumed.counts() == std::vector{RunCounts{1, 1}});
}

TEST_CASE("text that is not a saved call count is rejected by name, and changes nothing", "[call_limit]") {
  CallCounter counter{CallLimit{.tool = "search", .run_limit = 5}};
  counter.restore(saved(2, 1, "search"));
  const auto why = [&](const std::string& text) {
    return refusal_of([&] { return counter.restore(text), 0; });
  };
  CHECK(why("") == "encore: number of call_limit lines = 0 is invalid: it must be 1");
  CHECK(why(saved(1, 1, "search") + saved(1, 1, "search")) ==
        "encore: number of call_limit lines = 2 is invalid: it must be 1");
  CHECK(why(saved(1, 1)) == "encore: tool = every tool is invalid: this limit is for \"search\"");
  CHECK(why(saved(1, 1, "other")) == "encore: tool = \"other\" is invalid: this limit is for \"search\"");
  CHECK(why(saved(1, -3, "search")) ==
        "encore: run = -3 is invalid: it must be a whole number from 0 to 9007199254740991");
  CHECK(why(R"({"state":"call_limit","tool":"search","thread":1})") ==
        "encore: run = nothing is invalid: the saved line has no such field");
  CHECK(counter.counts() == std::vector{RunCounts{2, 1}});
}

TEST_CASE("many threads together make exactly as many calls as the call limit allows [H8]",
          "[call_limit][threads]") {
  CallCounter counter{CallLimit{.thread_limit = 700, .run_limit = 500}};
  CallCounter two_limits{{CallLimit{.run_limit = 500}, CallLimit{.tool = "b", .run_limit = 100}}};
  std::atomic<int> allowed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 250; ++i) {
        const std::vector<IssuedCall> calls{{.name = "a"}, {.name = t % 2 == 0 ? "b" : "a"}};
        for (const auto& refusal : counter.admit(calls).calls) allowed += refusal ? 0 : 1;
        static_cast<void>(two_limits.admit(calls));
        if (i % 50 == 0) static_cast<void>(counter.save());
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(allowed == 500);
  CHECK(counter.counts() == std::vector{RunCounts{500, 2'000}});
  CHECK(two_limits.counts() == std::vector{RunCounts{500, 2'000}, RunCounts{100, 500}});
}

}  // namespace
