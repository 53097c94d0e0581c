#include <encore/agent/refused_turns.hpp>

#include <catch2/catch_test_macros.hpp>

#include <stdexcept>
#include <string>

namespace {

using encore::RefusedTurns;
using encore::StopReason;
using encore::UnlimitedTurns;
using encore::detail::RefusedTurnCount;
using encore::detail::TurnOutcome;

/// After how many of these turns the run is over; 0: it is not. 'm' made, 'r' refused, 'p' passing.
int over_after(const std::string& turns, const RefusedTurns& limits = {}) {
  RefusedTurnCount count;
  int turn = 0;
  for (const char kind : turns) {
    ++turn;
    const auto outcome = kind == 'm'   ? TurnOutcome::made
                         : kind == 'r' ? TurnOutcome::refused
                                       : TurnOutcome::passing;
    if (count.add(outcome, StopReason::loop_detected, limits)) return turn;
  }
  return 0;
}

TEST_CASE(
    "three refused turns in a row end a run, twenty if the refusals are temporary, and a call that runs "
    "restarts the count [H9]",
    "[refused_turns]") {
  CHECK(over_after("rr") == 0);
  CHECK(over_after("rrr") == 3);
  CHECK(over_after("rrmrrmrrr") == 9);
  CHECK(over_after(std::string(19, 'p')) == 0);
  CHECK(over_after(std::string(20, 'p')) == 20);
  CHECK(over_after(std::string(19, 'p') + 'm' + std::string(19, 'p')) == 0);
  CHECK(over_after("rprppr") == 6);  // one kind does not begin the other's count anew
}

TEST_CASE("each limit of refused turns can be set, and unlimited has a name [A1, H9]", "[refused_turns]") {
  const std::string many(1'000, 'r');
  CHECK(over_after(many, {.by_limits = 1}) == 1);
  CHECK(over_after(many, {.by_limits = 7}) == 7);
  CHECK(over_after(many, {.by_limits = UnlimitedTurns{}}) == 0);
  CHECK(over_after(std::string(1'000, 'p'), {.passing = UnlimitedTurns{}}) == 0);
  CHECK(over_after("ppp", {.passing = 2}) == 2);
}

TEST_CASE(
    "the count of refused turns continues after a restart, and text that is not a count changes nothing [H9]",
    "[refused_turns]") {
  RefusedTurnCount count;
  CHECK_FALSE(count.add(TurnOutcome::refused, StopReason::unknown_tool, {}));
  CHECK_FALSE(count.add(TurnOutcome::refused, StopReason::unknown_tool, {}));
  RefusedTurnCount resumed;
  resumed.restore(count.save());
  CHECK(resumed.save() == R"({"state":"refused_turns","refused":2,"passing":0})"
                          "\n");
  CHECK_THROWS_AS(resumed.restore(R"({"state":"refused_turns","refused":0,"passing":-1})"),
                  std::invalid_argument);
  const auto end = resumed.add(TurnOutcome::refused, StopReason::unknown_tool, {});
  REQUIRE(end);
  CHECK(end->reason == StopReason::run_over);
  CHECK(end->ends_run);
  resumed.new_run();
  CHECK_FALSE(resumed.add(TurnOutcome::refused, StopReason::unknown_tool, {}));
}

}  // namespace
