#include <encore/agent/loop_detector.hpp>
#include <encore/agent/step_limit.hpp>
#include <encore/detail/agent/run_admission.hpp>
#include <encore/detail/agent/run_guards.hpp>

#include <catch2/catch_test_macros.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace encore;
using encore::detail::RunAdmission;
using encore::detail::RunCall;
using encore::detail::RunGuards;
using encore::detail::RunState;
using encore::detail::Turn;
using encore::detail::TurnCall;

const ToolCall a{.id = "1", .name = "a"};
const ToolCall b{.id = "2", .name = "b"};
const ToolCatalog no_tools;
std::vector<TurnCall> turn() {
  return {{.run_call = RunCall::of(no_tools, a)}, {.run_call = RunCall::of(no_tools, b)}};
}

/// What is said of a turn, whose calls then are answered.
template <class Guards>
std::vector<std::optional<Refusal>> admit(const RunAdmission<Guards>& admission,
                                          std::vector<TurnCall> calls) {
  Turn turn{admission.state.pending_calls(), std::move(calls)};
  admission.admit(turn.calls);
  std::vector<std::optional<Refusal>> refusals;
  for (auto& call : turn.calls) {
    refusals.push_back(call.refusal);
    call.answered = true;
  }
  return refusals;
}
/// What is said of a call right before it is made.
template <class Guards>
std::optional<Refusal> admit_call(const RunAdmission<Guards>& admission, std::optional<Refusal> of_turn = {},
                                  const ToolCall& called = a) {
  TurnCall call{.run_call = RunCall::of(no_tools, called), .refusal = std::move(of_turn)};
  admission.admit(call);
  return call.refusal;
}

TEST_CASE("a refused step refuses every call of its turn, and the calls count as issued all the same [H5]",
          "[run_admission]") {
  RunGuards guards{StepLimit{.run_limit = 1}, CallLimit{.run_limit = 9}};
  RunState state;
  const RunAdmission admission{guards, state};
  const auto first = admit(admission, turn());
  CHECK((!first[0] && !first[1]));
  const auto second = admit(admission, turn());
  CHECK(second[0]->reason == StopReason::step_limit_reached);
  CHECK(second[1]->reason == StopReason::step_limit_reached);
  CHECK(state.over()->reason == StopReason::step_limit_reached);
  CHECK(guards.state<CallLimit>().counts() == std::vector{RunCounts{4, 4}});
}

TEST_CASE(
    "once the run is over, every call is refused with that reason, and nothing is counted any more [H5]",
    "[run_admission]") {
  RunGuards guards{CallLimit{.thread_limit = 1, .on_limit = OnLimit::end_run}, StepLimit{.run_limit = 9},
                   LoopDetector{.repeats = 2, .max_cycle_len = 1}};
  RunState state;
  const RunAdmission admission{guards, state};
  static_cast<void>(admit(admission, turn()));
  REQUIRE(state.over());
  for (int i = 0; i < 3; ++i) {
    auto one = turn();
    one.pop_back();
    const auto again = admit(admission, std::move(one));  // its counter alone would let this one through
    REQUIRE(again[0]);
    CHECK(again[0]->to_model == R"(The tool "a" was not called: the run is over.)");
    CHECK(again[0]->reason == StopReason::call_limit_reached);
    CHECK(admit_call(admission)->reason == StopReason::call_limit_reached);
  }
  CHECK(guards.state<CallLimit>().counts() == std::vector{RunCounts{0, 2}});
  CHECK(guards.state<StepLimit>().counts() == RunCounts{1, 1});
}

TEST_CASE("a call that ends the run refuses the later ones of its turn", "[run_admission]") {
  RunGuards guards{SpendLimit{usd(1)}};
  RunState state;
  const RunAdmission admission{guards, state};
  CHECK_FALSE(admit(admission, turn())[0]);
  guards.state<SpendLimit>().record(usd(1));
  const auto first = admit_call(admission);
  REQUIRE(first);
  CHECK(first->to_model ==
        R"(The tool "a" was not called: the spend limit is reached. Do not call any tool again.)");
  const auto second = admit_call(admission, {}, b);
  REQUIRE(second);
  CHECK(second->reason == StopReason::spend_limit_reached);
  CHECK(second->to_model == R"(The tool "b" was not called: the run is over.)");
}

TEST_CASE(
    "a refusal of the whole turn is the answer, and the guards of single calls are asked all the same [H5]",
    "[run_admission]") {
  RunGuards guards{LoopDetector{.repeats = 2, .max_cycle_len = 1}};
  RunState state;
  const RunAdmission admission{guards, state};
  for (int i = 0; i < 3; ++i)
    CHECK(admit_call(admission, Refusal{.reason = StopReason::call_limit_reached})->reason ==
          StopReason::call_limit_reached);
  CHECK(admit_call(admission)->reason == StopReason::loop_detected);
  CHECK_FALSE(state.over());
}

TEST_CASE("a step begun by the host counts for the next turn", "[run_admission]") {
  RunGuards guards{StepLimit{.run_limit = 2}};
  RunState state;
  const RunAdmission admission{guards, state};
  CHECK_FALSE(admission.begin_step());
  CHECK_FALSE(admit(admission, turn())[0]);
  CHECK(guards.state<StepLimit>().counts().run == 1);
  CHECK_FALSE(admit(admission, turn())[0]);
  CHECK(guards.state<StepLimit>().counts().run == 2);
  CHECK(admission.begin_step()->reason == StopReason::step_limit_reached);
  CHECK(state.over());
  CHECK(admission.begin_step()->reason == StopReason::step_limit_reached);
}

TEST_CASE(
    "a call that ended without an answer comes back as itself: no step, turn or loop counts it again [H5]",
    "[run_admission]") {
  RunGuards guards{StepLimit{.run_limit = 9}, CallLimit{.run_limit = 9},
                   LoopDetector{.repeats = 2, .max_cycle_len = 1}, SpendLimit{usd(1)}};
  RunState state;
  const RunAdmission admission{guards, state};
  std::string key;
  for (int times = 0; times < 5; ++times) {
    Turn asking{state.pending_calls(), turn()};
    admission.admit(asking.calls);
    CHECK(asking.calls[0].resumed == (times > 0));
    for (auto& call : asking.calls) admission.admit(call);
    CHECK_FALSE(asking.calls[0].refusal);
    if (times == 0) key = asking.calls[0].open->key;
    CHECK(asking.calls[0].open->key == key);
    asking.calls[0].escaped = asking.calls[0].report.interrupt = true;
    asking.calls[1].answered = times > 0;  // the other one came back once, and then was new each time
  }
  CHECK(guards.state<StepLimit>().counts().run == 4);
  CHECK(guards.state<CallLimit>().counts()[0].run == 5);
  guards.state<SpendLimit>().record(usd(1));  // what is spent is no count
  Turn last{state.pending_calls(), turn()};
  admission.admit(last.calls);
  admission.admit(last.calls[0]);
  CHECK(last.calls[0].refusal->reason == StopReason::spend_limit_reached);
}

TEST_CASE(
    "a call that ended by an arbitrary exception stays open, and counts again when it is tried again [H5, "
    "I2]",
    "[run_admission]") {
  RunGuards guards{CallLimit{.run_limit = 9}, LoopDetector{.repeats = 3, .max_cycle_len = 1}};
  RunState state;
  const RunAdmission admission{guards, state};
  std::string key;
  for (int times = 0; times < 4; ++times) {
    auto one = turn();
    one.pop_back();
    Turn failing{state.pending_calls(), std::move(one)};
    admission.admit(failing.calls);
    admission.admit(failing.calls[0]);
    CHECK(failing.calls[0].refusal.has_value() == (times == 3));
    if (times == 0) key = failing.calls[0].open->key;
    CHECK(failing.calls[0].open->key == key);
    failing.calls[0].escaped = true;
  }
  CHECK(guards.state<CallLimit>().counts()[0].run == 4);
}

TEST_CASE("no guard is asked about a turn without calls", "[run_admission]") {
  RunGuards guards{StepLimit{.run_limit = 1}};
  RunState state;
  CHECK(admit(RunAdmission{guards, state}, {}).empty());
  CHECK(guards.state<StepLimit>().counts().run == 0);
}

}  // namespace
