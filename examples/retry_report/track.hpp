// One lane of the picture as SVG.
#pragma once
#include "drawn_lane.hpp"
#include "lane_choice.hpp"
#include "time_axis.hpp"

#include <string>

/// Where the attempts stand, in percent of the width: in time, and no bar narrower than can be seen or upon another.
std::vector<Stretch> bars(const DrawnLane& drawing, const TimeAxis& axis);

/// The bars of a call's attempts by their outcome, its waits between them, its deadline as a line. All widths are percentages, so
/// that it fits whatever room the page has.
std::string track(const Lane& lane, const DrawnLane& drawing, const TimeAxis& axis);

/// The axis above the lanes: its grid lines' times, and what was cut out.
std::string ruler(const TimeAxis& axis);

/// The patterns that the bars are filled with. Once in a page.
std::string patterns();
