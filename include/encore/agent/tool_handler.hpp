// How a tool's function is called, and how its result becomes an answer.
#pragma once
#include <encore/agent/tool_call.hpp>
#include <encore/agent/tool_result.hpp>
#include <encore/attempt.hpp>
#include <encore/engine/erased_operation.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

/// The customisation point of a tool's arguments: a function `from_tool_arguments(std::string_view text, T& arguments)` beside
/// the type parses the text that the model wrote, once for each attempt. What it throws is the attempt's failure: with a
/// `ToolError` it tells the model what is wrong with the arguments.
///   namespace nlohmann { inline void from_tool_arguments(std::string_view text, json& to) { to = json::parse(text); } }
/// allows `tools.add("lookup", [](const nlohmann::json& arguments) { … })`.
template <class T>
concept ToolArguments = std::default_initializable<T> && requires(std::string_view text, T& arguments) {
  from_tool_arguments(text, arguments);
};

namespace detail {

template <class R, class... T>
inline constexpr bool is_one_of = (std::same_as<std::remove_cvref_t<R>, T> || ...);

template <class H, class A>
concept Handles = std::invocable<H&, A, const Attempt&> || std::invocable<H&, A>;

// The first parameter of a function that is neither a template nor overloaded.
template <class R, class A, class... B>
std::type_identity<A> first_parameter(R (*)(A, B...));
template <class R, class C, class A, class... B>
std::type_identity<A> first_parameter(R (C::*)(A, B...));
template <class R, class C, class A, class... B>
std::type_identity<A> first_parameter(R (C::*)(A, B...) const);
template <class R, class C, class A, class... B>
std::type_identity<A> first_parameter(R (C::*)(A, B...) &);
template <class R, class C, class A, class... B>
std::type_identity<A> first_parameter(R (C::*)(A, B...) const&);

template <class H>
struct tool_parameter : std::type_identity<const ToolCall&> {};  // for a template
template <class H>
  requires requires(H h) { first_parameter(h); } && (!std::is_member_pointer_v<H>)
struct tool_parameter<H> : decltype(first_parameter(std::declval<H>())){};
template <class H>
  requires requires { first_parameter(&H::operator()); }
struct tool_parameter<H> : decltype(first_parameter(&H::operator())){};

/// The type of the argument of a tool's function.
template <class H>
using tool_argument_t = std::remove_cvref_t<typename tool_parameter<H>::type>;

}  // namespace detail

/// A tool's function takes, as its first parameter,
/// - the call: `const ToolCall&`, or anything, as a template does;
/// - the arguments as the model wrote them: `const std::string&` or `std::string_view`;
/// - or the parsed arguments: a type with `from_tool_arguments`;
/// and optionally the attempt as its second: `const Attempt&`. No other conversions are made.
///   [](const ToolCall& call, const Attempt& attempt) { … }     [](std::string_view arguments) { … }
template <class H>
concept ToolHandler =
    (detail::is_one_of<detail::tool_argument_t<H>, ToolCall, std::string, std::string_view> ||
     ToolArguments<detail::tool_argument_t<H>>) &&
    detail::Handles<H, const detail::tool_argument_t<H>&>;

/// The types that such a function may return: `ToolResult`, text, void, or a type with a function `to_tool_result(const T&)`
/// beside it, which returns a `ToolResult`. No other conversions are made: one that throws would look like a failed tool.
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

/// A readable compile error for a function that is not a tool's.
template <class H>
consteval void require_tool_handler() {
  static_assert(
      ToolHandler<H>,
      "a tool's function takes `const encore::ToolCall&`, or the arguments' text as `std::string_view` or "
      "`const std::string&`, or a `const T&` with a function `void from_tool_arguments(std::string_view, "
      "T&)` beside T; and optionally `const encore::Attempt&` after it");
}

/// One attempt of a tool. If the function leaves the answer's name or call id empty, they are those of the call.
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
    using Argument = tool_argument_t<H>;
    if constexpr (std::same_as<Argument, ToolCall>) {
      return answer(call);
    } else if constexpr (std::same_as<Argument, std::string>) {
      return answer(call.arguments);
    } else if constexpr (std::same_as<Argument, std::string_view>) {
      return answer(std::string_view{call.arguments});
    } else {
      Argument arguments{};
      from_tool_arguments(std::string_view{call.arguments}, arguments);
      return answer(arguments);
    }
  }();
  if (result.name.empty()) result.name = call.name;
  if (result.call_id.empty()) result.call_id = call.id;
  if (result.is_error()) attempt.mark_error_result();
  return result;
}

}  // namespace detail

}  // namespace encore ENCORE_BUILD
