// The tools of an agent: each with its function, its policy, and whether it may be repeated.
#pragma once
#include <encore/agent/refusal.hpp>
#include <encore/agent/repeatable.hpp>
#include <encore/agent/tool_call.hpp>
#include <encore/agent/tool_description.hpp>
#include <encore/agent/tool_handler.hpp>
#include <encore/agent/tool_result.hpp>
#include <encore/call.hpp>
#include <encore/detail/agent/any_tool.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/engine/replay_safety_text.hpp>
#include <encore/limits.hpp>
#include <encore/nesting.hpp>
#include <encore/predicate.hpp>
#include <encore/retry_policy.hpp>
#include <encore/setting.hpp>

#include <concepts>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

/// The resolved name, in events, of every tool that a catalog does not have. (H9)
inline constexpr std::string_view unknown_tool_name = "(unknown)";

namespace detail {

/// The filter of a tool that runs once: the model is told of every exception. Without exceptions it is not asked.
struct AnyException : RetryOnEveryException {
  template <class V>
  static consteval Kinds kinds() {
    return {.exceptions = true};
  }
};

}  // namespace detail

/// Tools by name. Defaults are the most careful: a tool without a policy runs once, an undeclared one is never repeated, whatever
/// its policy allows, and no tool takes another's policy. (I1)
///   ToolCatalog catalog;
///   catalog.add("inventory_lookup", ReplaySafety::repeatable, lookup_policy, lookup);
///   catalog.add("charge_card", charge);
/// A policy without a failure strategy gets `TellModel`. Copies share the tools. Once it is filled, it may be used from any
/// number of threads, which may call each tool's function at the same time.
class ToolCatalog {
 public:
  ToolCatalog() = default;
  /// A catalog whose tools may switch stacks, or end on another thread. (J3)
  explicit ToolCatalog(OnFibers fibers) noexcept : fibers_{fibers} {}

  /// Adds a tool that runs once. Throws `std::invalid_argument` for a name that is empty or taken.
  template <class Handler>
  void add(std::string_view name, Handler handler) {
    const RetryPolicy once{detail::AnyException{}, MaxRetries{0}};
    insert(ToolDescription{.name = std::string{name}}, once, std::move(handler));
  }
  /// Adds a tool with its policy and its replay safety. Throws like the above, and if `replay` is `excluded`.
  template <class C, class P, class X, class Handler>
  void add(std::string_view name, ReplaySafety replay, const RetryPolicy<C, P, X>& policy, Handler handler) {
    if (replay > ReplaySafety::never)
      refuse_setting("replay", to_string(replay),
                     "is invalid: it must be repeatable, repeatable_with_key or never");
    const auto answering = detail::catalog_policy(policy, fibers_);
    insert(detail::describe_tool(name, replay, answering), policy, std::move(handler));
  }
  template <class C, class P, class X, class Handler>
  void add(std::string_view name, const RetryPolicy<C, P, X>& policy, Handler handler) {
    add(name, ReplaySafety::never, policy, std::move(handler));
  }

  /// Adds another name for a tool. Throws `std::invalid_argument` if it is empty or taken, or if there is no such tool.
  void alias(std::string_view other, std::string_view name) {
    if (find(name) == nullptr) refuse_setting("name", in_quotes(name), "is invalid: there is no such tool");
    insert(other, find(name));
  }

  /// Sets the policy for calls of tools that the catalog does not have: its observers are notified that such a call was refused,
  /// and its failure strategy answers, both with `StopReason::unknown_tool`. Events have the model's name for the tool, and the
  /// resolved name `unknown_tool_name`, so that counters have one name for all of them. By default there are no observers. (H9)
  ///   tools.for_unknown_tools(tool_policy);
  template <class C, class P, class X>
  void for_unknown_tools(const RetryPolicy<C, P, X>& policy) {
    unknown_ = unknown(policy);
  }

  /// Makes the call. An unknown tool is answered with an error. Throws what the tool's policy propagates: exceptions that it does
  /// not match. (B3)
  template <ToolCallLike C>
  ToolResult handle(const C& call, const Call& with = {}) const;

  /// The names in the lists that are neither a tool's name nor an alias, for a test of declarations or of a configuration.
  ///   CHECK(catalog.unknown_names(tools).empty());
  template <class Lists>
    requires requires(const Lists& lists) {
      { lists.names() } -> std::convertible_to<ToolNames>;
    }
  ToolNames unknown_names(const Lists& lists) const {
    ToolNames unknown;
    for (const auto& name : lists.names())
      if (find(name) == nullptr) unknown.insert(name);
    return unknown;
  }

  /// Every tool, sorted by name, without aliases.
  ToolDescriptions describe() const {
    ToolDescriptions all;
    for (const auto& [name, tool] : tools_)
      if (name == tool->description().name) all.push_back(tool->description());
    return all;
  }

  /// For encore's own use: the tool, or null if there is none. Valid as long as the catalog or a copy of it.
  const detail::AnyTool* tool(std::string_view name) const { return find(name).get(); }
  /// For encore's own use: stands for every unknown tool and refuses its calls. Valid until `for_unknown_tools`.
  const detail::AnyTool& unknown_tool() const noexcept { return *unknown_; }

 private:
  using Tool = std::shared_ptr<const detail::AnyTool>;

  template <class Policy, class Handler>
  Tool make(ToolDescription description, const Policy& policy, Handler&& handler) const {
    auto answering = detail::catalog_policy(policy, fibers_);
    return std::make_shared<const detail::ToolOf<decltype(answering), std::remove_cvref_t<Handler>>>(
        std::move(description), std::move(answering), std::forward<Handler>(handler));
  }
  template <class Policy>
  Tool unknown(const Policy& policy) const {
    return make(ToolDescription{.name = std::string{unknown_tool_name}}, policy, [](const ToolCall&) {});
  }
  template <class Policy, class Handler>
  void insert(ToolDescription description, const Policy& policy, Handler&& handler) {
    detail::require_tool_handler<std::remove_cvref_t<Handler>>();
    if constexpr (ToolHandler<std::remove_cvref_t<Handler>>) {
      auto tool = make(std::move(description), policy, std::forward<Handler>(handler));
      const auto& name = tool->description().name;
      insert(name, std::move(tool));
    }
  }
  void insert(std::string_view name, Tool tool) {
    if (name.empty()) refuse_setting("name", "\"\"", "is invalid: a tool needs a name");
    if (!tools_.try_emplace(std::string{name}, std::move(tool)).second)
      refuse_setting("name", in_quotes(name), "is invalid: there is already a tool of this name");
  }
  Tool find(std::string_view name) const {
    const auto found = tools_.find(name);
    return found != tools_.end() ? found->second : nullptr;
  }

  OnFibers fibers_{.on = false};
  std::map<std::string, Tool, std::less<>> tools_;
  Tool unknown_ = unknown(RetryPolicy{detail::AnyException{}, MaxRetries{0}});
};

namespace detail {

/// The call as a `ToolCall`: itself, or a copy.
template <ToolCallLike C>
decltype(auto) as_tool_call(const C& call) {
  if constexpr (std::same_as<C, ToolCall>)
    return (call);
  else
    return ToolCall{std::string{std::string_view{call.id}}, std::string{std::string_view{call.name}},
                    std::string{std::string_view{call.arguments}}, std::string{operation_key_of(call)}};
}

/// The call that a tool's policy gets.
inline Call call_of_tool(const AnyTool& tool, const ToolCall& call, const Call& with) {
  auto full_call = with;
  full_call.id = call.id;
  full_call.name = call.name;
  full_call.resolved_name = tool.description().name;
  if (full_call.operation_key.empty()) full_call.operation_key = call.operation_key;
  full_call.replay = tool.description().replay;
  return full_call;
}

}  // namespace detail

template <ToolCallLike C>
ToolResult ToolCatalog::handle(const C& call, const Call& with) const {
  const auto& issued = detail::as_tool_call(call);
  const auto* const known = tool(issued.name);
  const auto& called = known != nullptr ? *known : unknown_tool();
  auto full_call = detail::call_of_tool(called, issued, with);
  if (known == nullptr) full_call.refused = StopReason::unknown_tool;
  detail::ToolReport report;
  return called.run(issued, full_call, report);
}

}  // namespace encore ENCORE_BUILD
