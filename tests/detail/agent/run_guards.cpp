#include <encore/agent/loop_detector.hpp>
#include <encore/agent/step_limit.hpp>
#include <encore/detail/agent/run_guards.hpp>

#include <catch2/catch_test_macros.hpp>

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace encore;
using encore::detail::RunGuards;

/// A guard of the user's own, which writes down what it is asked and says no when told so.
struct Diary {
  struct State;
  std::vector<std::string>* lines;
  bool refuses = false;
};
struct Diary::State {
  explicit State(const Diary& diary) : settings{diary} {}
  std::optional<Refusal> admit() { return note("step"); }
  std::optional<Refusal> admit(const IssuedCall& call) { return note("call " + std::string{call.name}); }
  void answered(const IssuedCall& call, std::string_view content) {
    settings.lines->push_back("answered " + std::string{call.name} + ": " + std::string{content});
  }
  void new_run() { settings.lines->push_back("new run"); }
  static std::string save() { return R"({"state":"diary"})"; }  // one line: its end is added
  void restore(std::string_view) { settings.lines->push_back("restored"); }

  std::optional<Refusal> note(std::string line) {
    settings.lines->push_back(std::move(line));
    if (!settings.refuses) return std::nullopt;
    return Refusal{.reason = StopReason::refused_by_guard, .to_model = "diary"};
  }
  Diary settings;
};
static_assert(RunGuard<Diary>);

const std::vector<IssuedCall> two{{.name = "a"}, {.name = "b"}};

TEST_CASE("each run guard is asked about what it handles: steps, turns, calls", "[run_guards]") {
  std::vector<std::string> lines;
  RunGuards guards{Diary{&lines}, CallLimit{.run_limit = 1}, StepLimit{.run_limit = 1}};
  CHECK_FALSE(guards.admit_step_with_calls());
  CHECK(guards.admit_step_with_calls()->reason == StopReason::step_limit_reached);
  const auto verdict = guards.admit_batch(two);
  CHECK_FALSE(verdict.calls[0]);
  CHECK(verdict.calls[1]->reason == StopReason::call_limit_reached);
  CHECK_FALSE(guards.admit_call(two[0]));
  guards.answered(two[0], "17");
  guards.new_run();
  CHECK(lines == std::vector<std::string>{"step", "step", "call a", "answered a: 17", "new run"});
  CHECK(guards.state<CallLimit>().counts() == std::vector{RunCounts{1, 0}});
}

TEST_CASE("the spend limit is checked before a turn of the model, and before each call", "[run_guards]") {
  RunGuards guards{SpendLimit{usd(0)}};
  CHECK(guards.admit_step()->reason == StopReason::spend_limit_reached);
  CHECK_FALSE(guards.admit_step_with_calls());
  CHECK(guards.admit_call(two[0])->reason == StopReason::spend_limit_reached);
}

TEST_CASE(
    "the first refusal is the answer, money before loops, and every run guard is asked all the same [H5]",
    "[run_guards]") {
  std::vector<std::string> lines;
  RunGuards guards{Diary{&lines, true}, LoopDetector{.repeats = 2, .max_cycle_len = 1}, SpendLimit{usd(1)}};
  CHECK(guards.admit_call(two[0])->to_model == "diary");
  CHECK(guards.admit_call(two[0])->to_model == "diary");
  CHECK(guards.admit_call(two[0])->to_model == "diary");  // a loop by now, but the diary was given first
  guards.state<SpendLimit>().record(usd(1));
  CHECK(guards.admit_call(two[0])->reason == StopReason::spend_limit_reached);
  CHECK(lines.size() == 4);

  RunGuards loop_first{LoopDetector{.repeats = 2, .max_cycle_len = 1}, Diary{&lines, true}};
  static_cast<void>(loop_first.admit_call(two[0]));
  static_cast<void>(loop_first.admit_call(two[0]));
  CHECK(loop_first.admit_call(two[0])->reason == StopReason::loop_detected);
}

TEST_CASE("all call limits of a run hold together, wherever they stand in the list [H5]", "[run_guards]") {
  RunGuards guards{CallLimit{.tool = "a", .run_limit = 0}, SpendLimit{usd(9)},
                   CallLimit{.tool = "b", .run_limit = 0, .on_limit = OnLimit::throw_exception}};
  CHECK_THROWS_AS(guards.admit_batch(two), CallLimitExceeded);
  CHECK(guards.state<CallLimit>().counts() == std::vector{RunCounts{}, RunCounts{}});
}

TEST_CASE("a run without guards refuses nothing and saves nothing", "[run_guards]") {
  RunGuards<> guards;
  CHECK_FALSE(guards.admit_step());
  CHECK_FALSE(guards.admit_batch(two).calls[1]);
  CHECK_FALSE(guards.admit_call(two[0]));
  CHECK(guards.save().empty());
}

TEST_CASE("all run guards are saved as lines of one text, and each finds its own", "[run_guards]") {
  std::vector<std::string> lines;
  const auto make = [&](auto use) {
    RunGuards guards{SpendLimit{usd(9)}, Diary{&lines}, CallLimit{.run_limit = 5}};
    use(guards);
  };
  std::string saved;
  make([&](auto& guards) {
    static_cast<void>(guards.admit_batch(two));
    guards.template state<SpendLimit>().record(usd(2));
    saved = guards.save();
  });
  CHECK(saved ==
        "{\"state\":\"call_limit\",\"thread\":2,\"run\":2}\n"
        "{\"state\":\"spend_limit\",\"spent_usd\":\"2\"}\n"
        "{\"state\":\"diary\"}\n");
  make([&](auto& guards) {
    guards.restore(saved);
    CHECK(guards.save() == saved);
  });
  CHECK(lines == std::vector<std::string>{"restored"});
}

}  // namespace
