#include <encore/guard/loop_detector.hpp>
#include <encore/guard/step_limit.hpp>
#include <encore/tool/run_admission.hpp>
#include <encore/tool/run_guards.hpp>

#include <catch2/catch_test_macros.hpp>

#include <optional>
#include <string>
#include <vector>

namespace {

using namespace encore;
using encore::detail::RunAdmission;
using encore::detail::RunCall;

const ToolCall a{.id = "1", .name = "a"};
const ToolCall b{.id = "2", .name = "b"};
const ToolCatalog no_tools;
std::vector<RunCall> turn() { return {RunCall::of(no_tools, a), RunCall::of(no_tools, b)}; }

TEST_CASE("a refused step refuses every call of its turn, which were issued all the same [H5]",
          "[run_admission]") {
  RunGuards guards{StepLimit{.run_limit = 1}, CallLimit{.run_limit = 9}};
  RunState state;
  const RunAdmission admission{guards, state};
  const auto first = admission.admit(turn());
  CHECK((!first[0] && !first[1]));
  const auto second = admission.admit(turn());
  CHECK(second[0]->reason == StopReason::step_limit_reached);
  CHECK(second[1]->reason == StopReason::step_limit_reached);
  CHECK(state.over()->reason == StopReason::step_limit_reached);
  CHECK(guards.state<CallLimit>().counts() == std::vector{RunCounts{4, 4}});
}

TEST_CASE("once the run is over, every call is told so, and nothing is counted any more [H5]",
          "[run_admission]") {
  RunGuards guards{CallLimit{.thread_limit = 1, .on_limit = OnLimit::end_run}, StepLimit{.run_limit = 9},
                   LoopDetector{.repeats = 2, .max_cycle_len = 1}};
  RunState state;
  const RunAdmission admission{guards, state};
  static_cast<void>(admission.admit(turn()));
  REQUIRE(state.over());
  const auto calls = turn();
  for (int i = 0; i < 3; ++i) {
    const auto again =
        admission.admit(std::span{calls}.first(1));  // its counter alone would let this one through
    REQUIRE(again[0]);
    CHECK(again[0]->to_model == R"(The tool "a" was not called: the run is over.)");
    CHECK(again[0]->reason == StopReason::call_limit_reached);
    std::optional<Refusal> refusal;
    admission.admit(calls[0], refusal);
    CHECK(refusal->reason == StopReason::call_limit_reached);
  }
  CHECK(guards.state<CallLimit>().counts() == std::vector{RunCounts{0, 2}});
  CHECK(guards.state<StepLimit>().counts() == RunCounts{1, 1});
}

TEST_CASE("a call that ends the run refuses the later ones of its turn", "[run_admission]") {
  RunGuards guards{SpendLimit{usd(1)}};
  RunState state;
  const RunAdmission admission{guards, state};
  const auto calls = turn();
  CHECK_FALSE(admission.admit(calls)[0]);
  guards.state<SpendLimit>().record(usd(1));
  std::optional<Refusal> first;
  admission.admit(calls[0], first);
  REQUIRE(first);
  CHECK(first->to_model ==
        R"(The tool "a" was not called: the spend limit is reached. Do not call any tool again.)");
  std::optional<Refusal> second;
  admission.admit(calls[1], second);
  REQUIRE(second);
  CHECK(second->reason == StopReason::spend_limit_reached);
  CHECK(second->to_model == R"(The tool "b" was not called: the run is over.)");
}

TEST_CASE("what was said of the turn stays the answer, and the guards of calls are asked all the same [H5]",
          "[run_admission]") {
  RunGuards guards{LoopDetector{.repeats = 2, .max_cycle_len = 1}};
  RunState state;
  const RunAdmission admission{guards, state};
  const auto calls = turn();
  for (int i = 0; i < 3; ++i) {
    std::optional<Refusal> refusal = Refusal{.reason = StopReason::call_limit_reached};
    admission.admit(calls[0], refusal);
    CHECK(refusal->reason == StopReason::call_limit_reached);
  }
  std::optional<Refusal> fourth;
  admission.admit(calls[0], fourth);
  CHECK(fourth->reason == StopReason::loop_detected);
  CHECK_FALSE(state.over());
}

TEST_CASE("a step begun by the host is that of the next turn", "[run_admission]") {
  RunGuards guards{StepLimit{.run_limit = 2}};
  RunState state;
  const RunAdmission admission{guards, state};
  CHECK_FALSE(admission.begin_step());
  CHECK_FALSE(admission.admit(turn())[0]);
  CHECK(guards.state<StepLimit>().counts().run == 1);
  CHECK_FALSE(admission.admit(turn())[0]);
  CHECK(guards.state<StepLimit>().counts().run == 2);
  CHECK(admission.begin_step()->reason == StopReason::step_limit_reached);
  CHECK(state.over());
  CHECK(admission.begin_step()->reason == StopReason::step_limit_reached);
}

TEST_CASE("a turn without calls is asked about by nobody", "[run_admission]") {
  RunGuards guards{StepLimit{.run_limit = 1}};
  RunState state;
  CHECK(RunAdmission{guards, state}.admit({}).empty());
  CHECK(guards.state<StepLimit>().counts().run == 0);
}

}  // namespace
