// Calls of one tool that follow one another, because the one before had failed.
#pragma once
#include <encore/analysis/finding.hpp>
#include <encore/analysis/open_call.hpp>
#include <encore/analysis/traced_call.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/duration.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace encore ENCORE_BUILD {

/// Did the call fail, as far as the log tells? One that was cut off has not.
inline bool failed(const TracedCall& call) noexcept {
  if (call.finished) return call.reason != StopReason::succeeded && !call.error_type.empty();
  const auto& told = call.told();
  return !told.empty() && told.back().end == AttemptEnd::failed && !told.back().will_retry;
}

namespace detail {

/// A row: each call began after the one before had ended in failure, and soon, with no other call of the tool under way in
/// that scope. To whoever sees requests only it looks like one call that ignored its ceiling.
class CallRow {
 public:
  CallRow() = default;
  explicit CallRow(std::string_view tool) { finding_.tool = tool; }

  /// Adds the call if it continues the row; calls are told in the order in which they ended.
  bool add(const TracedCall& call, Duration soon) {
    if (finding_.calls > 0 && !continued_by(call, soon)) return false;
    count_in(finding_, call);
    last_record_ = call.last_record;
    ended_at_ = call.ended_at;
    over_ = !failed(call);
    return true;
  }

  /// What the row is, if it is more than one call.
  std::optional<Finding> finding() const {
    if (finding_.calls < 2) return std::nullopt;
    auto found = finding_;
    found.kind = finding_.most_attempts > 1 ? FindingKind::repeated_after_exhaustion
                                            : FindingKind::repeated_without_retries;
    found.rows = 1;
    return found;
  }

 private:
  bool continued_by(const TracedCall& call, Duration soon) const noexcept {
    if (over_ || !call.alone || call.first_record < last_record_) return false;
    if (call.previous_record > last_record_) return false;  // another one came between
    return !ended_at_ || !call.began_at || time_between(*ended_at_, *call.began_at) <= soon;
  }

  Finding finding_{};
  std::uint64_t last_record_ = 0;
  std::optional<WallTime> ended_at_{};
  bool over_ = false;
};

}  // namespace detail

}  // namespace encore ENCORE_BUILD
