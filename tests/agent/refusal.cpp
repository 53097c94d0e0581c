#include <encore/agent/refusal.hpp>

#include <catch2/catch_test_macros.hpp>

namespace {

using encore::not_called;
using encore::Refusal;
using encore::StopReason;

TEST_CASE("a default refusal has the reason refused_by_guard and does not end the run", "[refusal]") {
  CHECK(Refusal{} ==
        Refusal{.reason = StopReason::refused_by_guard, .to_model = "", .to_person = "", .ends_run = false});
  CHECK_FALSE(Refusal{} == Refusal{.ends_run = true});
}

TEST_CASE("a refusal's text for the model names the tool, if there is one", "[refusal]") {
  CHECK(not_called("search", "its call limit is reached.") ==
        R"(The tool "search" was not called: its call limit is reached.)");
  CHECK(not_called("", "the step limit is reached.") == "The call was not made: the step limit is reached.");
}

}  // namespace
