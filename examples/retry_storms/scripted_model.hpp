// A model without a model: it does what models do when a tool fails.
#pragma once
#include <encore/agent/tool_call.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Calls one tool until it is answered, each time in the next of its few phrasings. It gives up only when it is told not to call
/// again.
class ScriptedModel {
 public:
  ScriptedModel(std::string tool, std::vector<std::string> phrasings)
      : tool_{std::move(tool)},
        phrasings_{std::move(phrasings)} {}

  /// What it does after the tool's last answer, which is empty at the beginning: another call, or none.
  std::optional<encore::ToolCall> next(std::string_view answer) {
    if (answer.find("Do not") != answer.npos) return std::nullopt;
    const auto& arguments = phrasings_[calls_++ % phrasings_.size()];
    return encore::ToolCall{
        .id = tool_ + '-' + std::to_string(calls_), .name = tool_, .arguments = arguments};
  }

 private:
  std::string tool_;
  std::vector<std::string> phrasings_;
  std::size_t calls_ = 0;
};
