// Where a time stands on the width of the picture.
#pragma once
#include "drawn_lane.hpp"

#include <string>
#include <utility>
#include <vector>

/// A place on the axis, in percent of its width, and what is written there.
struct Tick {
  double at = 0;
  std::string text{};  ///< empty: a grid line only
};

/// An axis that all lanes share. Either the clock's, in which stretches in which no call ran are cut out; or, where the calls would
/// be too small on that, the time since each call began. It is chosen by the lanes.
class TimeAxis {
 public:
  explicit TimeAxis(const std::vector<DrawnLane>& lanes);

  /// In percent. Times that are not on the axis are held at its ends.
  double place(const DrawnLane& lane, double time) const;
  /// Is this time on the axis, and not in what was cut out?
  bool shows(const DrawnLane& lane, double time) const;

  bool is_clock() const noexcept { return clock_; }
  bool has_times() const noexcept { return timed_; }
  /// How much time was cut out, and where, in percent.
  const std::vector<Tick>& cuts() const noexcept { return cuts_; }
  const std::vector<Tick>& ticks() const noexcept { return ticks_; }
  /// The time between two grid lines, in seconds.
  double step() const noexcept { return step_; }

 private:
  struct Piece {
    Stretch time{};
    double at = 0;  // in percent
  };
  void use_clock(const std::vector<DrawnLane>& lanes, const std::vector<Stretch>& busy);
  void use_time_since_begin(const std::vector<DrawnLane>& lanes);
  void add_ticks();
  double on_axis(const DrawnLane& lane, double time) const;

  bool clock_ = true;
  bool timed_ = false;
  double scale_ = 100;  // percent per second
  double step_ = 1;
  std::vector<Piece> pieces_;
  std::vector<Tick> cuts_;
  std::vector<Tick> ticks_;
};
