#include <encore/agent/tool_catalog.hpp>
#include <encore/agent/tool_handler.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/recorder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <any>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace mine {

struct Stock {
  int units;
};
encore::ToolResult to_tool_result(const Stock& stock) {
  return {.status = stock.units < 0 ? encore::ToolStatus::error : encore::ToolStatus::ok,
          .content = std::to_string(stock.units)};
}
/// Arguments that a host makes of the model's text. Text converts to it, and that is not what is meant.
struct Order {
  Order() = default;
  Order(const std::string& text) : sku{"taken as it is: " + text} {}
  std::string sku{};
};
void from_tool_arguments(std::string_view text, Order& to) {
  if (text.empty()) throw std::invalid_argument{"no order"};
  to.sku = text.substr(1, text.size() - 2);
}
/// One that nobody makes.
struct Untold {
  Untold() = default;
  Untold(const std::string&) {}
  Untold(const encore::ToolCall&) {}
};
/// As a JSON library's value: it converts to text, and throws if it holds none.
struct Value {
  operator std::string() const { throw 42; }
};

}  // namespace mine

namespace {

using encore::Attempt;
using encore::ToolAnswer;
using encore::ToolCall;
using encore::ToolHandler;
using encore::ToolResult;
using encore::ToolStatus;

const ToolCall call{.id = "call-17", .name = "lookup", .arguments = R"({"sku":1})"};

/// A catalog of one tool, and what was heard of its calls.
struct Bench {
  encore::testing::Recorder trace{};
  encore::ToolCatalog catalog{};

  explicit Bench(auto handler) {
    struct Busy {};
    catalog.add("lookup", encore::RetryPolicy{encore::RetryOn<Busy>{}, trace}, std::move(handler));
  }
};
ToolResult answer(auto handler) { return Bench{std::move(handler)}.catalog.handle(call); }
ToolResult ok(std::string content) {
  return {.content = std::move(content), .name = "lookup", .call_id = "call-17"};
}

TEST_CASE("a tool function takes the call or its arguments, and optionally the attempt", "[tool_handler]") {
  CHECK(answer([](const ToolCall& its) { return its.id; }) == ok("call-17"));
  CHECK(answer([](const ToolCall& its, const Attempt& attempt) {
          return its.id + ":" + std::to_string(attempt.ordinal);
        }) == ok("call-17:1"));
  CHECK(answer([](const std::string& arguments) { return arguments; }) == ok(call.arguments));
  CHECK(answer([](std::string_view arguments, const Attempt& attempt) {
          return std::string{arguments} + std::to_string(attempt.ordinal);
        }) == ok(call.arguments + "1"));
  CHECK(answer([](const auto& its) { return its.name; }) == ok("lookup"));  // a generic one is given the call
  CHECK(answer(+[](std::string arguments) { return arguments; }) == ok(call.arguments));
  CHECK(answer(std::function<std::string(const ToolCall&)>{[](const ToolCall& its) { return its.id; }}) ==
        ok("call-17"));
  CHECK(answer(&ToolCall::arguments) == ok(call.arguments));
  STATIC_CHECK_FALSE(ToolHandler<void (*)(int)>);
  STATIC_CHECK_FALSE(ToolHandler<void (*)(ToolCall&)>);
  STATIC_CHECK_FALSE(ToolHandler<int>);
}

TEST_CASE(
    "a tool function takes what its host parses from the arguments, and optionally the attempt (MCP user "
    "report 3)",
    "[tool_handler]") {
  CHECK(answer([](const mine::Order& order) { return order.sku; }) == ok(R"("sku":1)"));
  CHECK(answer([](mine::Order order, const Attempt& attempt) {
          return order.sku + std::to_string(attempt.ordinal);
        }) == ok(R"("sku":11)"));
  Bench bench{[](const mine::Order&) {}};
  CHECK_THROWS_AS(bench.catalog.handle(ToolCall{.id = "call-18", .name = "lookup"}), std::invalid_argument);
}

TEST_CASE("neither text nor a call is converted to a tool's parameter, whatever the type would accept",
          "[tool_handler]") {
  STATIC_CHECK(ToolHandler<void (*)(const mine::Order&)>);
  STATIC_CHECK_FALSE(ToolHandler<void (*)(mine::Order&)>);
  STATIC_CHECK_FALSE(ToolHandler<void (*)(const mine::Untold&)>);
  STATIC_CHECK_FALSE(ToolHandler<void (*)(std::any)>);
  STATIC_CHECK_FALSE(ToolHandler<void (*)(std::variant<std::string, int>, const Attempt&)>);
  STATIC_CHECK_FALSE(ToolHandler<void (*)(const std::filesystem::path&)>);
  // What could take anything is given the call.
  const auto bound = std::bind_front([](int, const ToolCall&) {}, 1);
  STATIC_CHECK(ToolHandler<std::remove_const_t<decltype(bound)>>);
  const auto bound_to_text = std::bind_front([](int, const std::string&) {}, 1);
  STATIC_CHECK_FALSE(ToolHandler<std::remove_const_t<decltype(bound_to_text)>>);
}

TEST_CASE("a tool function returns a result, text, nothing, or a type with its own conversion to a result",
          "[tool_handler]") {
  CHECK(answer([](const ToolCall&) { return ToolResult{.content = "17"}; }) == ok("17"));
  CHECK(answer([](const ToolCall&) { return "17"; }) == ok("17"));
  CHECK(answer([](const ToolCall&) { return std::string_view{"17"}; }) == ok("17"));
  CHECK(answer([](const ToolCall&) {}) == ok(""));
  CHECK(answer([](const ToolCall&) { return mine::Stock{17}; }) == ok("17"));
  CHECK(answer([](const ToolCall&) { return mine::Stock{-1}; }).is_error());
  const std::string kept = "17";
  CHECK(answer([&](const ToolCall&) -> const std::string& { return kept; }) == ok("17"));
}

TEST_CASE(
    "a type that is merely convertible is not a tool's answer: a conversion that throws would look like a "
    "failed tool",
    "[tool_handler]") {
  STATIC_CHECK_FALSE(ToolAnswer<mine::Value>);
  STATIC_CHECK_FALSE(ToolAnswer<int>);
  STATIC_CHECK_FALSE(ToolAnswer<bool>);
  STATIC_CHECK(ToolAnswer<mine::Stock> && ToolAnswer<const ToolResult&> && ToolAnswer<void>);
}

TEST_CASE("a tool's answer has the call's identity, unless the tool set its own", "[tool_handler]") {
  CHECK(answer([](const ToolCall&) { return ToolResult{.name = "lookup_v2", .call_id = "other"}; }) ==
        ToolResult{.name = "lookup_v2", .call_id = "other"});
}

TEST_CASE("an error result is marked on its attempt [B8]", "[tool_handler]") {
  const auto marked = [](auto handler) {
    Bench bench{std::move(handler)};
    bench.catalog.handle(call);
    return bench.trace.events().at(1).error_result;
  };
  CHECK_FALSE(marked([](const ToolCall&) { return "fine"; }));
  CHECK(marked([](const ToolCall&) { return ToolResult{.status = ToolStatus::error}; }));
}

TEST_CASE("a tool function that is mutable or cannot be copied is called as it is", "[tool_handler]") {
  Bench bench{[n = std::make_unique<int>(0)](const ToolCall&) mutable { return std::to_string(++*n); }};
  CHECK(bench.catalog.handle(call).content == "1");
  CHECK(bench.catalog.handle(call).content == "2");
}

}  // namespace
