#include "drawn_lane.hpp"

#include <algorithm>
#include <cstddef>

namespace {

double seconds(encore::Duration duration) { return static_cast<double>(duration.count()) / 1e9; }

/// An attempt's own length is on the policy's clock, which is the better one, where it is known.
std::optional<Stretch> stretch(const encore::TracedAttempt& attempt, encore::WallTime zero) {
  if (!attempt.started && !attempt.ended) return std::nullopt;
  const auto took = attempt.took ? std::max(0.0, seconds(*attempt.took)) : 0.0;
  if (!attempt.started) {
    const auto end = seconds_since(zero, *attempt.ended);
    return Stretch{end - took, end};
  }
  const auto begin = seconds_since(zero, *attempt.started);
  if (attempt.took || !attempt.ended) return Stretch{begin, begin + took};
  return Stretch{begin, std::max(begin, seconds_since(zero, *attempt.ended))};
}

}  // namespace

double seconds_since(encore::WallTime zero, encore::WallTime time) noexcept {
  // Times on both sides of 1970 may lie further apart than their difference could say.
  const auto a = zero.time_since_epoch().count();
  const auto b = time.time_since_epoch().count();
  const auto same_sign = (a < 0) == (b < 0);
  return same_sign ? static_cast<double>(b - a) / 1e9
                   : static_cast<double>(b) / 1e9 - static_cast<double>(a) / 1e9;
}

DrawnLane drawn(const Lane& lane, encore::WallTime zero) {
  const auto& call = lane.call;
  DrawnLane drawing;
  drawing.timed = call.began_at.has_value();
  for (const auto& attempt : call.reported_attempts()) {
    const auto found = stretch(attempt, zero);
    drawing.timed = drawing.timed && found.has_value();
    drawing.attempts.push_back(found.value_or(Stretch{}));
  }
  if (!drawing.timed) {
    for (std::size_t i = 0; i < drawing.attempts.size(); ++i)
      drawing.attempts[i] = {static_cast<double>(i), static_cast<double>(i) + 0.8};
    drawing.call = {0, static_cast<double>(drawing.attempts.size())};
    return drawing;
  }
  const auto begin = seconds_since(zero, *call.began_at);
  drawing.call = {begin, std::max(begin, seconds_since(zero, call.ended_at.value_or(*call.began_at)))};
  for (const auto& [first, last] : drawing.attempts) {
    drawing.call.begin = std::min(drawing.call.begin, first);
    drawing.call.end = std::max(drawing.call.end, last);
  }
  if (call.deadline) drawing.deadline = seconds_since(zero, *call.deadline);
  return drawing;
}
