#include "chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

namespace {

// In the SVG's own units, of which a narrow page shows about as many as it has pixels.
constexpr double width = 460, left = 62, right = 18, bottom = 48, plot_height = 230, row = 20;

std::vector<double> ticks(const Axis& axis) {
  std::vector<double> values;
  if (axis.logarithmic) {
    for (double decade = std::pow(10.0, std::ceil(std::log10(axis.min) - 1e-9)); decade <= axis.max * 1.0001;
         decade *= 10)
      values.push_back(decade);
    return values;
  }
  const double rough = (axis.max - axis.min) / 5;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double digit = rough / power;
  const double step = power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
  for (double value = std::ceil(axis.min / step - 1e-9) * step; value <= axis.max + step * 1e-6;
       value += step)
    values.push_back(std::abs(value) < step * 1e-6 ? 0.0 : value);
  return values;
}

/// Where values lie on an axis: from 0 to 1.
double place(const Axis& axis, double value) {
  if (axis.logarithmic) return std::log(std::max(value, axis.min) / axis.min) / std::log(axis.max / axis.min);
  return (value - axis.min) / (axis.max - axis.min);
}

class Drawing {
 public:
  explicit Drawing(const Chart& chart)
      : chart_{chart},
        top_{8 + row * std::ceil(static_cast<double>(chart.lines.size()) / per_row)} {}

  std::string text() {
    put(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="{}">)", width, top_ + plot_height + bottom,
        escaped(chart_.title));
    put("<title>{}</title>\n", escaped(chart_.title));
    shade();
    axes();
    for (const auto& bar : chart_.bars) draw(bar);
    for (const auto& line : chart_.lines) draw(line);
    legend();
    return out_ + "</svg>\n";
  }

 private:
  static constexpr double per_row = 3;

  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  double x(double value) const { return left + (width - left - right) * place(chart_.x, value); }
  double y(double value) const { return top_ + plot_height * (1 - place(chart_.y, value)); }

  void shade() {
    if (!chart_.shade) return;
    const double from = x(chart_.shade->from), to = x(chart_.shade->to);
    put(R"(<rect class="shade" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}"/>)", from, top_, to - from,
        plot_height);
    put(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle" class="note">{}</text>)"
        "\n",
        (from + to) / 2, top_ + 16, escaped(chart_.shade->name));
  }
  void axes() {
    for (const double value : ticks(chart_.y)) {
      put(R"(<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>)", left, width - right, y(value),
          y(value));
      put(R"(<text x="{}" y="{:.1f}" text-anchor="end">{:.6g}</text>)"
          "\n",
          left - 6, y(value) + 4.5, value);
    }
    for (const double value : ticks(chart_.x)) {
      const bool beside_all_bars = value <= chart_.x.min || value >= chart_.x.max;
      if (!chart_.bars.empty() && beside_all_bars) continue;
      put(R"(<line class="grid" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"/>)", x(value), x(value),
          top_ + plot_height, top_ + plot_height + 5);
      put(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{:.6g}</text>)"
          "\n",
          x(value), top_ + plot_height + 20, value);
    }
    put(R"(<line class="axis" x1="{}" x2="{}" y1="{}" y2="{}"/>)", left, width - right, top_ + plot_height,
        top_ + plot_height);
    put(R"(<text x="{}" y="{}" text-anchor="middle">{}</text>)", (left + width - right) / 2,
        top_ + plot_height + 40, escaped(chart_.x.label));
    put(R"~(<text x="14" y="{}" text-anchor="middle" transform="rotate(-90 14 {})">{}</text>)~"
        "\n",
        top_ + plot_height / 2, top_ + plot_height / 2, escaped(chart_.y.label));
  }
  void draw(const Bar& bar) {
    const double half = std::min(16.0, 0.35 * (x(chart_.x.min + 1) - x(chart_.x.min)));
    const double from = y(bar.max), to = y(bar.min);
    put(R"(<rect class="bar" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>)", x(bar.x) - half, from,
        2 * half, to - from);
    put(R"(<line class="median" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>)"
        "\n",
        x(bar.x) - half, x(bar.x) + half, y(bar.median), y(bar.median));
  }
  void draw(const Line& line) {
    put(R"(<polyline fill="none" stroke-linejoin="round" {} points=")", stroke(line.look));
    for (const auto& point : line.points) put("{:.1f},{:.1f} ", x(point.x), y(point.y));
    put("\"/>\n");
  }
  void legend() {
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) {
      const double column = static_cast<double>(i % static_cast<std::size_t>(per_row));
      const double at_x = 14 + column * (width - 14) / per_row;
      const double at_y = 12 + row * static_cast<double>(i / static_cast<std::size_t>(per_row));
      put(R"(<line {} x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"/>)", stroke(chart_.lines[i].look), at_x,
          at_x + 30, at_y - 4, at_y - 4);
      put(R"(<text x="{:.1f}" y="{}">{}</text>)"
          "\n",
          at_x + 35, at_y, escaped(chart_.lines[i].name));
    }
  }
  static std::string stroke(const Look& look) {
    return fmt::format(R"(stroke="{}" stroke-width="{}" stroke-dasharray="{}")", look.colour, look.width,
                       look.dashes);
  }

  const Chart& chart_;
  double top_;
  std::string out_;
};

}  // namespace

std::string escaped(const std::string& text) {
  std::string out;
  for (const char character : text) {
    if (character == '&')
      out += "&amp;";
    else if (character == '<')
      out += "&lt;";
    else if (character == '>')
      out += "&gt;";
    else if (character == '"')
      out += "&quot;";
    else
      out += character;
  }
  return out;
}

std::string svg(const Chart& chart) { return Drawing{chart}.text(); }

std::string figure(const Chart& chart, const std::string& caption) {
  return "<figure>" + svg(chart) + "<figcaption>" + escaped(caption) + "</figcaption></figure>\n";
}
