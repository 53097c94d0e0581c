#include <encore/agent/tool_result.hpp>

#include <catch2/catch_test_macros.hpp>

#include <sstream>

namespace {

using encore::ToolResult;
using encore::ToolStatus;

static_assert(to_string(ToolStatus::ok) == "ok");
static_assert(to_string(ToolStatus::error) == "error");

TEST_CASE("a tool result is a regular value whose status is ok by default", "[tool_result]") {
  const ToolResult result{.content = "17 units", .name = "lookup", .call_id = "call-17"};
  CHECK_FALSE(result.is_error());
  CHECK(ToolResult{.status = ToolStatus::error}.is_error());
  auto copy = result;
  CHECK(copy == result);
  copy.status = ToolStatus::error;
  CHECK_FALSE(copy == result);
}

TEST_CASE("a failing test shows a tool status by its name", "[tool_result]") {
  std::ostringstream out;
  out << encore::ToolStatus::error;
  CHECK(out.str() == "error");
}

}  // namespace
