#include "chart.hpp"
#include "sections.hpp"
#include "shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace {

double seconds(encore::Duration duration) { return std::chrono::duration<double>{duration}.count(); }

Chart delay_chart(const Preview& preview) {
  Chart chart{.title = preview.name,
              .x = {.label = "retry", .min = 0, .max = 1},
              .y = {.label = "wait, s", .max = 0.001}};
  for (const auto& wait : preview.waits) {
    chart.x.max += 1;
    chart.bars.push_back({chart.x.max - 1, seconds(wait.min), seconds(wait.median), seconds(wait.max)});
    chart.y.max = std::max(chart.y.max, 1.05 * seconds(wait.max));
  }
  return chart;
}

std::string delay_table(const Preview& preview) {
  std::string out =
      "<table><caption>Waits in seconds</caption><tr><th>retry</th><th>min</th><th>median</th>"
      "<th>max</th></tr>\n";
  const auto put = [&](const std::string& name, const encore::WaitRange& wait) {
    out += fmt::format("<tr><th>{}</th><td>{:.6g}</td><td>{:.6g}</td><td>{:.6g}</td></tr>\n", name,
                       seconds(wait.min), seconds(wait.median), seconds(wait.max));
  };
  int retry = 0;
  for (const auto& wait : preview.waits) put(std::to_string(++retry), wait);
  put("in all", preview.total);
  return out + "</table>\n";
}

}  // namespace

std::string delay_section(const Options& options) {
  const auto own = preview_of(policy_text(options.policy), options.policy);
  std::string out =
      "<section id=\"delays\"><h2>How long a call waits before each retry</h2>\n"
      "<p>Each bar reaches from the shortest wait to the longest that jitter can draw; the line in it is the "
      "median wait.</p>\n<div class=\"charts\">";
  out +=
      own.waits.empty() ? "<p>There is no retry.</p>" : figure(delay_chart(own), "This policy: " + own.name);
  out += delay_table(own) + "</div>\n";
  if (options.all_shapes) {
    out += "<h3>All the shapes that the library has</h3>\n<div class=\"charts small\">";
    for (const auto& preview : previews_of_all_shapes()) out += figure(delay_chart(preview), preview.name);
    out += "</div>\n";
  }
  return out + "</section>\n";
}
