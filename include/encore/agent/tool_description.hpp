// Describes the tools of a catalog, for people, machines and tests.
#pragma once
#include <encore/already_retries.hpp>
#include <encore/call.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/detail/seconds_text.hpp>
#include <encore/duration.hpp>
#include <encore/engine/replay_safety_text.hpp>
#include <encore/event.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD {

/// One tool and what a call of it may lead to. A regular value: the defaults are those of a tool that was added without a policy.
struct ToolDescription {
  std::string name{};
  ReplaySafety replay = ReplaySafety::never;
  std::optional<int> max_attempts = 1;  ///< of one call, without those that did not run; empty: unlimited
  int inner_attempts = 1;               ///< that the client inside makes by itself for each attempt
  /// The maximal sum of all waits of one call, without server hints; empty: no bound.
  std::optional<Duration> worst_wait = Duration::zero();
  TerminalMode on_failure = TerminalMode::error_result;
  std::string policy = "none stated";

  /// The maximal number of requests of one call; empty: unlimited.
  std::optional<std::int64_t> max_requests() const noexcept {
    return max_requests_of(max_attempts, inner_attempts);
  }
  friend bool operator==(const ToolDescription&, const ToolDescription&) = default;
};

/// All tools of a catalog, sorted by name. A test that compares them, or their text with a reviewed file, notices every new tool:
///   TEST_CASE("every tool has the policy that was agreed on") {
///     CHECK(my_catalog().describe().table() == agreed_table);
///   }
class ToolDescriptions : public std::vector<ToolDescription> {
 public:
  using vector::vector;

  /// A table for people, one line a tool, with a heading. Names that would break the table are quoted.
  std::string table() const {
    std::vector<Row> rows{{"tool", "replay", "attempts", "requests", "worst wait", "on failure", "policy"}};
    for (const auto& tool : *this) rows.push_back(row(tool));
    std::array<std::size_t, columns> widths{};
    for (const auto& cells : rows)
      for (std::size_t i = 0; i < columns; ++i) widths[i] = shared::larger_of(widths[i], cells[i].size());
    std::string text;
    for (const auto& cells : rows) {
      for (std::size_t i = 0; i + 1 < columns; ++i)
        text.append(cells[i]).append(widths[i] - cells[i].size() + 2, ' ');
      text.append(cells.back()).append(1, '\n');
    }
    return text;
  }

  /// A JSON array of objects; durations are in seconds, what is unlimited is null.
  std::string json() const {
    std::string text{"["};
    for (const auto& tool : *this) append_json(text += text.size() > 1 ? ",\n " : "", tool);
    return text += "]\n";
  }

  friend std::string to_string(const ToolDescriptions& tools) { return tools.table(); }
  template <class Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                                      const ToolDescriptions& tools) {
    return out << tools.table();
  }

 private:
  static constexpr std::size_t columns = 7;
  using Row = std::array<std::string, columns>;

  template <class Number>
  static std::string number_or(const std::optional<Number>& number, std::string_view otherwise) {
    return number ? std::to_string(*number) : std::string{otherwise};
  }
  static Row row(const ToolDescription& tool) {
    std::string wait{"unlimited"};
    if (tool.worst_wait) {
      append_seconds(wait = {}, *tool.worst_wait);
      wait += " s";
    }
    return {detail::shown(tool.name),
            std::string{to_string(tool.replay)},
            number_or(tool.max_attempts, "unlimited"),
            number_or(tool.max_requests(), "unlimited"),
            std::move(wait),
            std::string{to_string(tool.on_failure)},
            tool.policy};
  }
  static void append_json(std::string& text, const ToolDescription& tool) {
    append_quoted(text += "{\"tool\":", tool.name);
    append_quoted(text += ",\"replay\":", to_string(tool.replay));
    text.append(",\"max_attempts\":").append(number_or(tool.max_attempts, "null"));
    text.append(",\"max_requests\":").append(number_or(tool.max_requests(), "null"));
    text += ",\"worst_wait_s\":";
    tool.worst_wait ? append_seconds(text, *tool.worst_wait) : void(text += "null");
    append_quoted(text += ",\"on_failure\":", to_string(tool.on_failure));
    append_quoted(text += ",\"policy\":", tool.policy);
    text += '}';
  }
};

}  // namespace encore ENCORE_BUILD
