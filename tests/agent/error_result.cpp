#include <encore/agent/error_result.hpp>
#include <encore/agent/tool_retry.hpp>
#include <encore/combined_predicates.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>

#include <map>
#include <optional>
#include <stdexcept>
#include <string>

namespace mcp {

// The shape of an MCP server's answer.
struct CallToolResult {
  std::string text;
  bool isError = false;
};
bool is_error_result(const CallToolResult& result) { return result.isError; }

}  // namespace mcp

namespace {

using encore::ErrorResultIf;
using encore::SaysIfError;
using encore::ToolResult;
using encore::ToolStatus;

using Json = std::map<std::string, std::string>;  // any type of a library's that cannot be extended

/// As std::expected, which C++20 has not.
template <class T>
struct Expected {
  std::optional<T> value;
  std::string why;
  bool has_value() const { return value.has_value(); }
  const std::string& error() const { return why; }
};

/// True if a tool layer, with these tests, marks what its tool returned as an error.
template <class Result, class... Test>
bool is_error(const Result& result, const Test&... tests) {
  encore::testing::Recorder trace;
  const encore::ToolRetry tools{encore::RetryPolicy{encore::RetryOn<std::runtime_error>{}},
                                encore::Repeatable{"lookup"}, tests..., trace};
  tools.handle(encore::ToolCall{.id = "call-17", .name = "lookup"},
               [&](const encore::ToolCall&) { return result; });
  return trace.events().at(1).error_result;
}
template <class Test, class Result>
bool is_error_by(const Test& test, const Result& result) {
  return is_error(result, test);
}
template <class Result, class Test>
constexpr bool takes(const Test&) {
  return Test::template takes<Result>;
}

TEST_CASE(
    "a result that reports its own failure is an error result: a tool result, an MCP answer, an expected "
    "[B6, B8]",
    "[error_result]") {
  CHECK(is_error_result(ToolResult{.status = ToolStatus::error}));
  CHECK_FALSE(is_error_result(ToolResult{.content = "error: not really"}));
  CHECK(is_error_result(mcp::CallToolResult{.text = "gone", .isError = true}));
  CHECK_FALSE(is_error_result(mcp::CallToolResult{.text = "here"}));
  CHECK(encore::is_error_result(Expected<int>{.value = {}, .why = "gone"}));
  CHECK_FALSE(encore::is_error_result(Expected<int>{.value = 17, .why = {}}));
}

TEST_CASE("results of other types are never guessed to be errors [B8]", "[error_result]") {
  STATIC_CHECK_FALSE(SaysIfError<bool>);
  STATIC_CHECK_FALSE(SaysIfError<std::optional<int>>);
  STATIC_CHECK_FALSE(SaysIfError<int>);
  STATIC_CHECK_FALSE(SaysIfError<std::string>);
  STATIC_CHECK_FALSE(SaysIfError<Json>);
  STATIC_CHECK(SaysIfError<mcp::CallToolResult>);
  CHECK_FALSE(is_error(false));
  CHECK(is_error(ToolResult{.status = ToolStatus::error}));
}

TEST_CASE(
    "ErrorResultIf recognizes errors in types that cannot be extended: a bool, an optional, JSON with a "
    "status [B6, B8]",
    "[error_result]") {
  CHECK(is_error_by(ErrorResultIf{[](bool ok) { return !ok; }}, false));
  CHECK_FALSE(is_error_by(ErrorResultIf{[](bool ok) { return !ok; }}, true));

  const ErrorResultIf empty{[](const std::optional<int>& found) { return !found; }};
  CHECK(is_error_by(empty, std::optional<int>{}));
  CHECK_FALSE(is_error_by(empty, std::optional{17}));

  const ErrorResultIf status{[](const Json& answer) {
    const auto found = answer.find("status");
    return found != answer.end() && found->second == "error";
  }};
  CHECK(is_error_by(status, Json{{"status", "error"}}));
  CHECK_FALSE(is_error_by(status, Json{{"status", "ok"}}));
  CHECK_FALSE(is_error_by(status, Json{{"error", "status"}}));
}

TEST_CASE("ErrorResultIf is evaluated instead of the type's own mark, and only for the types it takes",
          "[error_result]") {
  const ErrorResultIf lenient{[](const mcp::CallToolResult& answer) { return answer.text == "fatal"; }};
  CHECK_FALSE(is_error_by(lenient, mcp::CallToolResult{.text = "gone", .isError = true}));
  CHECK(is_error_by(lenient, mcp::CallToolResult{.text = "fatal"}));
  CHECK(is_error_by(lenient, ToolResult{.status = ToolStatus::error}));
  CHECK_FALSE(is_error_by(lenient, false));
}

TEST_CASE(
    "ErrorResultIf is evaluated for what it takes without a conversion, and for the error of an expected "
    "result [B9]",
    "[error_result]") {
  const ErrorResultIf not_true{[](bool ok) { return !ok; }};
  STATIC_CHECK(takes<bool>(not_true));
  STATIC_CHECK_FALSE(takes<int>(not_true));  // 0 units on stock are no error
  STATIC_CHECK_FALSE(takes<const char*>(not_true));
  STATIC_CHECK_FALSE(SaysIfError<int> || SaysIfError<const char*>);
  const ErrorResultIf base{[](const mcp::CallToolResult& answer) { return answer.isError; }};
  struct Derived : mcp::CallToolResult {};
  CHECK(is_error_by(base, Derived{{.text = "", .isError = true}}));
  const ErrorResultIf fatal{[](const std::string& why) { return why == "fatal"; }};
  CHECK(is_error_by(fatal, Expected<int>{.value = {}, .why = "fatal"}));
  CHECK_FALSE(is_error_by(fatal, Expected<int>{.value = {}, .why = "not found"}));
  CHECK_FALSE(is_error_by(fatal, Expected<int>{.value = 17, .why = "fatal"}));
}

TEST_CASE("an ErrorResultIf that throws does not make the result an error: the tool has run [B7]",
          "[error_result]") {
  const ErrorResultIf broken{[](int) -> bool { throw std::runtime_error{"cannot read it"}; }};
  CHECK_FALSE(is_error_by(broken, 17));
}

TEST_CASE("returned errors are retried where a predicate says so, and are successes otherwise [B8]",
          "[error_result]") {
  using namespace encore::testing;
  FakeClock clock;
  const ToolResult busy{.status = ToolStatus::error, .content = "busy"};
  const ToolResult done{.content = "done"};

  const encore::RetryPolicy patient{encore::RetryIfErrorResult{}, encore::MaxRetries{2}, clock};
  Scripted<ToolResult> tool{returns(busy), returns(busy), returns(done)};
  CHECK(patient.run(tool) == done);
  CHECK(tool.calls() == 3);

  const encore::RetryPolicy plain{encore::RetryOn<std::runtime_error>{}, encore::MaxRetries{2}, clock};
  Scripted<ToolResult> same{returns(busy)};
  CHECK(plain.run(same) == busy);
  CHECK(same.calls() == 1);

  const encore::RetryPolicy either{encore::RetryOn<std::runtime_error>{} || encore::RetryIfErrorResult{},
                                   clock};
  Scripted<ToolResult> both{throws<std::runtime_error>("down"), returns(busy), returns(done)};
  CHECK(either.run(both) == done);
}

}  // namespace
