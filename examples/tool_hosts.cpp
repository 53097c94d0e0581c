// LIBRARIES: nlohmann_json::nlohmann_json
// The same retried tool in the shapes that three hosts have for tools: llama.cpp's chat, an MCP server's handler (cpp-mcp), and
// ai-sdk-cpp's function. The types below stand for theirs, field by field.
#include <encore/agent/model_text.hpp>
#include <encore/agent/tool_retry.hpp>
#include <encore/encore.hpp>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using nlohmann::json;

namespace {

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};

// Stands for a request to a server, which is too slow every other time, and does not know every SKU.
int units_of(const std::string& sku) {
  static int requests = 0;
  if (++requests % 2 == 1 || sku == "slow") throw TimeoutError{"no answer from stock-3.internal"};
  return sku == "A-17" ? 17 : 0;
}

const encore::RetryPolicy lookup_policy{
    encore::RetryOn<TimeoutError>{},
    encore::MaxRetries{2},
    encore::ExponentialBackoff{.initial_delay = 1ms},
};
const encore::Repeatable lookups{"inventory_lookup"};

// ---- llama.cpp: the model's calls are structs, and the answers go back as messages ------------------------------------

struct common_chat_tool_call {
  std::string name;
  std::string arguments;
  std::string id;
};
struct common_chat_msg {
  std::string role;
  std::string content;
  std::string tool_name;
  std::string tool_call_id;
};

common_chat_msg answer_of(const common_chat_tool_call& call) {
  static const encore::ToolRetry tools{lookup_policy, lookups, encore::TellModel{}};
  const auto result =
      tools.handle(call, [](const common_chat_tool_call& its, const encore::Attempt&) -> encore::ToolResult {
        const auto sku = json::parse(its.arguments).at("sku").get<std::string>();
        return {.content = std::to_string(units_of(sku))};
      });
  return {"tool", result.content, call.name, call.id};
}

// ---- cpp-mcp: a handler takes the arguments and the session, and answers with content or with isError -----------------

using mcp_handler = std::function<json(const json&, const std::string&)>;

json mcp_text(const std::string& text, bool is_error) {
  return {{"content", json::array({{{"type", "text"}, {"text", text}}})}, {"isError", is_error}};
}

mcp_handler retried(std::string name, mcp_handler handler) {
  const encore::ToolRetry tools{
      lookup_policy, lookups,
      encore::ErrorResultIf{[](const json& result) { return result.value("isError", false); }},
      encore::FormatFailure{
          [](const encore::Failure& failure) { return mcp_text(encore::tell_model(failure), true); }}};
  return [=](const json& arguments, const std::string& session) {
    const encore::ToolCall call{.name = name, .arguments = arguments.dump()};
    return tools.handle(call, [&](const encore::ToolCall&) { return handler(arguments, session); });
  };
}

// ---- ai-sdk-cpp: a function takes the arguments and a context with the call's id, and may throw -------------------------

struct ToolExecutionContext {
  std::string tool_call_id;
};
using ToolExecuteFunction = std::function<json(const json&, const ToolExecutionContext&)>;

ToolExecuteFunction retried(std::string name, ToolExecuteFunction execute) {
  const encore::ToolRetry tools{lookup_policy, lookups};
  return [=](const json& arguments, const ToolExecutionContext& context) {
    const encore::ToolCall call{.id = context.tool_call_id, .name = name, .arguments = arguments.dump()};
    return tools.handle(call, [&](const encore::ToolCall&) { return execute(arguments, context); });
  };
}

}  // namespace

int main() {
  for (const auto* arguments : {R"({"sku":"A-17"})", R"({"sku":"slow"})"}) {
    const auto message = answer_of({"inventory_lookup", arguments, "call-1"});
    fmt::print("llama.cpp   {} {}: {}\n", message.tool_call_id, message.role, message.content);
  }

  const auto mcp = retried("inventory_lookup", mcp_handler{[](const json& arguments, const std::string&) {
                             return mcp_text(std::to_string(units_of(arguments.at("sku"))), false);
                           }});
  for (const auto* sku : {"A-17", "slow"})
    fmt::print("cpp-mcp     {}\n", mcp({{"sku", sku}}, "session-3").dump());

  const auto execute = retried(
      "inventory_lookup", ToolExecuteFunction{[](const json& arguments, const ToolExecutionContext&) -> json {
        return {{"units", units_of(arguments.at("sku"))}};
      }});
  fmt::print("ai-sdk-cpp  {}\n", execute({{"sku", "A-17"}}, {"call-2"}).dump());
  try {
    execute({{"sku", "slow"}}, {"call-3"});
  } catch (const TimeoutError& error) {
    fmt::print("ai-sdk-cpp  {}\n", error.what());
  }
}
