// The picture: a lane for each call; and how many attempts there were at which time.
#pragma once
#include "attempts_over_time.hpp"
#include "lane_choice.hpp"

#include <string>
#include <vector>

/// Appends the lanes below their axis, with what the signs mean. The n-th lane's id is lane-n. `choice` is where they are from.
void add_lanes(std::string& html, const LaneChoice& choice, const std::vector<Lane>& lanes);

/// Appends columns for all attempts, those without a lane as well; nothing if all lie in one.
void add_over_time(std::string& html, const AttemptsOverTime& over_time);
