#include <encore/agent/tool_call.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace {

using encore::ToolCall;
using encore::ToolCallLike;
using encore::shared::operation_key_of;

// The shape of llama.cpp's common_chat_tool_call.
struct ChatToolCall {
  std::string name;
  std::string arguments;
  std::string id;
};
struct ViewOfCall {
  std::string_view id;
  std::string_view name;
  const char* arguments;
  std::string_view operation_key;
};
struct Parsed {
  int tokens;
};
struct CallWithParsedArguments {
  std::string id;
  std::string name;
  Parsed arguments;
};
struct CallWithNumber {
  int id;
  std::string name;
  std::string arguments;
};
struct CallWithoutId {
  std::string name;
  std::string arguments;
};
struct CallWithOtherKey {
  std::string id;
  std::string name;
  std::string arguments;
  int operation_key;
};

static_assert(ToolCallLike<ToolCall>);
static_assert(ToolCallLike<ChatToolCall>);
static_assert(ToolCallLike<ViewOfCall>);
static_assert(ToolCallLike<CallWithOtherKey>);
static_assert(!ToolCallLike<CallWithParsedArguments>);
static_assert(!ToolCallLike<CallWithNumber>);
static_assert(!ToolCallLike<CallWithoutId>);
static_assert(!ToolCallLike<std::string>);

TEST_CASE("a tool call is a regular value", "[tool_call]") {
  const ToolCall call{.id = "call-17", .name = "lookup", .arguments = R"({"sku":"A-17"})"};
  auto copy = call;
  CHECK(copy == call);
  copy.arguments += ' ';
  CHECK_FALSE(copy == call);
  CHECK(ToolCall{} == ToolCall{});
}

TEST_CASE("an operation key is read from a call type that has one as text, and is empty otherwise [I2]",
          "[tool_call]") {
  CHECK(operation_key_of(ToolCall{.id = "call-17", .operation_key = "order-7"}) == "order-7");
  CHECK(operation_key_of(ViewOfCall{
            .id = "call-17", .name = {}, .arguments = "", .operation_key = "order-7"}) == "order-7");
  CHECK(operation_key_of(ChatToolCall{.name = "ship", .arguments = "", .id = "call-17"}).empty());
  CHECK(operation_key_of(CallWithOtherKey{.id = "1", .name = "ship", .arguments = "", .operation_key = 7})
            .empty());
}

}  // namespace
