#include "../../invalid_setting.hpp"
#include <encore/detail/agent/run_state.hpp>

#include <catch2/catch_test_macros.hpp>

#include <exception>
#include <stdexcept>
#include <string>

namespace {

using encore::Refusal;
using encore::StopReason;
using encore::detail::RunState;

const Refusal steps{
    .reason = StopReason::step_limit_reached, .to_person = "step limit reached: run 4/3", .ends_run = true};
const Refusal money{.reason = StopReason::spend_limit_reached, .to_person = "broke", .ends_run = true};

std::string refusal_of(const std::string& text) {
  return encore_tests::refusal_of([&] { RunState{}.restore(text); });
}

TEST_CASE("each run has a scope of its own, and a new run has another [I2]", "[run_state]") {
  RunState state;
  const auto first = state.scope();
  CHECK_FALSE(first == RunState{}.scope());
  state.new_run();
  CHECK_FALSE(state.scope() == first);
}

TEST_CASE("a run is over for the first reason, until a new run begins", "[run_state]") {
  RunState state;
  CHECK_FALSE(state.over());
  state.end(steps);
  state.end(money);
  CHECK(state.over() == steps);
  state.new_run();
  CHECK_FALSE(state.over());
}

TEST_CASE("a step that was counted is used up by one turn", "[run_state]") {
  RunState state;
  CHECK_FALSE(state.belongs_to_step());
  state.step_begins();
  CHECK(state.belongs_to_step());
  CHECK_FALSE(state.belongs_to_step());
  state.step_begins();
  state.new_run();
  CHECK_FALSE(state.belongs_to_step());
}

TEST_CASE("a step that was counted while the model runs is not counted again after a restart",
          "[run_state]") {
  RunState state;
  state.step_begins();
  RunState resumed;
  resumed.restore(state.save());
  CHECK(resumed.belongs_to_step());
  resumed.restore(RunState{}.save());
  CHECK_FALSE(resumed.belongs_to_step());
}

TEST_CASE("a run's whole state is saved and restored, with its scope, so that keys stay equal [I2]",
          "[run_state]") {
  RunState state;
  state.end(steps);
  CHECK(state.keys().stands_for("order-7", {.name = "ship"}));
  state.unknown_outcomes().add({.call_id = "call-17"});
  const auto saved = state.save();

  RunState resumed;
  resumed.restore(saved);
  CHECK(resumed.scope() == state.scope());
  REQUIRE(resumed.over());
  CHECK(resumed.over()->reason == StopReason::step_limit_reached);
  CHECK(resumed.over()->to_person == "step limit reached: run 4/3");
  CHECK(resumed.over()->ends_run);
  CHECK_FALSE(resumed.keys().stands_for("order-7", {.name = "charge"}));
  CHECK(resumed.unknown_outcomes().all() == state.unknown_outcomes().all());
  CHECK(resumed.save() == saved);
}

TEST_CASE("unknown outcomes and the caller's keys outlive the run [I2, I3]", "[run_state]") {
  RunState state;
  CHECK(state.keys().stands_for("order-7", {.name = "ship"}));
  state.unknown_outcomes().add({.call_id = "call-17"});
  state.new_run();
  CHECK_FALSE(state.keys().stands_for("order-7", {.name = "charge"}));
  CHECK(state.unknown_outcomes().all().size() == 1);
}

TEST_CASE("when any line of a saved run is rejected, nothing changes [I3]", "[run_state]") {
  RunState state;
  state.end(steps);
  static_cast<void>(
      state.pending_calls().issue("call_\xFF", encore::CallSignature{{.name = "ship"}}, state.scope()));
  CHECK(state.keys().stands_for("order-7", {.name = "ship"}));
  const auto error = std::make_exception_ptr(std::runtime_error{"lost"});
  state.unknown_outcomes().add({.call_id = "call_\xFF", .error = error});
  const auto before = state.save();
  const auto other = RunState{}.save() + "{\"state\":\"unknown_outcome\"}\n";
  for (const auto& text : {std::string{"garbage"}, other, before + "{\"state\":\"pending_call\"}\n",
                           before.substr(0, before.rfind('{')) + "{"}) {
    CHECK(refusal_of(text) != "not refused");
    CHECK_THROWS_AS(state.restore(text), std::invalid_argument);
    CHECK(state.save() == before);
    CHECK(state.unknown_outcomes().all().front().error == error);
  }
}

TEST_CASE("text that is not a saved run is rejected by the field's name", "[run_state]") {
  const std::string keys =
      "{\"state\":\"calls\",\"issued\":0}\n{\"state\":\"refused_turns\",\"refused\":0,\"passing\":0}\n"
      "{\"state\":\"keys\",\"keys\":[],\"calls\":[]}\n";
  const std::string digits(32, 'a');
  CHECK(refusal_of("") == "encore: number of tool_run lines = 0 is invalid: it must be 1");
  CHECK(refusal_of("{\"state\":\"tool_run\",\"scope\":\"7\"}\n" + keys) ==
        "encore: scope = \"7\" is invalid: it must be 32 lower-case hexadecimal digits");
  CHECK(refusal_of("{\"state\":\"tool_run\",\"scope\":\"" + digits +
                   "\",\"over\":\"tired\",\"over_because\":\"\"}\n" + keys) ==
        "encore: over = \"tired\" is invalid: there is no such stop reason");
  CHECK(refusal_of("{\"state\":\"tool_run\",\"scope\":\"" + digits + "\"}\n") ==
        "encore: number of keys lines = 0 is invalid: it must be 1");
  CHECK(refusal_of("{\"state\":\"tool_run\",\"scope\":\"" + digits + "\"}\n" +
                   keys.substr(keys.find('\n') + 1)) ==
        "encore: number of calls lines = 0 is invalid: it must be 1");
  CHECK(refusal_of("{\"state\":\"tool_run\",\"scope\":\"" + digits + "\"}\n" + keys) == "not refused");
}

}  // namespace
