#include "timeline.hpp"

#include "drawn_lane.hpp"
#include "html_text.hpp"
#include "lane_details.hpp"
#include "markup.hpp"
#include "span_text.hpp"
#include "time_axis.hpp"
#include "track.hpp"
#include <encore/telemetry/time_text.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace {

/// To the millisecond, as RFC 3339 has it but for the letters.
std::string clock_text(encore::WallTime time) {
  std::string text;
  encore::append_timestamp(text, time);
  return text.substr(0, 10) + " " + text.substr(11, 12) + " UTC";
}

void add_legend(std::string& html) {
  html += "<ul class=\"legend small\">\n";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> styles{
      {{"succeeded", "succeeded"},
       {"failed", "failed"},
       {"error-result", "returned an error"},
       {"unknown", "end not logged"}}};
  for (const auto& [style, words] : styles)
    add(html,
        R"(<li><svg width="26" height="14"><rect class="{}" x="1" y="1" width="24" height="12" rx="1.5"/></svg>{}</li>)",
        style, words);
  html +=
      R"(<li><svg width="26" height="14"><g class="wait"><line x1="0" x2="26" y1="7" y2="7"/></g></svg>wait</li>)"
      R"(<li><svg width="14" height="14"><g class="deadline"><line x1="7" x2="7" y1="0" y2="14"/>)"
      R"(<circle cx="7" cy="3" r="3"/></g></svg>deadline</li>)"
      "<li><b>&#8594;</b> deadline further on</li>"
      "<li><b>2?</b> attempt 2 was sent and never answered</li>\n</ul>\n";
}

}  // namespace

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
    html += "The log does not say when attempts ran, so they are drawn in their order.";
  else if (axis.is_clock())
    add(html, "Time runs from {}; there is a line every {}.", clock_text(zero), span_text(axis.step()));
  else
    add(html,
        "Each lane begins when its call began, so long after {} as its name says; there is a line every {}.",
        clock_text(zero), span_text(axis.step()));
  for (const auto& cut : axis.cuts())
    add(html, " {} without a call {} cut out.", cut.text, cut.text.starts_with("1 ") ? "is" : "are");
  html += " Select a lane to read its attempts.</p>\n";

  add_legend(html);
  add(html, "<div class=\"head small soft\"><span>call</span>{}<span>end, attempts</span></div>\n",
      ruler(axis));
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const auto& call = lanes[i].call;
    add(html, "<details class=\"lane\" id=\"lane-{}\"><summary>", i + 1);
    add(html,
        "<span class=\"who\"><bdi class=\"id\">{}</bdi> <span class=\"tool\">{}<bdi>{}</bdi></span></span>",
        call.id.empty() ? "(no id)" : html_text(call.id, max_name_size),
        axis.is_clock() || !drawings[i].timed ? "" : "at " + span_text(drawings[i].call.begin) + " \u00B7 ",
        call.tool.empty() ? "(no name)" : html_text(call.tool, max_name_size));
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
  const auto time_of = [&](std::int64_t number) {  // held at the ends of the calendar
    const auto last = (encore::Duration::max)() / over_time.width();
    return clock_text(encore::WallTime{over_time.width() * std::clamp(number, -last, last)});
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
