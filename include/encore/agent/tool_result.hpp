// The result of a tool call, as the model will read it.
#pragma once
#include <encore/stop_reason.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace encore {

enum class ToolStatus : std::uint8_t { ok, error };

constexpr std::string_view to_string(ToolStatus status) noexcept {
  return status == ToolStatus::ok ? "ok" : "error";
}
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, ToolStatus status) {
  return out << to_string(status);
}

/// The answer to one tool call. A regular value.
struct ToolResult {
  ToolStatus status = ToolStatus::ok;
  std::string content{};
  std::string name{};     ///< of the tool, as the model wrote it
  std::string call_id{};  ///< of the call that it answers
  StopReason reason =
      StopReason::none;  ///< why the call failed or was refused; `none`: the tool answered (G7)

  bool is_error() const noexcept { return status == ToolStatus::error; }
  friend bool operator==(const ToolResult&, const ToolResult&) = default;
};

}  // namespace encore
