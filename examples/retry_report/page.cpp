#include "page.hpp"

#include "drawn_lane.hpp"
#include "html_text.hpp"
#include "lane_details.hpp"
#include "span_text.hpp"
#include "style.hpp"
#include "time_axis.hpp"
#include "track.hpp"
#include <encore/telemetry/finding_text.hpp>
#include <encore/telemetry/time_text.hpp>
#include <encore/telemetry/tool_totals.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

namespace {

using encore::Weight;

constexpr std::size_t most_findings = 100;
constexpr std::size_t most_tools = 40;
constexpr std::size_t most_skipped = 20;

constexpr std::string_view head_of_page = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
<title>Retry report</title>
)";

template <class... Values>
void add(std::string& html, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(html), format, std::forward<Values>(values)...);
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// To the millisecond, as RFC 3339 has it but for the letters.
std::string clock_text(encore::WallTime time) {
  std::string text;
  encore::append_timestamp(text, time);
  return text.substr(0, 10) + " " + text.substr(11, 12) + " UTC";
}

// ---- sums -----------------------------------------------------------------------------------------------------------

void add_sums(std::string& html, const std::vector<encore::ToolTotals>& tools) {
  encore::ToolTotals sum;
  for (const auto& tool : tools) {
    sum.calls += tool.calls;
    sum.attempts += tool.attempts;
    sum.succeeded += tool.succeeded;
    sum.recovered += tool.recovered;
    sum.failed += tool.failed;
    sum.unfinished += tool.unfinished;
  }
  html += "<ul class=\"sums\">";
  const auto tile = [&](std::uint64_t number, std::string_view what) {
    add(html, "<li><b>{}</b>{}</li>", number, what);
  };
  tile(sum.calls, "calls");
  tile(sum.attempts, "attempts");
  tile(sum.succeeded, "succeeded");
  tile(sum.recovered, "of them after retries");
  tile(sum.failed, "failed");
  if (sum.unfinished > 0) tile(sum.unfinished, "without an end");
  html += "</ul>\n";
}

// ---- the diagnosis --------------------------------------------------------------------------------------------------

/// Links to the lanes of the calls that a finding names.
std::string links(const encore::Finding& finding, const std::vector<Lane>& lanes) {
  std::string html;
  std::set<std::string_view> ids(finding.ids.begin(), finding.ids.end());
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const auto& call = lanes[i].call;
    if (call.id.empty() || call.tool != finding.tool || ids.erase(call.id) == 0) continue;
    add(html, "{}<a href=\"#lane-{}\"><bdi class=\"id\">{}</bdi></a>", html.empty() ? " See " : ", ", i + 1,
        html_text(call.id, longest_name));
  }
  return html.empty() ? html : html + ".";
}

void add_findings(std::string& html, const std::vector<encore::Finding>& findings,
                  const std::vector<Lane>& lanes) {
  html += "<h2>Diagnosis</h2>\n";
  if (findings.empty())
    html +=
        lanes.empty() ? "<p>No call was told of.</p>\n" : "<p>No call failed, and none was retried.</p>\n";
  constexpr std::array<std::pair<Weight, std::string_view>, 3> headings{
      {{Weight::broken, "What should not be"},
       {Weight::look, "What to look at"},
       {Weight::expected, "As it should be"}}};
  std::size_t shown = 0;
  for (const auto& [weight, heading] : headings) {
    auto open = false;
    for (const auto& finding : findings) {
      if (encore::weight(finding.kind) != weight || shown == most_findings) continue;
      ++shown;
      if (!std::exchange(open, true)) add(html, "<h3>{}</h3>\n<ul class=\"findings\">\n", heading);
      add(html, "<li class=\"{}\">", to_string(weight));
      if (!finding.tool.empty()) add(html, "<b><bdi>{}</bdi></b>: ", html_text(finding.tool, longest_name));
      add(html, "{}.<br/><span class=\"next\">&#8594; {}{}</span></li>\n",
          html_text(what_happened(finding), 1'200), html_text(what_next(finding), 1'200),
          links(finding, lanes));
    }
    if (open) html += "</ul>\n";
  }
  if (shown < findings.size())
    add(html, "<p class=\"soft\">{} more findings are in the text on the terminal.</p>\n",
        findings.size() - shown);
}

// ---- the picture ----------------------------------------------------------------------------------------------------

void add_legend(std::string& html) {
  html += "<ul class=\"legend small\">\n";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> styles{
      {{"succeeded", "succeeded"},
       {"failed", "failed"},
       {"error-result", "returned an error"},
       {"unknown", "end not told"}}};
  for (const auto& [style, words] : styles)
    add(html,
        R"(<li><svg width="26" height="14"><rect class="{}" x="1" y="1" width="24" height="12" rx="1.5"/></svg>{}</li>)",
        style, words);
  html +=
      R"(<li><svg width="26" height="14"><g class="wait"><line x1="0" x2="26" y1="7" y2="7"/></g></svg>wait</li>)"
      R"(<li><svg width="14" height="14"><g class="deadline"><line x1="7" x2="7" y1="0" y2="14"/>)"
      R"(<circle cx="7" cy="3" r="3"/></g></svg>deadline</li>)"
      "<li><b>2?</b> attempt 2: sent and never answered</li>\n</ul>\n";
}

void add_lanes(std::string& html, const LaneChoice& choice, const std::vector<Lane>& lanes) {
  if (lanes.empty()) return;
  html += "<h2>Timeline</h2>\n";
  const auto first =
      std::find_if(lanes.begin(), lanes.end(), [](const Lane& lane) { return lane.call.began_at; });
  const auto zero = first == lanes.end() ? encore::WallTime{} : *first->call.began_at;
  std::vector<DrawnLane> drawings;
  for (const auto& lane : lanes) drawings.push_back(drawn(lane, zero));
  const TimeAxis axis{drawings};

  html += "<p class=\"small\">";
  if (lanes.size() < choice.calls())
    add(html, "<b>{} of {} calls are drawn</b>: of each finding the first ones, the gravest first. ",
        lanes.size(), choice.calls());
  else
    add(html, "{} drawn. ",
        lanes.size() == 1 ? "The one call is" : fmt::format("All {} calls are", lanes.size()));
  if (!axis.has_times())
    html += "The log does not tell when attempts ran, so they stand in their order.";
  else if (axis.is_clock())
    add(html, "Time runs from {}; there is a line every {}.", clock_text(zero), span_text(axis.step()));
  else
    add(html, "Each lane begins when its call began; there is a line every {}.", span_text(axis.step()));
  for (const auto& cut : axis.cuts())
    add(html, " {} without a call {} cut out.", cut.text, cut.text.starts_with("1 ") ? "is" : "are");
  html += " Select a lane to read its attempts.</p>\n";

  add_legend(html);
  add(html, "<div class=\"head small soft\"><span>call</span>{}<span>end, attempts</span></div>\n",
      ruler(axis));
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const auto& call = lanes[i].call;
    add(html, "<details class=\"lane\" id=\"lane-{}\"><summary>", i + 1);
    add(html, "<span class=\"who\"><bdi class=\"id\">{}</bdi> <bdi class=\"tool\">{}</bdi></span>",
        call.id.empty() ? "(no id)" : html_text(call.id, longest_name),
        call.tool.empty() ? "(no name)" : html_text(call.tool, longest_name));
    html += track(lanes[i], drawings[i], axis);
    add(html, "<span class=\"end\">{}</span></summary>\n", how_it_ended(lanes[i]));
    add(html, "<div class=\"more\">{}</div></details>\n", lane_details(lanes[i], drawings[i]));
  }
}

void add_over_time(std::string& html, const AttemptsOverTime& over_time) {
  const auto& columns = over_time.columns();
  if (columns.size() < 2) return;
  std::uint64_t most = 0;
  for (const auto& [number, column] : columns) most = std::max(most, column.all());
  const auto from = columns.begin()->first;
  const auto count = columns.rbegin()->first - from + 1;
  const auto width = 100.0 / static_cast<double>(count);
  const auto time_of = [&](std::int64_t number) {
    return clock_text(encore::WallTime{over_time.width() * number});
  };
  add(html,
      "<h2>All attempts over time</h2>\n<p class=\"small\">Each column is {}; the highest has {}. From {} to "
      "{}.",
      span_text(static_cast<double>(over_time.width().count()) / 1e9), counted(most, "attempt"),
      time_of(from), time_of(columns.rbegin()->first + 1));
  if (over_time.without_time() > 0)
    add(html, " {} without a time of their own are not in it.", counted(over_time.without_time(), "attempt"));
  html +=
      "</p>\n<svg class=\"over-time\" width=\"100%\" height=\"90\" role=\"img\"><title>attempts over "
      "time</title>";
  for (const auto& [number, column] : columns) {
    auto top = 100.0;
    const auto part = [&](std::uint64_t attempts, std::string_view style) {
      if (attempts == 0) return;
      const auto height = 100.0 * static_cast<double>(attempts) / static_cast<double>(most);
      top -= height;
      add(html,
          R"(<rect class="{}" x="{:.2f}%" y="{:.1f}%" width="{:.2f}%" height="{:.1f}%"><title>{} {}</title></rect>)",
          style, static_cast<double>(number - from) * width, top, width * 0.8, height, attempts, style);
    };
    part(column.succeeded, "succeeded");
    part(column.failed, "failed");
    part(column.unknown, "unknown");
  }
  html += R"(<line class="grid" x1="0" x2="100%" y1="100%" y2="100%"/></svg>)"
          "\n";
}

// ---- tools ----------------------------------------------------------------------------------------------------------

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

void add_tools(std::string& html, std::vector<encore::ToolTotals> tools) {
  if (tools.empty()) return;
  std::stable_sort(tools.begin(), tools.end(),
                   [](const auto& a, const auto& b) { return a.calls > b.calls; });
  html += "<h2>Tools</h2>\n<div class=\"scroll\"><table class=\"tools\">\n<tr><th>tool</th>";
  for (const auto* const name : {"calls", "attempts", "succeeded", "after retries", "failed", "exhausted",
                                 "no end", "slept", "worked"})
    add(html, "<th class=\"number\">{}</th>", name);
  html += "<th>share of calls</th></tr>\n";
  for (std::size_t i = 0; i < std::min(tools.size(), most_tools); ++i) {
    const auto& tool = tools[i];
    add(html, "<tr><td class=\"text\"><bdi>{}</bdi></td>",
        tool.tool.empty() ? "(no name)" : html_text(tool.tool, longest_name));
    for (const auto number : {tool.calls, tool.attempts, tool.succeeded, tool.recovered, tool.failed,
                              tool.exhausted, tool.unfinished})
      add(html, "<td class=\"number\">{}</td>", number);
    add(html, "<td class=\"number\">{}</td><td class=\"number\">{}{}</td><td class=\"share\">{}</td></tr>\n",
        seconds_or_nothing(tool.slept), tool.worked_is_known ? "" : "&#8805; ",
        seconds_or_nothing(tool.worked), shares(tool));
  }
  html += "</table></div>\n";
  if (tools.size() > most_tools)
    add(html,
        "<p class=\"soft\">{} more tools, with fewer calls each, are in the text on the terminal.</p>\n",
        tools.size() - most_tools);
}

void add_skipped(std::string& html, const encore::TraceReader& reader) {
  if (reader.skipped_count() == 0) return;
  add(html, "<h2>Lines that were not used</h2>\n<p>{} of {}:</p>\n<ul class=\"small\">\n",
      reader.skipped_count(), counted(reader.lines(), "line"));
  std::size_t shown = 0;
  for (const auto& [file, line, why] : reader.skipped()) {
    if (shown++ == most_skipped) break;
    add(html, "<li><bdi>{}</bdi>, line {}: {}</li>\n", html_text(file, longest_name), line, html_text(why));
  }
  html += "</ul>\n";
  if (reader.skipped_count() > most_skipped)
    add(html, "<p class=\"soft\">and {} more</p>\n", reader.skipped_count() - most_skipped);
}

}  // namespace

std::string page(const Report& report) {
  const auto tools = report.diagnosis.tools();
  const auto lanes = report.lanes.lanes();
  std::string html{head_of_page};
  add(html, "<style>{}</style>\n</head>\n<body>\n{}<h1>Retry report</h1>\n<p class=\"soft\">", page_style,
      patterns());
  for (std::size_t i = 0; i < std::min<std::size_t>(report.logs.size(), 8); ++i)
    add(html, "{}<bdi>{}</bdi>", i == 0 ? "" : ", ", html_text(report.logs[i], longest_name));
  if (report.logs.size() > 8) add(html, " and {} more", report.logs.size() - 8);
  add(html, ": {}, {} of calls</p>\n", counted(report.reader.lines(), "line"), report.reader.records());
  add_sums(html, tools);
  add_findings(html, report.diagnosis.findings(), lanes);
  add_lanes(html, report.lanes, lanes);
  if (lanes.size() < report.lanes.calls()) add_over_time(html, report.over_time);
  add_tools(html, tools);
  add_skipped(html, report.reader);
  return html += "</body>\n</html>\n";
}
