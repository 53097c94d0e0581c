#include "page.hpp"

#include "html_text.hpp"
#include "markup.hpp"
#include "style.hpp"
#include "timeline.hpp"
#include "tools_table.hpp"
#include "track.hpp"
#include <encore/analysis/finding_text.hpp>
#include <encore/analysis/tool_totals.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

namespace {

using encore::Severity;

constexpr std::size_t max_findings = 100;
constexpr std::size_t max_skipped = 20;

constexpr std::string_view head_of_page = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
<title>Retry report</title>
)";

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
  tile(sum.recovered, "after retries");
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
        html_text(call.id, max_name_size));
  }
  return html.empty() ? html : html + ".";
}

void add_findings(std::string& html, const std::vector<encore::Finding>& findings,
                  const std::vector<Lane>& lanes) {
  html += "<h2>Diagnosis</h2>\n";
  if (findings.empty())
    html += lanes.empty() ? "<p>The log reports no calls.</p>\n"
                          : "<p>No call failed, and none was retried.</p>\n";
  constexpr std::array<std::pair<Severity, std::string_view>, 3> headings{
      {{Severity::error, "Errors"}, {Severity::warning, "Warnings"}, {Severity::info, "As intended"}}};
  std::size_t shown = 0;
  for (const auto& [severity, heading] : headings) {
    auto open = false;
    for (const auto& finding : findings) {
      if (encore::severity(finding.kind) != severity || shown == max_findings) continue;
      ++shown;
      if (!std::exchange(open, true)) add(html, "<h3>{}</h3>\n<ul class=\"findings\">\n", heading);
      add(html, "<li class=\"{}\">", to_string(severity));
      if (!finding.tool.empty()) add(html, "<b><bdi>{}</bdi></b>: ", html_text(finding.tool, max_name_size));
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

// ---- notes -----------------------------------------------------------------------------------------------------------

void add_skipped(std::string& html, const encore::TraceReader& reader) {
  if (reader.skipped_count() == 0) return;
  add(html, "<h2>Lines that were not used</h2>\n<p>{} of {}:</p>\n<ul class=\"small\">\n",
      reader.skipped_count(), counted(reader.lines(), "line"));
  std::size_t shown = 0;
  for (const auto& [file, line, why] : reader.skipped()) {
    if (shown++ == max_skipped) break;
    add(html, "<li><bdi>{}</bdi>, line {}: {}</li>\n", html_text(file, max_name_size), line, html_text(why));
  }
  html += "</ul>\n";
  if (reader.skipped_count() > max_skipped)
    add(html, "<p class=\"soft\">and {} more</p>\n", reader.skipped_count() - max_skipped);
}

}  // namespace

std::string page(const Report& report) {
  const auto tools = report.diagnosis.tools();
  const auto lanes = report.lanes.lanes();
  std::string html{head_of_page};
  add(html, "<style>{}</style>\n</head>\n<body>\n{}<h1>Retry report</h1>\n<p class=\"soft\">", page_style,
      patterns());
  for (std::size_t i = 0; i < std::min<std::size_t>(report.logs.size(), 8); ++i)
    add(html, "{}<bdi>{}</bdi>", i == 0 ? "" : ", ", html_text(report.logs[i], max_name_size));
  if (report.logs.size() > 8) add(html, " and {} more", report.logs.size() - 8);
  add(html, ": {}, {} of calls</p>\n", counted(report.reader.lines(), "line"), report.reader.records());
  add_sums(html, tools);
  add_findings(html, report.diagnosis.findings(), lanes);
  add_lanes(html, report.lanes, lanes);
  if (lanes.size() < report.lanes.calls()) add_over_time(html, report.over_time);
  add_tools(html, tools);
  if (!report.note_on_room.empty()) add(html, "<p class=\"soft\">{}</p>\n", html_text(report.note_on_room));
  add_skipped(html, report.reader);
  return html += "</body>\n</html>\n";
}
