// A tool call as a model issued it.
#pragma once
#include <concepts>
#include <string>
#include <string_view>

namespace encore {

/// One call of a tool, for callers who have no type of their own. A regular value.
struct ToolCall {
  std::string id{};             ///< from the model or the host; may be empty
  std::string name{};           ///< of the tool, as the model wrote it
  std::string arguments{};      ///< as the model wrote them, byte for byte; mostly JSON
  std::string operation_key{};  ///< the host's idempotency key, if one must outlive the model's turn (I2)

  friend bool operator==(const ToolCall&, const ToolCall&) = default;
};

/// Any type with the text members `id`, `name` and `arguments`, such as llama.cpp's `common_chat_tool_call`: the tool layer reads
/// these three, and the text member `operation_key` if there is one; callables get the object itself.
template <class C>
concept ToolCallLike = requires(const C& call) {
  { call.id } -> std::convertible_to<std::string_view>;
  { call.name } -> std::convertible_to<std::string_view>;
  { call.arguments } -> std::convertible_to<std::string_view>;
};
static_assert(ToolCallLike<ToolCall>);

namespace shared {

/// The key by which the host recognises the operation again, whatever id a model gives it; empty if there is none. (I2)
template <ToolCallLike C>
std::string_view operation_key_of(const C& call) {
  if constexpr (requires {
                  { call.operation_key } -> std::convertible_to<std::string_view>;
                })
    return call.operation_key;
  else
    return {};
}

}  // namespace shared

}  // namespace encore
