#include "track.hpp"

#include "html_text.hpp"
#include "span_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace {

constexpr double min_bar = 0.7;  // percent
constexpr double min_gap = 0.25;
constexpr double label_distance = 2.6;
constexpr double last_label_right_of_it = 92;

std::string_view style_of(const encore::TracedAttempt& attempt) {
  switch (attempt.end) {
    case encore::AttemptEnd::failed: return "failed";
    case encore::AttemptEnd::succeeded: return attempt.error_result ? "error-result" : "succeeded";
    case encore::AttemptEnd::unknown: return "unknown";
  }
  return "unknown";
}

/// The tooltip of a bar.
std::string in_words(const encore::TracedAttempt& attempt) {
  auto text = attempt.ordinal > 0 ? fmt::format("attempt {}: ", attempt.ordinal) : std::string{"attempt: "};
  text += attempt.error_result ? "returned an error" : to_string(attempt.end);
  if (!attempt.error_type.empty()) text.append(", ").append(html_text(failure_name(attempt), max_name_size));
  if (attempt.took) text.append(", ").append(span_text(static_cast<double>(attempt.took->count()) / 1e9));
  if (attempt.outcome_unknown()) text += ", sent and never answered";
  return text;
}

void add_grid(std::string& svg, const TimeAxis& axis) {
  for (const auto& tick : axis.ticks())
    fmt::format_to(std::back_inserter(svg),
                   R"(<line class="grid" x1="{0:.2f}%" x2="{0:.2f}%" y1="-6" y2="37"/>)", tick.at);
  for (const auto& cut : axis.cuts())
    fmt::format_to(std::back_inserter(svg),
                   R"(<line class="cut" x1="{0:.2f}%" x2="{0:.2f}%" y1="-6" y2="37"/>)", cut.at);
}

void add_deadline(std::string& svg, const DrawnLane& drawing, const TimeAxis& axis) {
  if (!drawing.deadline) return;
  const auto span = span_text(std::max(0.0, *drawing.deadline - drawing.call.begin));
  if (axis.shows(drawing, *drawing.deadline)) {
    fmt::format_to(
        std::back_inserter(svg),
        R"(<g class="deadline"><title>deadline, {1} after the call began</title>)"
        R"(<line x1="{0:.2f}%" x2="{0:.2f}%" y1="1" y2="100%"/><circle cx="{0:.2f}%" cy="3" r="3"/></g>)",
        axis.place(drawing, *drawing.deadline), span);
    return;
  }
  fmt::format_to(std::back_inserter(svg),
                 R"(<g class="later"><title>deadline, {} after the call began</title>)"
                 R"(<text x="100%" y="24" text-anchor="end">&#8594;</text></g>)",
                 span);
}

}  // namespace

std::vector<Stretch> bars(const DrawnLane& drawing, const TimeAxis& axis) {
  std::vector<Stretch> all;
  auto free_from = 0.0;
  for (const auto& attempt : drawing.attempts) {
    const auto begin = std::max(axis.place(drawing, attempt.begin), free_from);
    const auto end = std::max(axis.place(drawing, attempt.end), begin + min_bar);
    all.push_back({begin, end});
    free_from = end + min_gap;
  }
  // What the least widths have pushed over the edge moves back, and pushes what is before it.
  auto free_to = 100.0;
  for (auto bar = all.rbegin(); bar != all.rend() && bar->end > free_to; ++bar) {
    const auto width = std::min(bar->length(), std::max(min_bar, free_to - bar->begin));
    *bar = {free_to - width, free_to};
    free_to = bar->begin - min_gap;
  }
  return all;
}

std::string track(const Lane& lane, const DrawnLane& drawing, const TimeAxis& axis) {
  const auto& reported = lane.call.reported_attempts();
  std::string svg = R"(<svg class="track" width="100%" height="30" role="img">)";
  fmt::format_to(std::back_inserter(svg), "<title>{}: attempts by outcome</title>",
                 html_text(lane.call.id, max_name_size));
  add_grid(svg, axis);
  const auto places = bars(drawing, axis);
  for (std::size_t i = 0; i + 1 < places.size(); ++i) {
    fmt::format_to(std::back_inserter(svg), R"(<g class="wait"><title>waited {}</title>)",
                   drawing.timed
                       ? span_text(std::max(0.0, drawing.attempts[i + 1].begin - drawing.attempts[i].end))
                       : "an unknown time");
    fmt::format_to(std::back_inserter(svg), R"(<line x1="{:.2f}%" x2="{:.2f}%" y1="20.5" y2="20.5"/></g>)",
                   places[i].end, places[i + 1].begin);
  }
  auto label_from = -label_distance;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& [begin, end] = places[i];
    fmt::format_to(std::back_inserter(svg), R"(<g class="attempt {}"><title>{}</title>)",
                   style_of(reported[i]), in_words(reported[i]));
    fmt::format_to(std::back_inserter(svg),
                   R"(<rect x="{:.2f}%" y="13" width="{:.2f}%" height="15" rx="1.5"/>)", begin, end - begin);
    if (begin - label_from >= label_distance) {
      label_from = begin;
      fmt::format_to(std::back_inserter(svg), R"(<text x="{:.2f}%" y="10">{}{}</text>)", begin,
                     reported[i].ordinal > 0 ? std::to_string(reported[i].ordinal) : "\u2022",
                     reported[i].outcome_unknown() ? "?" : "");
    }
    svg += "</g>";
  }
  add_deadline(svg, drawing, axis);
  return svg += "</svg>";
}

std::string ruler(const TimeAxis& axis) {
  std::string svg = R"(<svg class="ruler" width="100%" height="18" aria-hidden="true">)";
  add_grid(svg, axis);
  for (const auto& tick : axis.ticks())
    if (!tick.text.empty())
      fmt::format_to(std::back_inserter(svg), R"(<text x="{:.2f}%" y="10" {}>{}</text>)", tick.at,
                     tick.at < last_label_right_of_it ? R"(dx="3")" : R"(dx="-3" text-anchor="end")",
                     tick.text);
  return svg += "</svg>";
}

std::string patterns() {
  return R"svg(<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>
<pattern id="failed" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<rect width="5" height="5" class="bad-ground"/><rect width="2.2" height="5" class="bad"/></pattern>
<pattern id="error-result" width="5" height="5" patternUnits="userSpaceOnUse">
<rect width="5" height="5" class="odd-ground"/><circle cx="2.5" cy="2.5" r="1.3" class="odd"/></pattern>
</defs></svg>
)svg";
}
