// Calls of one tool in a row, where each call follows a failed one.
#pragma once
#include <encore/analysis/finding.hpp>
#include <encore/analysis/traced_call.hpp>
#include <encore/duration.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace encore ENCORE_BUILD::detail {

/// A row of calls: each began soon after the previous one had failed, while no other call of the tool was active in that scope.
/// In a log of requests it looks like one call that exceeds its limit.
class CallRow {
 public:
  CallRow() = default;
  explicit CallRow(std::string_view tool) { finding_.tool = tool; }

  /// Adds the call and returns true if it continues the row. Calls must be added in the order in which they ended.
  bool add(const TracedCall& call, Duration soon) {
    if (finding_.calls > 0 && !continued_by(call, soon)) return false;
    count_in(finding_, call);
    last_record_ = call.last_record;
    ended_at_ = call.ended_at;
    over_ = !call.failed();
    return true;
  }

  /// The finding, if the row has at least two calls.
  std::optional<Finding> finding() const {
    if (finding_.calls < 2) return std::nullopt;
    auto found = finding_;
    found.kind = finding_.max_attempts_per_call > 1 ? FindingKind::repeated_after_exhaustion
                                                    : FindingKind::repeated_without_retries;
    found.rows = 1;
    return found;
  }

 private:
  bool continued_by(const TracedCall& call, Duration soon) const noexcept {
    if (over_ || !call.alone || call.first_record < last_record_) return false;
    if (call.previous_record > last_record_) return false;  // another call of the tool came between them
    return !ended_at_ || !call.began_at || time_between(*ended_at_, *call.began_at) <= soon;
  }

  Finding finding_{};
  std::uint64_t last_record_ = 0;
  std::optional<WallTime> ended_at_{};
  bool over_ = false;
};

}  // namespace ENCORE_BUILD::detail
