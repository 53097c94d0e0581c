// Charts as SVG, to stand inside a page. Lines differ in dash and width as well as in colour, so that they can be told apart
// in grey.
#pragma once
#include <optional>
#include <string>
#include <vector>

struct Point {
  double x;
  double y;
};

struct Look {
  const char* colour;
  double width;
  const char* dashes;  ///< as SVG's stroke-dasharray; "none" is a whole line
};

struct Line {
  std::string name;
  Look look;
  std::vector<Point> points;
};

/// From least to greatest at one place, with a mark in the middle.
struct Bar {
  double x;
  double min;
  double median;
  double max;
};

/// A part of the x axis that is shaded, and why.
struct Shade {
  double from;
  double to;
  std::string name;
};

struct Axis {
  std::string label;  ///< with the unit
  double min = 0.0;
  double max = 1.0;
  bool logarithmic = false;
};

struct Chart {
  std::string title;
  Axis x;
  Axis y;
  std::vector<Line> lines{};
  std::vector<Bar> bars{};
  std::optional<Shade> shade{};
};

/// Text for HTML and SVG.
std::string escaped(const std::string& text);

std::string svg(const Chart& chart);
/// The same as an element with a caption.
std::string figure(const Chart& chart, const std::string& caption);
