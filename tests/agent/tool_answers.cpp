#include <encore/agent/tool_answers.hpp>

#include <catch2/catch_test_macros.hpp>

#include <exception>
#include <stdexcept>
#include <vector>

namespace {

using encore::ToolAnswers;
using encore::ToolResult;

TEST_CASE("tool answers are a vector of results, and convert to a plain one", "[tool_answers]") {
  const ToolAnswers answers{{.content = "1"}, {.content = "2"}};
  const std::vector<ToolResult> plain = answers;
  CHECK(plain == std::vector<ToolResult>{{.content = "1"}, {.content = "2"}});
}

TEST_CASE("the exceptions that escaped a batch can be rethrown: the first, the same object [B3, G1]",
          "[tool_answers]") {
  ToolAnswers answers(3);
  CHECK_NOTHROW(answers.rethrow_escaped());
  const auto first = std::make_exception_ptr(std::logic_error{"bug"});
  answers.escaped = {{0, first}, {2, std::make_exception_ptr(std::runtime_error{"later"})}};
  std::exception_ptr caught;
  try {
    answers.rethrow_escaped();
  } catch (const std::logic_error&) {
    caught = std::current_exception();
  }
  CHECK(caught == first);
}

}  // namespace
