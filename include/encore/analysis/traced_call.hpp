// One call as logged: its attempts, the waits between them, and how it ended.
#pragma once
#include <encore/duration.hpp>
#include <encore/event.hpp>
#include <encore/stop_reason.hpp>
#include <encore/telemetry/event_record.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace encore ENCORE_BUILD {

enum class AttemptEnd : std::uint8_t {
  unknown,  ///< the log does not show its end
  failed,
  succeeded,
};
constexpr std::string_view to_string(AttemptEnd end) noexcept {
  switch (end) {
    case AttemptEnd::unknown: return "unknown";
    case AttemptEnd::failed: return "failed";
    case AttemptEnd::succeeded: return "succeeded";
  }
  return "unknown";
}

/// One attempt, assembled from its lines: the fields of the attempt, but not those of its call. What the log does not show is empty.
/// `took` is measured by the policy's clock if logged, else by timestamps; `remaining` is the last one logged.
struct TracedAttempt : EventRecord {
  AttemptEnd end = AttemptEnd::unknown;
  std::optional<WallTime> started{};
  std::optional<WallTime> ended{};

  /// Was the request sent, but not answered? (I3)
  bool outcome_unknown() const noexcept {
    return dispatched && !answered && (dispatched_again || (!not_run && !status));
  }

  friend bool operator==(const TracedAttempt&, const TracedAttempt&) = default;
};

/// The ordinals found in a log. Which of them are missing or repeated is known up to the 64th.
struct OrdinalsSeen {
  std::uint64_t first_64 = 0;
  int highest = 0;
  int repeated = 0;  ///< lines with an ordinal seen before

  void add(int ordinal) noexcept {
    if (ordinal < 1) return;
    if (ordinal > highest) highest = ordinal;
    if (ordinal > 64) return;
    const auto bit = std::uint64_t{1} << (ordinal - 1);
    if ((first_64 & bit) != 0) ++repeated;
    first_64 |= bit;
  }
  /// How many ordinals below the highest are missing, among the first 64.
  int missing() const noexcept {
    int count = 0;
    for (int ordinal = 1; ordinal < highest && ordinal <= 64; ++ordinal)
      if ((first_64 >> (ordinal - 1) & 1) == 0) ++count;
    return count;
  }
  friend bool operator==(const OrdinalsSeen&, const OrdinalsSeen&) = default;
};

/// A logged call, identified by scope and id. (I2) A regular value.
struct TracedCall {
  static constexpr std::size_t max_stored_attempts = 64;

  std::string scope{};
  std::string id{};
  std::string tool{};
  std::string resolved_name{};
  std::optional<int> max_attempts{};
  std::optional<std::int64_t> max_requests{};

  bool reported_by_policy = false;        ///< the log has a policy's event of it
  std::vector<TracedAttempt> attempts{};  ///< reported by the policy; the first `max_stored_attempts`
  int attempt_count = 0;                  ///< stored or not
  OrdinalsSeen ordinals{};                ///< of the attempts that began
  std::vector<TracedAttempt> requests{};  ///< logged by clients; the first `max_stored_attempts`
  int request_count = 0;
  OrdinalsSeen request_ordinals{};

  bool finished = false;  ///< the log has its end, which the next fields are read from
  StopReason reason = StopReason::none;
  TerminalMode mode = TerminalMode::none;
  int attempts_made = 0;
  Duration slept{};
  std::optional<Duration> elapsed{};
  std::string error_type{};  ///< `failure_name` of its last failure
  bool outcome_unknown = false;
  int observer_errors = 0;

  std::string outer_id{};  ///< the call inside whose attempt it ran (J1)
  int outer_ordinal = 0;
  int inner_calls = 0;              ///< calls that ran inside its attempts
  std::int64_t inner_attempts = 0;  ///< of these together

  std::optional<WallTime> began_at{};
  std::optional<WallTime> ended_at{};
  std::optional<WallTime> deadline{};
  std::uint64_t first_record = 0;  ///< positions in the log, from 1
  std::uint64_t last_record = 0;
  std::uint64_t previous_record = 0;  ///< the last of another call of this tool and scope before its first
  bool alone = true;                  ///< no other call of this tool and scope was active when it began
  bool evicted = false;    ///< removed because too many calls were open: later records may be missing
  bool continued = false;  ///< it began before the log, or as a call that was evicted
  bool id_reused = false;  ///< an earlier call had this scope and id

  /// How many attempts the policy made, or if it reported none, how many requests were logged.
  int reported_attempt_count() const noexcept {
    const auto own = attempt_count > attempts_made ? attempt_count : attempts_made;
    return own > 0 || reported_by_policy ? own : request_count;
  }
  /// Is its beginning or its end missing, so that it cannot be judged?
  bool is_partial() const noexcept {
    return reported_by_policy ? evicted : continued || (evicted && request_count == 0);
  }
  /// The attempts that the policy reported, or if it reported nothing, those that clients logged.
  const std::vector<TracedAttempt>& reported_attempts() const noexcept {
    return reported_by_policy ? attempts : requests;
  }

  /// Did the call fail, according to the log? Without an end of the call, its last attempt decides.
  bool failed() const noexcept {
    if (finished) return reason != StopReason::succeeded && !error_type.empty();
    const auto& known = reported_attempts();
    return !known.empty() && known.back().end == AttemptEnd::failed && !known.back().will_retry;
  }

  friend bool operator==(const TracedCall&, const TracedCall&) = default;
};

}  // namespace encore ENCORE_BUILD
