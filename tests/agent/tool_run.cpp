#include "../csv.hpp"
#include <encore/agent/loop_detector.hpp>
#include <encore/agent/step_limit.hpp>
#include <encore/agent/tool_run.hpp>
#include <encore/guard/circuit_breaker.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/durations.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/matchers.hpp>
#include <encore/testing/recorder.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <ranges>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#if __has_include(<sys/wait.h>)
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace {

using namespace encore;
using namespace encore::testing;
using namespace std::chrono_literals;

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Tools on fake time: some that work, one that always times out, one with a bug, one that asks a person.
struct Bench {
  FakeClock clock{};
  Recorder trace{};
  std::vector<std::string> made{};  // call ids, one for each attempt
  ToolCatalog catalog{};

  explicit Bench(const std::vector<std::string>& names = {"search", "a", "b", "c"}) {
    for (const auto& name : names) add(name, [](const ToolCall& call) { return "ok " + call.id; });
    add("slow", [](const ToolCall&) -> std::string { throw TimeoutError{"slow"}; });
    add("buggy", [](const ToolCall&) -> std::string { throw std::logic_error{"bug"}; });
    add("ask", [](const ToolCall&) -> std::string { throw Unretryable{"ask a person"}; });
  }
  auto policy() { return RetryPolicy{RetryOn<TimeoutError>{}, MaxRetries{2}, NoJitter{}, clock, trace}; }
  void add(const std::string& name, auto handler) {
    catalog.add(name, ReplaySafety::repeatable, policy(), [this, handler](const ToolCall& call) {
      made.push_back(call.id);
      return handler(call);
    });
  }
};

std::vector<std::string> words(const std::string& text, char separator = ' ') {
  std::vector<std::string> parts;
  std::istringstream stream{text};
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}
std::vector<ToolCall> calls_of(const std::string& names, const std::string& prefix = "") {
  std::vector<ToolCall> calls;
  for (const auto& name : words(names))
    calls.push_back({.id = prefix + std::to_string(calls.size()), .name = name});
  return calls;
}
/// '+' for each call that was made well, '-' for each error.
std::string shape_of(const ToolAnswers& answers) {
  std::string shape;
  for (const auto& answer : answers)
    shape.append(shape.empty() ? "" : " ").append(answer.is_error() ? "-" : "+");
  return shape;
}
std::vector<std::string> contents(const ToolAnswers& answers) {
  std::vector<std::string> all;
  for (const auto& answer : answers) all.push_back(answer.content);
  return all;
}

/// A guard of a user's own that looks at whole turns, and allows them.
struct Watch {
  struct State {
    explicit State(const Watch&) {}
    BatchVerdict admit(std::span<const IssuedCall> calls) {
      asked += calls.size();
      return {.calls = std::vector<std::optional<Refusal>>(calls.size())};
    }
    void new_run() {}
    std::string save() const { return {}; }
    void restore(std::string_view) {}
    std::size_t asked = 0;
  };
};

// ---- call limits -------------------------------------------------------------------------------------------------------

CallLimit limit_of(const encore_tests::Row& row) {
  CallLimit limit{.run_limit = 1};
  limit.run_limit.reset();
  if (!row.text("tool").empty()) limit.tool = row.text("tool");
  if (!row.text("thread_limit").empty()) limit.thread_limit = row.whole("thread_limit");
  if (!row.text("run_limit").empty()) limit.run_limit = row.whole("run_limit");
  if (row.text("on_limit") == "end_run") limit.on_limit = OnLimit::end_run;
  if (row.text("on_limit") == "throw_exception") limit.on_limit = OnLimit::throw_exception;
  return limit;
}

TEST_CASE("call limits as LangChain's tests have them, through a run: rows D7 to D27 [H5]", "[tool_run]") {
  for (const auto& row : encore_tests::rows_of("call_limits.csv")) {
    INFO(row.where());
    Bench bench;
    ToolRun run{bench.catalog, limit_of(row)};
    const auto tool = row.text("tool").empty() ? "" : R"("tool":")" + row.text("tool") + R"(",)";
    run.guard<CallLimit>().restore(R"({"state":"call_limit",)" + tool + R"("thread":)" + row.text("thread") +
                                   R"(,"run":)" + row.text("run") + "}");
    std::string shapes;
    std::size_t allowed = 0;
    for (const auto& turn : words(row.text("turns"), ';')) {
      std::string shape = "!";
      try {
        const auto calls = calls_of(turn);
        const auto answers = run.handle_batch(calls);
        shape = shape_of(answers);
        REQUIRE(answers.size() == calls.size());
        for (std::size_t i = 0; i < calls.size(); ++i) {
          CHECK(answers[i].call_id == calls[i].id);
          CHECK(answers[i].name == calls[i].name);
          allowed += answers[i].is_error() ? 0U : 1U;
        }
      } catch (const CallLimitExceeded&) {}
      shapes.append(shapes.empty() ? "" : ";").append(shape);
    }
    CHECK(shapes == row.text("expected"));
    CHECK(bench.made.size() == allowed);
    CHECK(run.guard<CallLimit>().counts() ==
          std::vector{RunCounts{row.whole("thread_after"), row.whole("run_after")}});
    CHECK(run.over().has_value() == (row.text("on_limit") == "end_run" && !row.text("says").empty()));
  }
}

TEST_CASE(
    "with a limit of four calls and two retries there are at most twelve attempts, and the fifth call is "
    "refused before any: row B10 [H5]",
    "[tool_run]") {
  Bench bench;
  ToolRun run{bench.catalog, CallLimit{.run_limit = 4, .on_limit = OnLimit::throw_exception}};
  for (int i = 1; i <= 4; ++i)
    CHECK(run.handle(ToolCall{.id = std::to_string(i), .name = "slow"}).is_error());
  CHECK_THROWS_AS(run.handle(ToolCall{.id = "5", .name = "slow"}), CallLimitExceeded);
  CHECK(bench.made.size() == 12);
  CHECK_THAT(bench.trace, Attempted("4", 3) && Attempted("5", 0));
}

TEST_CASE("a batch for which a limit throws runs no call and changes no count [H5]", "[tool_run]") {
  Bench bench;
  ToolRun run{bench.catalog,
              CallLimit{.tool = "search", .run_limit = 1, .on_limit = OnLimit::throw_exception},
              CallLimit{.run_limit = 9}};
  CHECK_THROWS_AS(run.handle_batch(calls_of("a search search")), CallLimitExceeded);
  CHECK(bench.made.empty());
  CHECK(run.guard<CallLimit>().counts() == std::vector{RunCounts{}, RunCounts{}});
  CHECK(shape_of(run.handle_batch(calls_of("a search"))) == "+ +");
}

TEST_CASE("a run answers every pending call of a refused batch (fault 40: langchain #34159) [H5]",
          "[tool_run]") {
  Bench bench;
  ToolRun run{bench.catalog, CallLimit{.tool = "search", .run_limit = 1, .on_limit = OnLimit::end_run}};
  CHECK(contents(run.handle_batch(calls_of("a search search nobody"))) ==
        std::vector<std::string>{
            R"(The tool "a" was not called: the run is over.)",
            R"(The tool "search" was not called: the run is over.)",
            R"(The tool "search" was not called: its call limit is reached. Do not call it again.)",
            R"(The tool "nobody" was not called: the run is over.)"});
  CHECK(bench.made.empty());
  CHECK(run.over()->to_person == R"(call limit of "search" reached: run 2/1)");
}

TEST_CASE("a run that is over stays over, although a smaller turn would fit its limit [H5]", "[tool_run]") {
  Bench bench;
  ToolRun run{bench.catalog, CallLimit{.thread_limit = 1, .on_limit = OnLimit::end_run}};
  CHECK(shape_of(run.handle_batch(calls_of("a b c"))) == "- - -");
  CHECK(run.handle(ToolCall{.id = "4", .name = "a"}).content ==
        R"(The tool "a" was not called: the run is over.)");
  CHECK(bench.made.empty());
  run.new_run();
  CHECK_FALSE(run.over());
  CHECK(run.handle(ToolCall{.id = "5", .name = "a"}).content == "ok 5");
}

TEST_CASE("a run stops an agent that asks a thousand times while another guard refuses [H5]", "[tool_run]") {
  Bench bench;
  ToolRun run{bench.catalog, LoopDetector{.repeats = 3},
              CallLimit{.run_limit = 20, .on_limit = OnLimit::end_run},
              RefusedTurns{.by_limits = UnlimitedTurns{}}};
  int asked = 0;
  while (asked < 1000 && !run.over()) {
    ++asked;
    static_cast<void>(run.handle_batch(calls_of("search")));
  }
  CHECK(asked == 21);
  CHECK(bench.made.size() == 3);  // the fourth is the first that the loop detector refuses
  CHECK(run.over()->reason == StopReason::call_limit_reached);
}

TEST_CASE("no alias of a tool evades its limit, and a limit on a tool that does not exist is invalid [H5]",
          "[tool_run]") {
  Bench bench;
  bench.catalog.alias("Search", "search");
  ToolRun run{bench.catalog, CallLimit{.tool = "search", .run_limit = 1}};
  CHECK(shape_of(run.handle_batch(calls_of("Search search Search"))) == "+ - -");
  for (const auto* name : {"serach", "Search"}) {
    CAPTURE(name);
    CHECK_THROWS_AS((ToolRun{bench.catalog, CallLimit{.tool = name, .run_limit = 1}}), std::invalid_argument);
  }
}

// ---- the other guards ------------------------------------------------------------------------------------------------

TEST_CASE("a run detects loops as loops.csv has them, and does not run a refused call [H6]", "[tool_run]") {
  for (const auto& row : encore_tests::rows_of("loops.csv")) {
    INFO(row.where());
    Bench bench{{"A", "B", "C", "D", "E", "F", "G", "H", "I", "X", "Y"}};
    ToolRun run{bench.catalog,
                LoopDetector{.repeats = row.whole("repeats"), .max_cycle_len = row.whole("max_cycle_len")}};
    int refused_at = 0;
    int issued = 0;
    for (const auto& name : words(row.text("signatures"))) {
      ++issued;
      const auto answer = run.handle(ToolCall{.id = std::to_string(issued), .name = name});
      if (answer.is_error() && refused_at == 0) refused_at = issued;
      CHECK(answer.is_error() == (bench.made.empty() || bench.made.back() != std::to_string(issued)));
    }
    CHECK(refused_at == row.whole("refused_at"));
  }
}

TEST_CASE("a model that rephrases the same call for ever is stopped by the host's own signature [H6]",
          "[tool_run]") {
  Bench bench;
  ToolRun run{bench.catalog, LoopDetector{.repeats = 3, .signature = [](const IssuedCall& call) {
                                            return std::string{call.name};
                                          }}};
  std::string shape;
  for (int i = 0; i < 5; ++i)
    shape += run.handle(ToolCall{.id = "1", .name = "search", .arguments = std::to_string(i)}).is_error()
                 ? '-'
                 : '+';
  CHECK(shape == "+++--");
}

TEST_CASE("a run allows a poll that makes progress if it looks at results [H6]", "[tool_run]") {
  Bench bench;
  int progress = 0;
  bench.add("poll",
            [&](const ToolCall&) { return std::to_string(progress < 5 ? progress++ : progress) + " %"; });
  ToolRun run{bench.catalog, LoopDetector{.repeats = 3, .max_cycle_len = 1, .with_results = true}};
  std::string shape;
  for (int i = 0; i < 9; ++i) shape += run.handle(ToolCall{.id = "1", .name = "poll"}).is_error() ? '-' : '+';
  // 0 % to 4 % differ; "5 %" is told at the 6th, 7th and 8th call.
  CHECK(shape == "++++++++-");
}

TEST_CASE("money spent, on whatever, ends the run once it reaches the limit [H7]", "[tool_run]") {
  Bench bench;
  std::optional<ToolRun<SpendLimit>> run;
  bench.add("dear", [&](const ToolCall&) {
    run->record(usd("0.9"));
    return std::string{"ok"};
  });
  run.emplace(bench.catalog, SpendLimit{usd(2)});
  run->record(usd("0.2"));
  CHECK(shape_of(run->handle_batch(calls_of("dear dear dear a"))) == "+ + - -");
  CHECK(run->spent() == usd(2));
  CHECK(run->over()->to_person == "spend limit reached: 2/2 USD");
  run->new_run();
  CHECK(run->spent() == usd(0));
  CHECK(run->handle(ToolCall{.id = "1", .name = "a"}).content == "ok 1");
}

TEST_CASE("each turn with calls is one step, unless the host has begun it, and a refused step ends the run",
          "[tool_run]") {
  Bench bench;
  ToolRun run{bench.catalog, StepLimit{.run_limit = 2}};
  CHECK(run.handle_batch(std::vector<ToolCall>{}).empty());
  CHECK_FALSE(run.begin_step());
  CHECK(shape_of(run.handle_batch(calls_of("a b"))) == "+ +");
  CHECK(shape_of(run.handle_batch(calls_of("a"))) == "+");
  CHECK(run.begin_step()->reason == StopReason::step_limit_reached);
  CHECK(run.over());
  CHECK(shape_of(run.handle_batch(calls_of("a"))) == "-");
  CHECK(bench.made.size() == 3);
}

TEST_CASE("a run's checks have an order: deadline and steps, call limit, spend, loop, breaker [H1, H2]",
          "[tool_run]") {
  Bench bench;
  CircuitBreaker breaker{{.failures_to_open = 1, .open_for = 30s}};
  bench.catalog.add("broken", ReplaySafety::repeatable, bench.policy().with(breaker),
                    [&](const ToolCall&) -> std::string { throw TimeoutError{"down"}; });
  ToolRun run{bench.catalog, LoopDetector{.repeats = 2, .max_cycle_len = 1}, SpendLimit{usd(1)},
              CallLimit{.run_limit = 5}, StepLimit{.run_limit = 7}};
  const auto reason = [&](const Call& with = {}) {
    bench.trace.clear();
    static_cast<void>(run.handle(ToolCall{.id = "1", .name = "broken"}, with));
    return bench.trace.events().back().reason;
  };
  CHECK(reason() == StopReason::circuit_open);  // at its first retry
  CHECK(reason() == StopReason::circuit_open);
  CHECK(reason() == StopReason::loop_detected);
  CHECK(reason() == StopReason::loop_detected);
  run.record(usd(1));
  CHECK(reason() == StopReason::spend_limit_reached);  // which ends the run
  CHECK(reason({.deadline = bench.clock.now()}) == StopReason::expired_on_entry);

  ToolRun again{bench.catalog, SpendLimit{usd(0)}, CallLimit{.run_limit = 0}, StepLimit{.run_limit = 1}};
  const auto refused = [&] {
    bench.trace.clear();
    static_cast<void>(again.handle_batch(calls_of("broken")));
    return bench.trace.events().back().reason;
  };
  CHECK(refused() == StopReason::call_limit_reached);
  ToolRun no_steps{bench.catalog, SpendLimit{usd(0)}, CallLimit{.run_limit = 0}, StepLimit{.run_limit = 0}};
  bench.trace.clear();
  static_cast<void>(no_steps.handle_batch(calls_of("broken")));
  CHECK(bench.trace.events().back().reason == StopReason::step_limit_reached);
}

// ---- batches ---------------------------------------------------------------------------------------------------------

TEST_CASE(
    "each call of a turn is answered once, in order, whatever happens to it, and escaped exceptions are "
    "kept: row A34 [B3, B4]",
    "[tool_run]") {
  Bench bench;
  ToolRun run{bench.catalog, CallLimit{.tool = "search", .run_limit = 1}};
  const auto answers = run.handle_batch(calls_of("a ask slow nobody search search buggy b"));
  CHECK(contents(answers) ==
        std::vector<std::string>{
            "ok 0", R"(The tool "ask" failed after 1 attempt: encore::Unretryable.)",
            R"(The tool "slow" failed after 3 attempts: TimeoutError.)", R"(There is no tool "nobody".)",
            "ok 4", R"(The tool "search" was not called: its call limit is reached. Do not call it again.)",
            R"(The tool "buggy" failed after 1 attempt: std::logic_error.)", "ok 7"});
  for (std::size_t i = 0; i < answers.size(); ++i) CHECK(answers[i].call_id == std::to_string(i));
  REQUIRE(answers.escaped.size() == 2);
  CHECK(answers.escaped[0].position == 1);
  CHECK(answers.escaped[1].position == 6);
  CHECK_THROWS_AS(answers.rethrow_escaped(), Unretryable);
}

TEST_CASE("a single call of a run propagates what its policy propagates [B3]", "[tool_run]") {
  Bench bench;
  ToolRun run{bench.catalog};
  CHECK_THROWS_AS(run.handle(ToolCall{.id = "1", .name = "buggy"}), std::logic_error);
  CHECK_THROWS_AS(run.handle(ToolCall{.id = "2", .name = "ask"}), Unretryable);
  CHECK(run.handle(ToolCall{.id = "3", .name = "slow"}).is_error());
}

TEST_CASE("calls of a turn that share an id, or have none, are all run and all answered", "[tool_run]") {
  Bench bench;
  ToolRun run{bench.catalog};
  const std::vector<ToolCall> calls{{.id = "call_0", .name = "a"},
                                    {.id = "call_0", .name = "b"},
                                    {.id = "call_0", .name = "a"},
                                    {.name = "c"},
                                    {.name = "slow"}};
  const auto answers = run.handle_batch(calls);
  CHECK(shape_of(answers) == "+ + + + -");
  for (std::size_t i = 0; i < calls.size(); ++i) {
    CHECK(answers[i].name == calls[i].name);
    CHECK(answers[i].call_id == calls[i].id);
  }
}

TEST_CASE("a run accepts the caller's own type of call, and a braced list", "[tool_run]") {
  struct ChatToolCall {
    std::string name;
    std::string arguments;
    std::string id;
  };
  Bench bench;
  ToolRun run{bench.catalog};
  const std::vector<ChatToolCall> own{{.name = "a", .arguments = "{}", .id = "x"},
                                      {.name = "b", .arguments = "", .id = "y"}};
  CHECK(contents(run.handle_batch(own)) == std::vector<std::string>{"ok x", "ok y"});
  CHECK(run.handle(own[0]).content == "ok x");
  const std::vector<ToolResult> plain = run.handle_batch({ToolCall{.id = "1", .name = "a"}});
  CHECK(plain.front().content == "ok 1");
}

TEST_CASE("the calls of a turn may come from a view that makes, skips or overwrites them as it goes",
          "[tool_run]") {
  struct SdkCall {
    std::string tool_use_id, tool, input;
  };
  const std::vector<SdkCall> message{
      {"toolu_01_with_an_id_of_the_sdk", "ship", "an order, A-17, in a long text"},
      {"toolu_02_with_an_id_of_the_sdk", "bill", "an order, B-18, in a long text"},
      {"toolu_03_with_an_id_of_the_sdk", "ship", "an order, C-19, in a long text"}};
  const auto converted = [](const SdkCall& call) {
    return ToolCall{.id = call.tool_use_id, .name = call.tool, .arguments = call.input};
  };
  ToolCatalog tools;
  for (const auto* const name : {"ship", "bill"})
    tools.add(name, [](const ToolCall& call) { return call.id + ": " + call.arguments; });
  ToolRun run{tools};
  const std::vector<std::string> all{
      "toolu_01_with_an_id_of_the_sdk: an order, A-17, in a long text",
      "toolu_02_with_an_id_of_the_sdk: an order, B-18, in a long text",
      "toolu_03_with_an_id_of_the_sdk: an order, C-19, in a long text",
  };
  CHECK(contents(run.handle_batch(message | std::views::transform(converted))) == all);

  ToolCall place;
  CHECK(
      contents(run.handle_batch(message | std::views::transform([&](const SdkCall& call) -> const ToolCall& {
                                  return place = converted(call);
                                }))) == all);

  const auto ships = [](const ToolCall& call) { return call.name == "ship"; };
  CHECK(contents(run.handle_batch(message | std::views::transform(converted) | std::views::filter(ships))) ==
        std::vector{all[0], all[2]});
}

TEST_CASE("a deadline and a stop hold for all calls of a turn, a key belongs to one call [D2, I2]",
          "[tool_run]") {
  Bench bench;
  std::vector<std::string> keys;
  bench.catalog.add(
      "key", [&](const ToolCall&, const Attempt& attempt) { keys.push_back(attempt.idempotency_key()); });
  ToolRun run{bench.catalog};
  CHECK(shape_of(run.handle_batch(calls_of("a slow b"), {.deadline = bench.clock.now() + 500ms})) == "+ - +");
  CHECK(bench.made.size() == 3);  // the first wait of 1 s would not fit
  CHECK(shape_of(run.handle_batch(calls_of("a b"), {.deadline = bench.clock.now()})) == "- -");
  static_cast<void>(run.handle_batch(calls_of("key key"), {.operation_key = "order-7"}));
  REQUIRE(keys.size() == 2);
  CHECK(keys[0].starts_with(run.scope().text() + "/0/6~"));  // the sixth and the seventh call of the run
  CHECK(keys[1].starts_with(run.scope().text() + "/1/7~"));
  run.handle(ToolCall{.id = "1", .name = "key"}, {.operation_key = "order-7"});
  run.handle(ToolCall{.id = "1", .name = "key", .operation_key = "order-8"});
  CHECK(keys[2] == "order-7");
  CHECK(keys[3] == "order-8");
}

TEST_CASE("calls of a turn can run in parallel, each answered in its place [H8]", "[tool_run][threads]") {
  FakeClock clock;
  std::atomic<int> attempts{0};
  ToolCatalog catalog;
  catalog.add("flaky", ReplaySafety::repeatable, RetryPolicy{RetryOn<TimeoutError>{}, MaxRetries{2}, clock},
              [&](const ToolCall& call, const Attempt& attempt) {
                ++attempts;
                if (attempt.ordinal < 3) throw TimeoutError{"slow"};
                return call.id;
              });
  ToolRun run{catalog, CallLimit{.run_limit = 30}, LoopDetector{.repeats = 50}, SpendLimit{usd(9)}};
  std::vector<ToolCall> calls;
  for (int i = 0; i < 40; ++i)
    calls.push_back({.id = std::to_string(i), .name = "flaky", .arguments = std::to_string(i)});
  const auto answers = run.handle_batch(calls, {}, [](std::size_t count, const auto& make) {
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (auto i = t; i < count; i += 4) make(i);
      });
    for (auto& thread : threads) thread.join();
  });
  CHECK(attempts == 90);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    CHECK(answers[i].call_id == calls[i].id);
    CHECK(answers[i].is_error() == (i >= 30));
    if (i < 30) CHECK(answers[i].content == calls[i].id);
  }
}

TEST_CASE("a call that the host did not run is answered all the same", "[tool_run]") {
  Bench bench;
  ToolRun run{bench.catalog};
  const auto answers = run.handle_batch(calls_of("a b"), {}, [](std::size_t, const auto& make) { make(1); });
  CHECK(contents(answers) ==
        std::vector<std::string>{R"(The tool "a" was not called: the host skipped it.)", "ok 1"});
}

TEST_CASE("no lock is held while a tool runs: the tool may use its own run", "[tool_run]") {
  Bench bench;
  std::optional<ToolRun<CallLimit, LoopDetector>> run;
  bench.add("delegate", [&](const ToolCall&) {
    static_cast<void>(run->save());
    return run->handle(ToolCall{.id = "inner", .name = "a"}).content;
  });
  run.emplace(bench.catalog, CallLimit{.run_limit = 2}, LoopDetector{});
  CHECK(run->handle(ToolCall{.id = "outer", .name = "delegate"}).content == "ok inner");
  CHECK(run->guard<CallLimit>().counts() == std::vector{RunCounts{2, 2}});
}

// ---- going on after a restart ----------------------------------------------------------------------------------------

TEST_CASE("a resumed run keeps its counts, its scope and its unknown outcomes [H5, I2, I3]", "[tool_run]") {
  Bench bench;
  std::vector<std::string> keys;
  bench.catalog.add("ship", ReplaySafety::repeatable_with_key, bench.policy(),
                    [&](const ToolCall&, const Attempt& attempt) {
                      keys.push_back(attempt.idempotency_key());
                      attempt.mark_dispatched();
                      throw TimeoutError{"slow"};
                    });
  using Run = ToolRun<CallLimit, LoopDetector, SpendLimit, StepLimit>;
  const auto make = [&](auto use) {
    Run run{bench.catalog, CallLimit{.thread_limit = 5, .run_limit = 2}, LoopDetector{}, SpendLimit{usd(2)},
            StepLimit{.run_limit = 9}};
    use(run);
  };
  std::string saved;
  std::string scope;
  make([&](Run& run) {
    run.handle(ToolCall{.id = "call-17", .name = "ship", .arguments = "A"});
    run.record(usd("0.5"));
    saved = run.save();
    scope = run.scope().text();
  });
  make([&](Run& run) {
    run.restore(saved);
    CHECK(run.save() == saved);
    CHECK(run.scope().text() == scope);
    CHECK(run.spent() == usd("0.5"));
    REQUIRE(run.unknown_outcomes().all().size() == 1);
    CHECK(run.unknown_outcomes().all()[0].idempotency_key == keys[0]);
    run.handle(ToolCall{.id = "call-17", .name = "ship", .arguments = "A"});
    CHECK(keys ==
          std::vector(6, keys[0]));  // nobody knows whether the first process has told: it may be a replay
    CHECK(keys[0].starts_with(scope + "/call-17/1~"));
    CHECK(run.handle(ToolCall{.id = "3", .name = "a"}).is_error());
    CHECK(run.guard<CallLimit>().counts() == std::vector{RunCounts{2, 3}});
    run.new_run();
    CHECK_FALSE(run.scope().text() == scope);
    CHECK(run.guard<CallLimit>().counts() == std::vector{RunCounts{2, 0}});
    CHECK(run.unknown_outcomes().take().size() == 2);
  });
}

TEST_CASE("a run that was over is still over after a restart", "[tool_run]") {
  Bench bench;
  ToolRun run{bench.catalog, CallLimit{.thread_limit = 1, .on_limit = OnLimit::end_run}};
  static_cast<void>(run.handle_batch(calls_of("a b")));
  ToolRun resumed{bench.catalog, CallLimit{.thread_limit = 1, .on_limit = OnLimit::end_run}};
  resumed.restore(run.save());
  REQUIRE(resumed.over());
  CHECK(resumed.over()->to_person == "call limit of every tool reached: thread 2/1");
  CHECK(resumed.handle(ToolCall{.id = "1", .name = "a"}).is_error());
}

TEST_CASE("restoring text that is not a saved run changes nothing, not even a part", "[tool_run]") {
  Bench bench;
  ToolRun run{bench.catalog, SpendLimit{usd(2)}, CallLimit{.run_limit = 2}};
  run.record(usd(1));
  const auto before = run.save();
  ToolRun other{bench.catalog, SpendLimit{usd(2)}};
  for (const auto& text : {std::string{}, std::string{"nonsense"}, other.save(), before + before,
                           before.substr(0, before.size() / 2)}) {
    CAPTURE(text);
    CHECK_THROWS_AS(run.restore(text), std::invalid_argument);
    CHECK(run.save() == before);
  }
}

TEST_CASE(
    "a saved run that lost a line is rejected: an open call or an unknown outcome would be lost with it [I2, "
    "I3]",
    "[tool_run]") {
  Bench bench;
  bench.catalog.add("ship", ReplaySafety::never, bench.policy(), [](const ToolCall&, const Attempt& attempt) {
    attempt.mark_dispatched();
    throw TimeoutError{"lost"};
  });
  ToolRun run{bench.catalog};  // without guards the list of what is unknown comes last
  static_cast<void>(
      run.handle_batch({ToolCall{.id = "1", .name = "ship"}, ToolCall{.id = "2", .name = "ship"}}));
  const auto saved = run.save();
  std::size_t lines = 0;
  for (std::size_t begin = 0, end = 0; begin < saved.size(); begin = end, ++lines) {
    end = saved.find('\n', begin) + 1;
    const auto without = saved.substr(0, begin) + saved.substr(end);
    CAPTURE(without);
    ToolRun again{bench.catalog};
    const auto before = again.save();
    CHECK_THROWS_AS(again.restore(without), std::invalid_argument);
    CHECK_THROWS_AS(again.restore(saved.substr(0, begin)), std::invalid_argument);
    CHECK(again.save() == before);
  }
  CHECK(lines == 8);
}

TEST_CASE("text that a run rejects changes nothing: errors, ids and counts are as they were [I3]",
          "[tool_run]") {
  Bench bench;
  bench.catalog.add("ship", ReplaySafety::never, bench.policy(), [](const ToolCall&, const Attempt& attempt) {
    attempt.mark_dispatched();
    throw TimeoutError{"lost"};
  });
  for (const auto& text : {std::string{"garbage"}, ToolRun{bench.catalog}.save()}) {
    ToolRun run{bench.catalog, CallLimit{.run_limit = 9}};
    static_cast<void>(run.handle_batch({ToolCall{.id = "call_\xFF", .name = "ship", .arguments = "A"}}));
    const auto before = run.save();
    CHECK_THROWS_AS(run.restore(text), std::invalid_argument);
    CHECK(run.save() == before);
    const auto lost = run.unknown_outcomes().all();
    REQUIRE(lost.size() == 1);
    CHECK(lost[0].call_id == "call_\xFF");
    CHECK(lost[0].error != nullptr);
  }
}

// ---- keys ------------------------------------------------------------------------------------------------------------

/// A tool that is repeatable with a key, and the keys that its attempts were given.
struct Shipping {
  ToolCatalog catalog{};
  std::vector<std::string> keys{};
  std::map<std::string, std::string> key_of{};  // by the arguments
  std::function<void(const ToolCall&)> while_it_runs = [](const ToolCall&) {};
  std::function<void(const Attempt&)> marks = [](const Attempt&) {};

  Shipping() {
    const RetryPolicy policy{RetryOn<TimeoutError>{}, MaxRetries{0}};
    catalog.add("ship", ReplaySafety::repeatable_with_key, policy,
                [this](const ToolCall& call, const Attempt& attempt) {
                  key_of[call.arguments] = keys.emplace_back(attempt.idempotency_key());
                  while_it_runs(call);
                  marks(attempt);
                });
  }
  static ToolCall order(std::string arguments, std::string id = "call_0") {
    return {.id = std::move(id), .name = "ship", .arguments = std::move(arguments)};
  }
  bool all_different() const { return std::set<std::string>(keys.begin(), keys.end()).size() == keys.size(); }
};
constexpr auto backwards = [](std::size_t count, const auto& make) {
  for (auto i = count; i > 0; --i) make(i - 1);
};

TEST_CASE(
    "the same call again, in a later turn or in the same one, is a new call once the first was answered [A4, "
    "I2]",
    "[tool_run]") {
  for (const auto* id : {"call_0", ""}) {
    CAPTURE(id);
    Shipping shop;
    ToolRun run{shop.catalog};
    const auto one = Shipping::order("one A", id);
    static_cast<void>(run.handle_batch({one}));
    static_cast<void>(run.handle_batch({one}));
    static_cast<void>(run.handle_batch({one, one}));
    static_cast<void>(run.handle(one));
    CHECK(shop.keys.size() == 5);
    CHECK(shop.all_different());
  }
}

TEST_CASE(
    "a call that equals one whose outcome is unknown is another call with a new key, once the first was "
    "answered [A4, I2]",
    "[tool_run]") {
  Shipping shop;
  shop.marks = [](const Attempt& attempt) {
    attempt.mark_dispatched();
    throw TimeoutError{"lost"};
  };
  ToolRun run{shop.catalog};
  for (int turn = 0; turn < 3; ++turn) static_cast<void>(run.handle_batch({Shipping::order("one A")}));
  CHECK(shop.keys.size() == 3);
  CHECK(shop.all_different());
  REQUIRE(run.unknown_outcomes().all().size() == 3);  // each can be reconciled by its own
  for (std::size_t i = 0; i < 3; ++i) CHECK(run.unknown_outcomes().all()[i].idempotency_key == shop.keys[i]);

  // A process that dies may die before the answer is stored: then the turn is made again, each call once under its key.
  auto keys = shop.keys;
  shop.keys.clear();
  ToolRun again{shop.catalog};
  again.restore(run.save());
  for (int turn = 0; turn < 4; ++turn) static_cast<void>(again.handle_batch({Shipping::order("one A")}));
  REQUIRE(shop.keys.size() == 4);
  CHECK(std::vector(shop.keys.begin(), shop.keys.begin() + 3) == keys);
  CHECK(shop.all_different());
}

TEST_CASE("a success settles its call, whether or not the tool marked it as answered [I2, I3]",
          "[tool_run]") {
  Shipping shop;
  shop.marks = [](const Attempt& attempt) { attempt.mark_dispatched(); };
  ToolRun run{shop.catalog};
  static_cast<void>(run.handle_batch({Shipping::order("one A")}));
  ToolRun again{shop.catalog};
  again.restore(run.save());
  for (auto* const of : {&run, &again}) static_cast<void>(of->handle_batch({Shipping::order("one A")}));
  CHECK(shop.keys.size() == 3);
  CHECK(shop.keys[1] == shop.keys[2]);  // two processes that replay one turn
  CHECK(shop.keys[0] != shop.keys[1]);
  CHECK(run.unknown_outcomes().all().empty());
}

TEST_CASE(
    "a tool that runs once does not run again if the run was saved while it ran, and that is reported [I1, "
    "I3]",
    "[tool_run]") {
  ToolCatalog catalog;
  int charged = 0;
  std::function<void()> while_it_runs = [] {};
  catalog.add("charge", [&](const ToolCall&) {
    ++charged;
    while_it_runs();
    return "charged";
  });
  const std::vector turn{ToolCall{.id = "call_0", .name = "charge", .arguments = "5"},
                         ToolCall{.id = "call_1", .name = "charge", .arguments = "7"}};
  std::string saved;
  {
    ToolRun run{catalog};
    while_it_runs = [&] { saved = run.save(); };  // the process dies in the second call, say
    static_cast<void>(run.handle_batch(turn));
  }
  CHECK(charged == 2);
  while_it_runs = [] {};
  ToolRun run{catalog};
  for (int restart = 0; restart < 3; ++restart) {
    run.restore(saved);
    const auto answers = run.handle_batch(turn);
    CHECK(charged == 2);
    for (std::size_t i = 0; i < 2; ++i)
      CHECK(
          answers[i] ==
          ToolResult{
              .status = ToolStatus::error,
              .content = "The tool \"charge\" was called before, and it is unknown whether it had an effect.",
              .name = "charge",
              .call_id = turn[i].id,
              .reason = StopReason::unknown_outcome});
    const auto lost = run.unknown_outcomes().all();
    REQUIRE(lost.size() == 2);  // listed once, however often it is handed in
    CHECK(lost[0].call_id == "call_0");
    CHECK(lost[0].attempts == 0);
    CHECK(lost[0].signature == CallSignature{{.name = "charge", .arguments = "5"}}.text());
    CHECK(lost[0].idempotency_key.starts_with(run.scope().text() + "/call_0/1~"));
    saved = run.save();
  }
  static_cast<void>(run.handle(ToolCall{.id = "call_2", .name = "charge", .arguments = "5"}));
  CHECK(charged == 3);
}

TEST_CASE(
    "a call that comes back and may have had its effect stays unknown until it is answered, whatever refuses "
    "it now [I3]",
    "[tool_run]") {
  Shipping shop;
  ToolRun run{shop.catalog, SpendLimit{usd(1)}};
  std::string saved;
  shop.while_it_runs = [&](const ToolCall&) { saved = run.save(); };
  static_cast<void>(run.handle_batch({Shipping::order("A")}));
  shop.while_it_runs = [](const ToolCall&) {};
  const auto came_back = [&](const auto& handle) {
    ToolRun again{shop.catalog, SpendLimit{usd(1)}};
    again.restore(saved);
    const ToolResult answer = handle(again);
    for (const auto& lost : again.unknown_outcomes().all()) CHECK(lost.idempotency_key == shop.keys[0]);
    return answer.content + " Listed: " + std::to_string(again.unknown_outcomes().all().size());
  };
  const std::string and_before =
      " It was called before, and it is unknown whether that had an effect. Listed: 1";
  CHECK(came_back([](auto& again) {
          again.record(usd(1));
          return again.handle(Shipping::order("A"));
        }) == "The tool \"ship\" was not called: the spend limit is reached. Do not call any tool again." +
                  and_before);
  CHECK(came_back([](auto& again) {
          return again.handle(Shipping::order("A"), {.deadline = TimePoint{}});
        }) == "The tool \"ship\" was not called: expired_on_entry." + and_before);
  shop.marks = [](const Attempt& attempt) {
    attempt.mark_not_run();
    throw TimeoutError{"503"};
  };
  CHECK(came_back([](auto& again) { return again.handle(Shipping::order("A")); }) ==
        "The tool \"ship\" failed after 1 attempt: TimeoutError." + and_before);
  shop.marks = [](const Attempt& attempt) {
    attempt.mark_answered();
    throw TimeoutError{"404"};
  };
  CHECK(came_back([](auto& again) { return again.handle(Shipping::order("A")); }) ==
        "The tool \"ship\" failed after 1 attempt: TimeoutError. Listed: 0");
  shop.marks = [](const Attempt&) {};
  CHECK(came_back([](auto& again) { return again.handle(Shipping::order("A")); }) == " Listed: 0");
}

TEST_CASE(
    "a host's for_each that runs a call twice, or throws, does not make a tool that runs once run twice [I1, "
    "I3]",
    "[tool_run]") {
  ToolCatalog catalog;
  std::vector<std::string> charged;
  catalog.add("charge", [&](const ToolCall& call) { charged.push_back(call.id); });
  const std::vector turn{ToolCall{.id = "call_0", .name = "charge"},
                         ToolCall{.id = "call_1", .name = "charge"}};
  ToolRun run{catalog};
  const auto twice = [](std::size_t count, const auto& make) {
    for (std::size_t i = 0; i < 2 * count; ++i) make(i % count);
  };
  CHECK(shape_of(run.handle_batch(turn, {}, twice)) == "+ +");
  CHECK(charged == std::vector<std::string>{"call_0", "call_1"});

  charged.clear();
  CHECK_THROWS_AS(run.handle_batch(turn, {},
                                   [](std::size_t, const auto& make) {
                                     make(0);
                                     throw TimeoutError{"no thread for the next one"};
                                   }),
                  TimeoutError);
  CHECK(charged == std::vector<std::string>{"call_0"});
  const auto answers = run.handle_batch(turn);  // nobody has the answer of the first
  CHECK(charged == std::vector<std::string>{"call_0", "call_1"});
  CHECK(answers[0].reason == StopReason::unknown_outcome);
  CHECK_FALSE(answers[1].is_error());
  REQUIRE(run.unknown_outcomes().all().size() == 1);
  CHECK(run.unknown_outcomes().all()[0].call_id == "call_0");
}

/// A guard of a user's own that throws when it is told an answer.
struct Deaf {
  struct State {
    explicit State(const Deaf&) {}
    void answered(const IssuedCall&, std::string_view) { throw std::runtime_error{"deaf"}; }
    void new_run() {}
    std::string save() const { return {}; }
    void restore(std::string_view) {}
  };
};

TEST_CASE("a guard that throws on an answer loses no answer, and no call is run twice [I1]", "[tool_run]") {
  Bench bench;
  int charged = 0;
  bench.catalog.add("charge", [&](const ToolCall&) { return std::to_string(++charged); });
  ToolRun run{bench.catalog, Deaf{}, LoopDetector{.with_results = true}};
  const std::vector turn{ToolCall{.id = "call_0", .name = "charge"},
                         ToolCall{.id = "call_1", .name = "buggy"},
                         ToolCall{.id = "call_2", .name = "charge"}};
  const auto answers = run.handle_batch(turn);
  CHECK(shape_of(answers) == "+ - +");
  CHECK(answers.escaped.size() == 1);
  CHECK(run.handle(ToolCall{.id = "call_3", .name = "charge"}).content == "3");
  CHECK(run.guard<LoopDetector>().save().find("\"names\":[\"charge\",\"buggy\",\"charge\",\"charge\"]") !=
        std::string::npos);
}

TEST_CASE("a call under way when the run was saved stays open through turns that throw before it [I1, I3]",
          "[tool_run]") {
  Shipping shop;
  int charged = 0;
  std::string saved;
  const CallLimit limit{.run_limit = 1, .on_limit = OnLimit::throw_exception};
  std::optional<ToolRun<CallLimit>> run;
  shop.catalog.add("charge", [&](const ToolCall&) { saved = run->save(), ++charged; });
  const ToolCall charge{.id = "call_0", .name = "charge"};
  static_cast<void>(run.emplace(shop.catalog, limit).handle(charge));
  run.emplace(shop.catalog, limit).restore(saved);
  CHECK_THROWS_AS(run->handle_batch({charge, Shipping::order("A")}), CallLimitExceeded);
  CHECK_THROWS_AS(
      run->handle_batch({charge}, {},
                        [](std::size_t, const auto&) { throw TimeoutError{"no thread for the first one"}; }),
      TimeoutError);
  CHECK(run->unknown_outcomes().all().empty());
  CHECK(run->handle(charge).reason == StopReason::unknown_outcome);
  CHECK(charged == 1);
  CHECK(run->unknown_outcomes().all().size() == 1);
}

TEST_CASE(
    "a call that came back, may have had its effect and is not run now is reported and listed as unknown "
    "[I3]",
    "[tool_run]") {
  Shipping shop;
  std::string saved;
  ToolRun run{shop.catalog};
  shop.while_it_runs = [&](const ToolCall&) { saved = run.save(); };
  static_cast<void>(run.handle(Shipping::order("A")));
  ToolRun again{shop.catalog};
  again.restore(saved);
  const auto answers =
      again.handle_batch({Shipping::order("A"), Shipping::order("B")}, {}, [](std::size_t, const auto&) {});
  CHECK(
      contents(answers) ==
      std::vector<std::string>{"The tool \"ship\" was not called: the host skipped it. It was called before, "
                               "and it is unknown whether that had an effect.",
                               "The tool \"ship\" was not called: the host skipped it."});
  REQUIRE(again.unknown_outcomes().all().size() == 1);
  CHECK(again.unknown_outcomes().all()[0].idempotency_key == shop.keys[0]);
  CHECK(shop.keys.size() == 1);
}

TEST_CASE("a call that is safe to repeat is not saved as open or unknown, whatever became of it [I3]",
          "[tool_run]") {
  Bench bench;
  bench.catalog.add("find", ReplaySafety::repeatable, bench.policy().with(MaxRetries{0}),
                    [](const ToolCall&, const Attempt& attempt) {
                      attempt.mark_dispatched();
                      throw TimeoutError{"lost"};
                    });
  ToolRun run{bench.catalog};
  const auto lines = [&] {
    const auto saved = run.save();
    return std::count(saved.begin(), saved.end(), '\n');
  };
  const auto before = lines();
  for (int i = 0; i < 3; ++i) static_cast<void>(run.handle_batch({ToolCall{.id = "call_0", .name = "find"}}));
  CHECK(lines() == before);
}

TEST_CASE(
    "a call that a limit refused stays refused, and is counted once, when its turn is handled again [H5]",
    "[tool_run]") {
  for (const bool loops : {false, true}) {
    CAPTURE(loops);
    Shipping shop;
    ToolRun run{shop.catalog, CallLimit{.run_limit = loops ? 9 : 2}, LoopDetector{.repeats = 2}};
    std::string saved;
    shop.while_it_runs = [&](const ToolCall& call) {
      if (call.arguments == "B") saved = run.save();
    };
    std::vector turn{Shipping::order("A"), Shipping::order("B"), Shipping::order("A")};
    if (loops)
      turn = {Shipping::order("A"), Shipping::order("A"), Shipping::order("A"), Shipping::order("B")};
    const auto shape = shape_of(run.handle_batch(turn));
    CHECK(shape == (loops ? "+ + - +" : "+ + -"));
    const auto counts = run.guard<CallLimit>().counts();
    shop.while_it_runs = [](const ToolCall&) {};
    ToolRun replayed{shop.catalog, CallLimit{.run_limit = loops ? 9 : 2}, LoopDetector{.repeats = 2}};
    replayed.restore(saved);
    CHECK(replayed.save() == saved);
    const auto answers = replayed.handle_batch(turn);
    CHECK(shape_of(answers) == shape);
    CHECK(answers[2].reason == (loops ? StopReason::loop_detected : StopReason::call_limit_reached));
    CHECK(answers[2].content == "The tool \"ship\" was not called: the run's limits refused it.");
    CHECK(replayed.guard<CallLimit>().counts() == counts);
    CHECK(run.unknown_outcomes().all().empty());
  }
}

TEST_CASE(
    "a tool that runs once does not run again after an exception with an unknown outcome, but does after one "
    "that paused for a person [I1, I3, H5]",
    "[tool_run]") {
  struct Pause : Unretryable {
    using Unretryable::Unretryable;
  };
  ToolCatalog catalog;
  int charged = 0;
  catalog.add("charge", RetryPolicy{RetryOn<TimeoutError>{}},
              [&](const ToolCall& call, const Attempt& attempt) {
                if (call.arguments == "asks" && ++charged == 1) throw Pause{"may I?"};
                if (call.arguments == "asks") return;
                ++charged;
                attempt.mark_dispatched();
                throw Pause{"stopped while the request was on its way"};
              });
  for (const bool restarts : {false, true}) {
    charged = 0;
    ToolRun first{catalog};
    const ToolCall asking{.id = "call_0", .name = "charge", .arguments = "asks"};
    const ToolCall lost{.id = "call_1", .name = "charge", .arguments = "5"};
    CHECK(first.handle_batch({asking, lost}).escaped.size() == 2);
    CHECK(charged == 2);
    ToolRun second{catalog};
    second.restore(first.save());
    auto& run = restarts ? second : first;
    const auto answers = run.handle_batch({asking, lost});
    CHECK(charged == 3);
    CHECK_FALSE(answers[0].is_error());
    CHECK(answers[1].reason == StopReason::unknown_outcome);
    CHECK(run.unknown_outcomes().all().size() == 1);
  }
}

TEST_CASE("a call without an id has another key after a restart, although generated ids start again [I2]",
          "[tool_run]") {
  Shipping shop;
  std::string saved;
  for (int process = 0; process < 2; ++process) {
    ToolRun run{shop.catalog};
    if (!saved.empty()) run.restore(saved);
    CHECK(run.handle(Shipping::order("one A", "")).call_id.empty());
    saved = run.save();
  }
  CHECK(shop.all_different());
  for (const auto& key : shop.keys) CHECK(key.find("encore-") == std::string::npos);
}

TEST_CASE("the keys of a turn's calls depend on their place in it, not on the order in which they run [I2]",
          "[tool_run]") {
  Shipping shop;
  const std::vector turn{Shipping::order("A"), Shipping::order("B"), Shipping::order("A")};
  ToolRun run{shop.catalog};
  const auto before = run.save();  // then the process dies, and nobody has saved what became of them
  static_cast<void>(run.handle_batch(turn));
  auto forwards = shop.keys;
  CHECK(shop.all_different());
  shop.keys.clear();
  ToolRun again{shop.catalog};
  again.restore(before);
  static_cast<void>(again.handle_batch(turn, {}, backwards));
  CHECK(shop.keys == std::vector(forwards.rbegin(), forwards.rend()));
}

TEST_CASE(
    "a turn under way when its run was saved gets its keys again, each once, and no other call gets them "
    "[I2]",
    "[tool_run]") {
  Shipping shop;
  const std::vector turn{Shipping::order("A"), Shipping::order("B"), Shipping::order("A")};
  ToolRun run{shop.catalog, CallLimit{.run_limit = 3}};
  std::string saved;
  shop.while_it_runs = [&](const ToolCall& call) {
    if (call.arguments == "B")
      saved = run.save();  // one is done, one under way, one not begun: no answer has left yet
  };
  static_cast<void>(run.handle_batch(turn));
  const auto first = shop.keys;
  shop.while_it_runs = [](const ToolCall&) {};

  shop.keys.clear();
  ToolRun replayed{shop.catalog, CallLimit{.run_limit = 3}};
  replayed.restore(saved);
  CHECK(replayed.save() == saved);
  CHECK(shape_of(replayed.handle_batch(turn, {}, backwards)) ==
        "+ + +");  // nor does a limit count them again
  CHECK(shop.keys == std::vector(first.rbegin(), first.rend()));
  CHECK(shape_of(replayed.handle_batch(turn)) == "- - -");

  for (const auto& other : {Shipping::order("C"), Shipping::order("A", "call_1"), Shipping::order("A", "")}) {
    shop.keys.clear();
    ToolRun changed{shop.catalog, CallLimit{.run_limit = 9}};
    changed.restore(saved);
    static_cast<void>(changed.handle(other));
    REQUIRE(shop.keys.size() == 1);
    CHECK(std::find(first.begin(), first.end(), shop.keys[0]) == first.end());
  }

  shop.keys.clear();
  ToolRun branch{shop.catalog, CallLimit{.run_limit = 3}};  // the conversation goes on in two ways
  branch.restore(saved);
  branch.new_run();
  static_cast<void>(branch.handle_batch(turn));
  for (const auto& key : shop.keys) CHECK(std::find(first.begin(), first.end(), key) == first.end());
}

TEST_CASE("calls of a turn handled in parallel have the keys of their turn [I2]", "[tool_run][threads]") {
  ToolCatalog catalog;
  std::vector<std::string> keys(8);
  catalog.add("ship", ReplaySafety::repeatable_with_key, RetryPolicy{RetryOn<TimeoutError>{}},
              [&](const ToolCall& call, const Attempt& attempt) {
                keys[static_cast<std::size_t>(std::stoi(call.arguments))] = attempt.idempotency_key();
              });
  std::vector<ToolCall> turn;
  for (int i = 0; i < 8; ++i) turn.push_back(Shipping::order(std::to_string(i)));
  ToolRun run{catalog};
  for (int of_turn = 0; of_turn < 20; ++of_turn) {
    static_cast<void>(run.handle_batch(turn, {}, [](std::size_t count, const auto& make) {
      std::vector<std::thread> threads;
      for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&make, i] { make(i); });
      for (auto& thread : threads) thread.join();
    }));
    for (std::size_t i = 0; i < 8; ++i)
      CHECK(keys[i].starts_with(run.scope().text() + "/call_0/" +
                                std::to_string(static_cast<std::size_t>(of_turn) * 8 + i + 1) + "~"));
  }
}

TEST_CASE("a saved key is the key, byte for byte: another one would find nothing to reconcile [I2, I3]",
          "[tool_run]") {
  Bench bench;
  std::string sent;
  bench.catalog.add("ship", ReplaySafety::repeatable_with_key, bench.policy().with(MaxRetries{0}),
                    [&](const ToolCall&, const Attempt& attempt) {
                      sent = attempt.idempotency_key();
                      attempt.mark_dispatched();
                      throw TimeoutError{"lost"};
                    });
  for (const auto* key : {"order-5", "order-\xFF", ""}) {
    ToolRun run{bench.catalog};
    static_cast<void>(run.handle_batch({ToolCall{.id = "\xC0", .name = "ship", .operation_key = key}}));
    ToolRun again{bench.catalog};
    again.restore(run.save());
    REQUIRE(again.unknown_outcomes().all().size() == 1);
    CHECK(again.unknown_outcomes().all()[0].idempotency_key == sent);
    CHECK(again.unknown_outcomes().all()[0].call_id == "\xC0");
  }
}

#if __has_include(<sys/wait.h>)
TEST_CASE("a forked run generates keys of its own in the child, and open calls keep theirs [I2]",
          "[tool_run]") {
  Shipping shop;
  bool stop = true;
  shop.while_it_runs = [&](const ToolCall& call) {
    if (stop && call.arguments == "asks") throw Unretryable{"ask a person"};
  };
  ToolRun run{shop.catalog};
  static_cast<void>(run.handle_batch({Shipping::order("asks")}));
  stop = false;
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const auto both = [&] {
    shop.keys.clear();
    static_cast<void>(run.handle_batch({Shipping::order("asks"), Shipping::order("new")}));
    return shop.keys.at(0) + '\n' + shop.keys.at(1);
  };
  const auto child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const auto keys = both();
    _exit(write(ends[1], keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string of_child(400, ' ');
  of_child.resize(static_cast<std::size_t>(read(ends[0], of_child.data(), of_child.size())));
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  close(ends[0]);
  const auto of_parent = both();
  const auto cut = of_parent.find('\n');
  CHECK(of_child.substr(0, cut) == of_parent.substr(0, cut));
  CHECK(of_child.substr(cut) != of_parent.substr(cut));
}
#endif

// ---- the end of a run ------------------------------------------------------------------------------------------------

/// How many turns a model goes on, with the same call or ever new ones, before the run is over; at most 1,000.
template <class Run>
int turns_of(Run& run, const std::string& name, bool same) {
  int turns = 0;
  for (; !run.over() && turns < 1'000; ++turns)
    static_cast<void>(run.handle_batch({ToolCall{
        .id = std::to_string(turns), .name = name, .arguments = same ? "" : std::to_string(turns)}}));
  return turns;
}

TEST_CASE(
    "a model that insists ends its run three turns after its calls were first refused (fault 44: agno #8304) "
    "[H9]",
    "[tool_run]") {
  Bench bench;
  ToolRun limited{bench.catalog, CallLimit{.run_limit = 20}};
  CHECK(turns_of(limited, "search", false) == 20 + 3);
  CHECK(limited.over() ==
        Refusal{
            .reason = StopReason::run_over,
            .to_model = "The call was not made: the run is over.",
            .to_person = "no call could be made in 3 turns in a row, the last because of call_limit_reached",
            .ends_run = true});
  CHECK(limited.handle(ToolCall{.id = "1", .name = "a"}).reason == StopReason::run_over);
  ToolRun looping{bench.catalog, LoopDetector{.repeats = 3}};
  CHECK(turns_of(looping, "search", true) == 3 + 3);
  ToolRun all{bench.catalog, CallLimit{.run_limit = 20}, LoopDetector{.repeats = 3}, SpendLimit{usd(2)}};
  CHECK(turns_of(all, "search", true) == 3 + 3);
  ToolRun unlimited{bench.catalog, CallLimit{.run_limit = 20}, RefusedTurns{.by_limits = UnlimitedTurns{}}};
  CHECK(turns_of(unlimited, "search", false) == 1'000);
  ToolRun patient{bench.catalog, CallLimit{.run_limit = 20}, RefusedTurns{.by_limits = 7}};
  CHECK(turns_of(patient, "search", false) == 20 + 7);
}

TEST_CASE(
    "a model that keeps calling a tool that does not exist ends its run (fault 44: hermes-agent #12395) [H9]",
    "[tool_run]") {
  Bench bench;
  bench.catalog.for_unknown_tools(bench.policy());
  ToolRun run{bench.catalog};
  CHECK(turns_of(run, "no_such_tool", false) == 3);
  CHECK(run.over()->to_person ==
        "no call could be made in 3 turns in a row, the last because of unknown_tool");
  CHECK_THAT(bench.trace, RefusedOnEntry("2", StopReason::unknown_tool));  // each is an event

  ToolRun learns{bench.catalog};
  for (int turn = 0; turn < 20; ++turn)
    static_cast<void>(learns.handle(ToolCall{.id = "1", .name = turn % 3 == 2 ? "a" : "no_such_tool"}));
  CHECK_FALSE(learns.over());
  for (int turn = 0; turn < 20; ++turn)  // a turn in which one call is made is none in vain
    CHECK(shape_of(learns.handle_batch(calls_of("no_such_tool a"))) == "- +");
  CHECK_FALSE(learns.over());
}

TEST_CASE("temporary refusals end a run only after 20 turns, so that a short outage ends none [H9]",
          "[tool_run]") {
  Bench bench;
  CircuitBreaker breaker{{.failures_to_open = 1, .open_for = 30s}};
  bool down = true;
  bench.catalog.add("flaky", ReplaySafety::repeatable, bench.policy().with(breaker), [&](const ToolCall&) {
    if (down) throw TimeoutError{"down"};
  });
  ToolRun run{bench.catalog};
  CHECK(run.handle(ToolCall{.id = "1", .name = "flaky"}).reason ==
        StopReason::circuit_open);  // after an attempt
  for (int turn = 0; turn < 19; ++turn)
    CHECK(run.handle(ToolCall{.id = "2", .name = "flaky"}).reason == StopReason::circuit_open);
  CHECK_FALSE(run.over());
  static_cast<void>(run.handle_batch(calls_of("flaky no_such_tool")));  // one of them may pass
  CHECK(run.over()->reason == StopReason::run_over);

  ToolRun late{bench.catalog};
  int turns = 0;
  for (; !late.over(); ++turns)
    static_cast<void>(late.handle_batch(calls_of("a"), {.deadline = bench.clock.now()}));
  CHECK(turns == 20);
  ToolRun lucky{bench.catalog};
  down = false;
  for (turns = 0; turns < 100; ++turns) {
    static_cast<void>(lucky.handle(ToolCall{.id = "3", .name = "flaky"}));
    bench.clock.advance(2s);
  }
  CHECK_FALSE(lucky.over());
}

TEST_CASE("a turn of which the host runs only some calls counts by those that were answered or refused [H9]",
          "[tool_run]") {
  const auto only = [](std::size_t which) { return [which](std::size_t, const auto& make) { make(which); }; };
  for (const std::size_t made : {0U, 1U}) {
    Bench bench;
    ToolRun run{bench.catalog, CallLimit{.tool = "a", .run_limit = 1}};
    CHECK(shape_of(run.handle_batch(calls_of("a"))) == "+");
    static_cast<void>(run.handle_batch(calls_of("a a"), {}, only(made)));
    static_cast<void>(run.handle_batch(calls_of("a a"), {}, only(made)));
    static_cast<void>(run.handle_batch(calls_of(made == 0 ? "b a" : "a b"), {}, only(made)));  // begins anew
    for (int turn = 0; turn < 3; ++turn) {
      CHECK_FALSE(run.over());
      static_cast<void>(run.handle_batch(calls_of("a a"), {}, only(made)));
    }
    REQUIRE(run.over());
    CHECK(run.over()->to_person ==
          "no call could be made in 3 turns in a row, the last because of call_limit_reached");
  }
}

TEST_CASE("refused turns are still counted after a restart, and start from zero in a new run [H9]",
          "[tool_run]") {
  Bench bench;
  std::string saved;
  for (int turn = 0; turn < 3; ++turn) {
    ToolRun run{bench.catalog};
    if (!saved.empty()) run.restore(saved);
    CHECK_FALSE(run.over());
    static_cast<void>(run.handle_batch(calls_of("nobody")));
    CHECK(run.over().has_value() == (turn == 2));
    saved = run.save();
  }
  ToolRun run{bench.catalog};
  run.restore(saved);
  CHECK(run.over()->reason == StopReason::run_over);
  run.new_run();
  CHECK(turns_of(run, "nobody", true) == 3);
}

TEST_CASE(
    "a call that paused the run for a person is counted once when it comes back (fault 43: agno #7962) [H5]",
    "[tool_run]") {
  for (const auto restored : {false, true}) {
    CAPTURE(restored);
    Bench bench;
    bool approved = false;
    bench.add("send", [&](const ToolCall&) -> std::string {
      if (!approved) throw Unretryable{"may I?"};
      return "sent";
    });
    const ToolCall call{.id = "call_1", .name = "send", .arguments = "{}"};
    using Run = ToolRun<CallLimit, StepLimit, LoopDetector>;
    const CallLimit calls{.run_limit = 1};
    const StepLimit steps{.run_limit = 3};
    const LoopDetector loops{.repeats = 2, .max_cycle_len = 1};
    Run first{bench.catalog, calls, steps, loops};
    CHECK(first.handle_batch({call}).escaped.size() == 1);
    CHECK(first.handle_batch({call}).escaped.size() == 1);  // it asks again
    CHECK_THROWS_AS(first.handle(call), Unretryable);
    Run second{bench.catalog, calls, steps, loops};
    second.restore(first.save());
    auto& run = restored ? second : first;
    approved = true;
    CHECK(run.handle(call).content == "sent");
    CHECK(run.guard<CallLimit>().counts()[0].run == 1);
    CHECK(run.guard<StepLimit>().counts().run == 1);
    CHECK(run.handle(call).reason ==
          StopReason::call_limit_reached);  // answered: the next one is another call
    CHECK(bench.made.size() == 4);
  }
}

TEST_CASE(
    "a call that comes back in a turn with new calls is neither refused in their place nor lost with them "
    "[H5]",
    "[tool_run]") {
  for (const auto on_limit : {OnLimit::answer_calls, OnLimit::throw_exception}) {
    Bench bench;
    bool approved = false;
    bench.add("send", [&](const ToolCall&) -> std::string {
      if (!approved) throw Unretryable{"may I?"};
      return "sent";
    });
    ToolRun run{bench.catalog, CallLimit{.run_limit = 1, .on_limit = on_limit}};
    static_cast<void>(run.handle_batch(calls_of("send")));
    approved = true;
    const std::vector<ToolCall> turn{
        {.id = "1", .name = "a"}, {.id = "0", .name = "send"}, {.id = "2", .name = "b"}};
    if (on_limit == OnLimit::answer_calls) {
      CHECK(shape_of(run.handle_batch(turn)) == "- + -");
    } else {
      CHECK_THROWS_AS(run.handle_batch(turn), CallLimitExceeded);
      CHECK(run.handle(turn[1]).content == "sent");
    }
    CHECK(bench.made == std::vector<std::string>{"0", "0"});
  }
}

TEST_CASE("the id of a call that asked a person, with other arguments, is another call [H5]", "[tool_run]") {
  Bench bench;
  ToolRun run{bench.catalog, CallLimit{.run_limit = 1}};
  CHECK_THROWS_AS(run.handle(ToolCall{.id = "1", .name = "ask", .arguments = "A"}), Unretryable);
  CHECK(run.handle(ToolCall{.id = "1", .name = "ask", .arguments = "B"}).reason ==
        StopReason::call_limit_reached);
  CHECK_THROWS_AS(run.handle(ToolCall{.id = "1", .name = "ask", .arguments = "A"}), Unretryable);
}

TEST_CASE(
    "a call that pauses for a person again and again ends its run 20 turns after it first came back [H9]",
    "[tool_run]") {
  Bench bench;
  ToolRun run{bench.catalog, CallLimit{.run_limit = 9}};
  int turns = 0;
  for (; !run.over() && turns < 1'000; ++turns)
    static_cast<void>(run.handle_batch({ToolCall{.id = "call_0", .name = "ask"}}));
  CHECK(turns == 1 + 20);
}

TEST_CASE("a custom batch guard that allows what a call limit refused does not override the refusal [H5]",
          "[tool_run]") {
  Bench bench;
  ToolRun run{bench.catalog, CallLimit{.run_limit = 1}, Watch{}};
  const auto answers = run.handle_batch(calls_of("search a"));
  CHECK(shape_of(answers) == "+ -");
  CHECK(answers[1].reason == StopReason::call_limit_reached);
  CHECK(run.guard<Watch>().asked == 2);
}

// ---- side effects ----------------------------------------------------------------------------------------------------

TEST_CASE(
    "a thousand shipments over a connection that drops: none is made twice, none is lost, the rest are "
    "listed [I1, I2, I3]",
    "[tool_run]") {
  std::mt19937 random{17};
  FakeClock clock;
  std::map<std::string, int> ledger;  // what the other side did, by key
  ToolCatalog catalog;
  const RetryPolicy policy{RetryOn<TimeoutError>{}, MaxRetries{1}, clock};
  catalog.add("ship", ReplaySafety::repeatable_with_key, policy,
              [&](const ToolCall&, const Attempt& attempt) {
                const auto key = attempt.idempotency_key();
                if (random() % 8 == 0) throw TimeoutError{"no route"};
                attempt.mark_dispatched();
                if (random() % 8 == 0) throw TimeoutError{"lost on the way there"};
                ledger.try_emplace(key, 1);  // it recognises a key that it has seen
                if (random() % 3 == 0) throw TimeoutError{"lost on the way back"};
                attempt.mark_answered();
                return key;
              });
  ToolRun run{catalog};
  std::set<std::string> shipped;
  std::set<std::string> failed;
  for (int i = 0; i < 1000; ++i) {
    const ToolCall call{
        .id = "call_" + std::to_string(i % 10), .name = "ship", .arguments = std::to_string(i)};
    const auto answer = run.handle(call);
    (answer.is_error() ? failed : shipped).insert(answer.is_error() ? call.arguments : answer.content);
  }
  std::set<std::string> unknown;
  for (const auto& outcome : run.unknown_outcomes().all()) unknown.insert(outcome.idempotency_key);
  CHECK(shipped.size() + failed.size() == 1000);  // ids were used a hundred times each, and no key twice
  CHECK(unknown.size() > 50);
  std::size_t without_a_word = 0;
  for (const auto& [key, times] : ledger)
    without_a_word += shipped.contains(key) || unknown.contains(key) ? 0U : 1U;
  CHECK(without_a_word == 0);
  for (const auto& key : shipped) CHECK(ledger.contains(key));
}

TEST_CASE("tool names and arguments of any kind do no harm to a run, and its memory stays bounded",
          "[tool_run]") {
  Bench bench;
  ToolRun run{bench.catalog, CallLimit{.run_limit = 2}, LoopDetector{}, SpendLimit{usd(2)}};
  std::vector<ToolCall> calls;
  for (int i = 0; i < 10'000; ++i)
    calls.push_back({.id = std::string{"\0\n\"\xFF", 4},
                     .name = "x\x1B[31m" + std::to_string(i),
                     .arguments = std::string(100, '{')});
  const auto answers = run.handle_batch(calls);
  CHECK(answers.size() == 10'000);
  CHECK(answers[0].content == R"(There is no tool "x\u001b[31m0".)");
  CHECK(answers[9'999].content.find('\x1B') == std::string::npos);
  CHECK(run.save().size() < 10'000);
}

TEST_CASE("many threads together are allowed exactly what the run's limit says [H5, H8]",
          "[tool_run][threads]") {
  FakeClock clock;
  std::atomic<int> made{0};
  ToolCatalog catalog;
  catalog.add("pay", [&](const ToolCall&, const Attempt& attempt) -> std::string {
    ++made;
    static_cast<void>(attempt.idempotency_key());
    attempt.mark_dispatched();
    throw TimeoutError{"slow"};
  });
  ToolRun run{catalog, CallLimit{.run_limit = 100}, SpendLimit{usd(1'000)}, StepLimit{.run_limit = 1'000},
              RefusedTurns{.by_limits = UnlimitedTurns{}}};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        run.handle(ToolCall{.id = std::to_string(t * 50 + i), .name = "pay"});
        run.record(usd("0.01"));
        if (i % 10 == 0) static_cast<void>(run.save());
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(made == 100);
  CHECK(run.spent() == usd(2));
  CHECK(run.unknown_outcomes().all().size() == 100);
}

}  // namespace
