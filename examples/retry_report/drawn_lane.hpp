// A lane's times, as numbers that can be drawn.
#pragma once
#include "lane_choice.hpp"
#include <encore/duration.hpp>

#include <optional>
#include <vector>

/// From one time to another, in seconds since a common zero. The end is not before the begin.
struct Stretch {
  double begin = 0;
  double end = 0;
  double length() const noexcept { return end - begin; }
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

/// When a call and each of its attempts ran. Without known times for all of them, they are drawn in order, a second each.
struct DrawnLane {
  bool timed = false;
  Stretch call{};
  std::vector<Stretch> attempts{};
  std::optional<double> deadline{};
};

/// The time as seconds since `zero`. Far apart, digits are lost, never more.
double seconds_since(encore::WallTime zero, encore::WallTime time) noexcept;

DrawnLane drawn(const Lane& lane, encore::WallTime zero);
