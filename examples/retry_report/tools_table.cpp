#include "tools_table.hpp"

#include "html_text.hpp"
#include "markup.hpp"
#include "span_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

constexpr std::size_t max_tools = 40;

std::string shares(const encore::ToolTotals& tool) {
  std::string svg = R"(<svg width="100%" height="14" role="img"><title>shares of calls</title>)";
  auto from = 0.0;
  const auto part = [&](std::uint64_t count, std::string_view style, std::string_view words) {
    if (count == 0) return;
    const auto width = 100.0 * static_cast<double>(count) / static_cast<double>(tool.calls);
    add(svg, R"(<rect class="{}" x="{:.2f}%" y="1" width="{:.2f}%" height="12"><title>{} {}</title></rect>)",
        style, from, width, count, words);
    from += width;
  };
  part(tool.succeeded - tool.recovered, "succeeded", "succeeded at once");
  part(tool.recovered, "recovered", "succeeded after retries");
  part(tool.failed, "failed", "failed");
  part(tool.unfinished, "unknown", "without an end");
  return svg += "</svg>";
}

std::string seconds_or_nothing(encore::Duration duration) {
  return duration > encore::Duration::zero() ? span_text(static_cast<double>(duration.count()) / 1e9)
                                             : std::string{"0"};
}

}  // namespace

void add_tools(std::string& html, std::vector<encore::ToolTotals> tools) {
  if (tools.empty()) return;
  std::sort(tools.begin(), tools.end(), [](const auto& a, const auto& b) {
    return a.calls != b.calls ? a.calls > b.calls : a.tool < b.tool;
  });
  html += "<h2>Tools</h2>\n<div class=\"scroll\"><table class=\"tools\">\n<tr><th>tool</th>";
  for (const auto* const name : {"calls", "attempts", "succeeded", "after retries", "failed", "exhausted",
                                 "no end", "slept", "worked"})
    add(html, "<th class=\"number\">{}</th>", name);
  html += "<th>share of calls</th></tr>\n";
  for (std::size_t i = 0; i < std::min(tools.size(), max_tools); ++i) {
    const auto& tool = tools[i];
    add(html, "<tr><td class=\"text\"><bdi>{}</bdi></td>",
        tool.tool.empty() ? "(no name)" : html_text(tool.tool, max_name_size));
    for (const auto number : {tool.calls, tool.attempts, tool.succeeded, tool.recovered, tool.failed,
                              tool.exhausted, tool.unfinished})
      add(html, "<td class=\"number\">{}</td>", number);
    add(html, "<td class=\"number\">{}</td><td class=\"number\">{}{}</td><td class=\"share\">{}</td></tr>\n",
        seconds_or_nothing(tool.slept), tool.worked_is_known ? "" : "&#8805; ",
        seconds_or_nothing(tool.worked), shares(tool));
  }
  html += "</table></div>\n";
  if (tools.size() > max_tools)
    add(html,
        "<p class=\"soft\">{} more tools, with fewer calls each, are in the text on the terminal.</p>\n",
        tools.size() - max_tools);
}
