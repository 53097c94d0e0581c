#include "attempts_over_time.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <utility>

namespace {

using namespace std::chrono_literals;
using encore::Duration;

/// The next width: one that people can read, and a multiple of the one before. After days it doubles.
Duration wider(Duration width) {
  constexpr std::array<Duration, 17> widths{1ms, 2ms, 10ms, 20ms,  100ms, 200ms, 1s, 2s, 10s,
                                            20s, 60s, 120s, 10min, 20min, 1h,    6h, 24h};
  for (const auto next : widths)
    if (next > width) return next;
  return width * 2;
}

constexpr std::int64_t floor_divided(std::int64_t number, std::int64_t by) {
  return number / by - (number % by < 0 ? 1 : 0);
}

std::optional<encore::WallTime> when(const encore::TracedAttempt& attempt) {
  return attempt.started ? attempt.started : attempt.ended;
}

}  // namespace

void AttemptsOverTime::add(const encore::TracedCall& call) {
  const auto& reported = call.reported_attempts();
  if (const auto all = static_cast<std::size_t>(call.reported_attempt_count());
      all > reported.size() && !call.continued)
    without_time_ += all - reported.size();
  for (const auto& attempt : reported) {
    const auto time = when(attempt);
    if (!time) {
      ++without_time_;
      continue;
    }
    auto& column = columns_[floor_divided(time->time_since_epoch().count(), width_.count())];
    switch (attempt.end) {
      case encore::AttemptEnd::succeeded: ++column.succeeded; break;
      case encore::AttemptEnd::failed: ++column.failed; break;
      case encore::AttemptEnd::unknown: ++column.unknown; break;
    }
    while (columns_.rbegin()->first - columns_.begin()->first >= max_columns) widen();
  }
}

void AttemptsOverTime::widen() {
  const auto width = wider(width_);
  std::map<std::int64_t, Column> columns;
  for (const auto& [number, column] : columns_) {
    auto& sum = columns[floor_divided(number, width / width_)];
    sum.succeeded += column.succeeded;
    sum.failed += column.failed;
    sum.unknown += column.unknown;
  }
  columns_ = std::move(columns);
  width_ = width;
}
