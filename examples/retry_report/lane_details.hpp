// A lane in words.
#pragma once
#include "drawn_lane.hpp"
#include "lane_choice.hpp"

#include <string>

/// How the call ended, with a sign before it; how many attempts it took, and the last failure.
std::string how_it_ended(const Lane& lane);

/// The logged facts of the call and its attempts, as a table.
std::string lane_details(const Lane& lane, const DrawnLane& drawing);
