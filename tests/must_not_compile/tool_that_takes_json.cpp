// EXPECT: a tool's function takes `const encore::ToolCall&`, or the arguments' text
// EXPECT: from_tool_arguments(std::string_view, T&)
#include <encore/agent/tool_catalog.hpp>

#include <concepts>
#include <string>
#include <string_view>

// As a JSON library's value: text converts to it, and becomes a JSON string instead of what it says.
struct Json {
  Json() = default;
  template <class Text>
    requires std::constructible_from<std::string, Text>
  Json(const Text& text) : string{text} {}
  std::string string{};
};
#ifdef ENCORE_FIXED
inline void from_tool_arguments(std::string_view text, Json& to) { to.string = text; }
#endif

void test(encore::ToolCatalog& catalog) {
  catalog.add("lookup", [](const Json& arguments) { return arguments.string; });
}
