// How a tool's function is called, and how what it returns becomes an answer.
#pragma once
#include <encore/attempt.hpp>
#include <encore/operation.hpp>
#include <encore/tool/tool_call.hpp>
#include <encore/tool/tool_result.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace encore {

namespace detail {

template <class H, class... A>
concept Handles = std::invocable<H&, A..., const Attempt&> || std::invocable<H&, A...>;

}  // namespace detail

/// A tool's function takes the call or only its arguments, and the attempt if it wants: `h(const ToolCall&, const Attempt&)`,
/// `h(const ToolCall&)`, `h(const std::string& arguments, const Attempt&)` or `h(const std::string& arguments)`.
template <class H>
concept ToolHandler = detail::Handles<H, const ToolCall&> || detail::Handles<H, const std::string&>;

namespace detail {

template <class R, class... T>
inline constexpr bool is_one_of = (std::same_as<std::remove_cvref_t<R>, T> || ...);

}  // namespace detail

/// What such a function may return: a `ToolResult`, text, nothing, or a type with a function `to_tool_result(const T&)` beside
/// it, which returns a `ToolResult`. Exactly these: a conversion that throws would look like a tool that failed.
template <class R>
concept ToolAnswer =
    std::is_void_v<R> || detail::is_one_of<R, ToolResult, std::string, std::string_view, const char*> ||
    requires(const std::remove_cvref_t<R>& result) {
      { to_tool_result(result) } -> std::same_as<ToolResult>;
    };

namespace detail {

template <class R>
ToolResult as_tool_result(R&& result) {
  if constexpr (is_one_of<R, ToolResult>)
    return std::forward<R>(result);
  else if constexpr (is_one_of<R, std::string, std::string_view, const char*>)
    return {.content = std::string{std::forward<R>(result)}};
  else
    return to_tool_result(result);
}

/// One attempt of a tool. What the function left empty of the answer's identity is that of the call.
template <ToolHandler H>
ToolResult call_tool(H& handler, const ToolCall& call, const Attempt& attempt) {
  const auto answer = [&](const auto& argument) {
    using R = decltype(invoke_attempt(handler, attempt, argument));
    static_assert(ToolAnswer<R>,
                  "a tool returns a ToolResult, text or nothing; for a type of your own write a function "
                  "`encore::ToolResult to_tool_result(const T&)` beside it");
    if constexpr (std::is_void_v<R>) {
      invoke_attempt(handler, attempt, argument);
      return ToolResult{};
    } else if constexpr (ToolAnswer<R>) {
      return as_tool_result(invoke_attempt(handler, attempt, argument));
    }
  };
  auto result = [&] {
    if constexpr (Handles<H, const ToolCall&>)
      return answer(call);
    else
      return answer(call.arguments);
  }();
  if (result.name.empty()) result.name = call.name;
  if (result.call_id.empty()) result.call_id = call.id;
  if (result.is_error()) attempt.mark_error_result();
  return result;
}

}  // namespace detail

}  // namespace encore
