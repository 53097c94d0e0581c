#include "time_axis.hpp"

#include "span_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace {

constexpr double cut_width = 3;         // percent: what a stretch without calls takes
constexpr double worth_cutting = 0.15;  // of the time in which calls ran
constexpr std::size_t max_cuts = 8;
constexpr double min_share = 1.0 / 12;  // of the clock's axis that the longest call must have
constexpr double deadline_within =
    2;  // so many times the length of the call: a deadline later than that gets no room
constexpr double margin = 1.02;        // so that the last bar does not touch the edge
constexpr double min_length = 1e-6;    // seconds: calls on a fake clock may take no time at all
constexpr double label_distance = 13;  // percent
constexpr double min_places = 8;       // for attempts that stand in order

/// The times in which calls ran, one after another.
std::vector<Stretch> united(std::vector<Stretch> stretches) {
  std::sort(stretches.begin(), stretches.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
  std::vector<Stretch> all;
  for (const auto& next : stretches) {
    if (all.empty() || next.begin > all.back().end)
      all.push_back(next);
    else
      all.back().end = std::max(all.back().end, next.end);
  }
  return all;
}

double sum_of_lengths(const std::vector<Stretch>& stretches) {
  double sum = 0;
  for (const auto& each : stretches) sum += each.length();
  return sum;
}

/// 1, 2 or 5 times a power of ten of a unit, in seconds; of minutes and hours what divides the next unit.
double round_step(double about) {
  const auto fits = [&](double step) { return step >= about * 0.999; };
  if (about > 50 && about <= 86'400)
    for (const double step : {60, 120, 300, 600, 1'200, 1'800, 3'600, 7'200, 14'400, 21'600, 43'200, 86'400})
      if (fits(step)) return step;
  const auto unit = about > 86'400 ? 86'400.0 : 1.0;
  const auto power = unit * std::pow(10.0, std::floor(std::log10(about / unit)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (fits(factor * power)) return factor * power;
  return 10 * power;
}

}  // namespace

TimeAxis::TimeAxis(const std::vector<DrawnLane>& lanes) {
  std::vector<Stretch> calls;
  for (const auto& lane : lanes)
    if (lane.timed) calls.push_back(lane.call);
  timed_ = !calls.empty();
  const auto busy = united(calls);
  double longest = 0;
  for (const auto& call : calls) longest = std::max(longest, call.length());
  clock_ = longest >= min_share * sum_of_lengths(busy);
  if (clock_ && timed_) use_clock(lanes, busy);
  if (!clock_ || !timed_) use_time_since_begin(lanes);
  if (timed_) add_ticks();
}

void TimeAxis::use_clock(const std::vector<DrawnLane>& lanes, const std::vector<Stretch>& busy) {
  auto with_deadlines = busy;
  for (const auto& lane : lanes)
    if (lane.deadline && *lane.deadline > lane.call.end &&
        *lane.deadline <= lane.call.begin + lane.call.length() * deadline_within)
      with_deadlines.push_back({lane.call.begin, *lane.deadline});
  const auto shown = united(with_deadlines);
  const auto all = std::max(sum_of_lengths(shown), min_length);
  for (const auto& stretch : shown) {
    if (pieces_.empty() || stretch.begin - pieces_.back().time.end > all * worth_cutting)
      pieces_.push_back({stretch});
    else
      pieces_.back().time.end = stretch.end;
  }
  if (pieces_.size() > max_cuts + 1) {
    clock_ = false;
    return;
  }
  double length = 0;
  for (const auto& piece : pieces_) length += piece.time.length();
  const auto room = 100 - cut_width * static_cast<double>(pieces_.size() - 1);
  scale_ = room / (std::max(length, min_length) * margin);
  double at = 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (i > 0) {
      cuts_.push_back({at + cut_width / 2, span_text(pieces_[i].time.begin - pieces_[i - 1].time.end)});
      at += cut_width;
    }
    pieces_[i].at = at;
    at += pieces_[i].time.length() * scale_;
  }
}

void TimeAxis::use_time_since_begin(const std::vector<DrawnLane>& lanes) {
  clock_ = false;
  double longest = timed_ ? min_length : min_places;
  for (const auto& lane : lanes)
    if (lane.timed || !timed_) longest = std::max(longest, lane.call.length());
  auto end = longest;
  for (const auto& lane : lanes)
    if (lane.deadline && *lane.deadline - lane.call.begin <= longest * deadline_within)
      end = std::max(end, *lane.deadline - lane.call.begin);
  scale_ = 100 / (end * margin);
  pieces_ = {{{0, end}, 0}};
}

void TimeAxis::add_ticks() {
  double length = 0;
  for (const auto& piece : pieces_) length += piece.time.length();
  step_ = round_step(std::max(length, min_length) / 8);
  const auto origin = pieces_.front().time.begin;
  auto label_at = -label_distance;
  for (const auto& piece : pieces_) {
    for (double number = 0; number * step_ <= piece.time.length() * 1.000001; ++number) {
      const auto at = piece.at + number * step_ * scale_;
      if (at - label_at < label_distance) {
        ticks_.push_back({at});
        continue;
      }
      label_at = at;
      // After a cut the time since the beginning is too long to show a difference of one step.
      const auto begins = number == 0 || origin == piece.time.begin;
      ticks_.push_back({at, begins ? span_text(piece.time.begin - origin + number * step_)
                                   : "+" + span_text(number * step_)});
    }
  }
}

double TimeAxis::on_axis(const DrawnLane& lane, double time) const {
  return clock_ || !lane.timed ? time : time - lane.call.begin;
}

double TimeAxis::place(const DrawnLane& lane, double time) const {
  if (!lane.timed && timed_)
    return std::clamp(time / std::max(lane.call.length(), min_places) * 100, 0.0, 100.0);
  const auto where = on_axis(lane, time);
  auto at = 0.0;
  for (const auto& piece : pieces_) {
    if (where < piece.time.begin) break;
    at = piece.at + (std::min(where, piece.time.end) - piece.time.begin) * scale_;
  }
  return std::clamp(at, 0.0, 100.0);
}

bool TimeAxis::shows(const DrawnLane& lane, double time) const {
  const auto where = on_axis(lane, time);
  return std::any_of(pieces_.begin(), pieces_.end(), [&](const Piece& piece) {
    return where >= piece.time.begin && where <= piece.time.end;
  });
}
