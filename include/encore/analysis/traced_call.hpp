// One call as a log tells it: its attempts, what lay between them, and how it ended.
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
  unknown,  ///< it was running when the log ended, or its end was not told
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

/// One attempt, put together from its lines: what they tell of it, without what they tell of its call. What the log does not tell
/// is empty. `took` is on the policy's clock where it told so, else by the calendar; `remaining`, at the last line that told.
struct TracedAttempt : EventRecord {
  AttemptEnd end = AttemptEnd::unknown;
  std::optional<WallTime> started{};
  std::optional<WallTime> ended{};

  /// The request left, and no answer came. (I3)
  bool outcome_unknown() const noexcept {
    return dispatched && !answered && (dispatched_again || (!not_run && !status));
  }

  friend bool operator==(const TracedAttempt&, const TracedAttempt&) = default;
};

/// A set of ordinals that some lines told of. Those past the 64th are only counted.
struct OrdinalsSeen {
  std::uint64_t first_64 = 0;
  int highest = 0;
  int repeated = 0;  ///< lines that told of one that had been told of

  void add(int ordinal) noexcept {
    if (ordinal < 1) return;
    if (ordinal > highest) highest = ordinal;
    if (ordinal > 64) return;
    const auto bit = std::uint64_t{1} << (ordinal - 1);
    if ((first_64 & bit) != 0) ++repeated;
    first_64 |= bit;
  }
  /// Those below the highest of which no line told, among the first 64.
  int missing() const noexcept {
    int count = 0;
    for (int ordinal = 1; ordinal < highest && ordinal <= 64; ++ordinal)
      if ((first_64 >> (ordinal - 1) & 1) == 0) ++count;
    return count;
  }
  friend bool operator==(const OrdinalsSeen&, const OrdinalsSeen&) = default;
};

/// A call that a log told of, known by scope and id. (I2)
struct TracedCall {
  static constexpr std::size_t most_attempts_kept = 64;

  std::string scope{};
  std::string id{};
  std::string tool{};
  std::string resolved_name{};
  std::optional<int> max_attempts{};
  std::optional<std::int64_t> max_requests{};

  bool told_by_policy = false;            ///< there was an event of it
  std::vector<TracedAttempt> attempts{};  ///< that the policy told of; the first `most_attempts_kept`
  int attempt_count = 0;                  ///< of them, kept or not
  OrdinalsSeen ordinals{};                ///< of the attempts that began
  std::vector<TracedAttempt>
      requests{};  ///< attempts in logs that no policy wrote; the first `most_attempts_kept`
  int request_count = 0;
  OrdinalsSeen request_ordinals{};

  bool finished = false;  ///< its end was told, and with it what follows
  StopReason reason = StopReason::none;
  TerminalMode mode = TerminalMode::none;
  int attempts_made = 0;  ///< as its end told
  Duration slept{};
  std::optional<Duration> elapsed{};
  std::string error_type{};  ///< of its last failure, as `failure_name` has it
  bool outcome_unknown = false;
  int observer_errors = 0;

  std::string outer_id{};  ///< the call inside whose attempt it ran (J1)
  int outer_ordinal = 0;
  int inner_calls = 0;              ///< calls that ran inside of its attempts
  std::int64_t inner_attempts = 0;  ///< and what they made in all

  std::optional<WallTime> began_at{};
  std::optional<WallTime> ended_at{};
  std::optional<WallTime> deadline{};
  std::uint64_t first_record = 0;  ///< the numbers of its first and last record in the log, from 1
  std::uint64_t last_record = 0;
  std::uint64_t previous_record = 0;  ///< of another call of this tool and scope, the last before its first
  bool alone = true;                  ///< no other call of this tool and scope was under way when it began
  bool evicted = false;               ///< too many calls were open at once: more of it may have followed
  bool continued = false;  ///< its beginning was told of one that was evicted, or before the log began
  bool id_reused = false;  ///< a call of this scope and id had ended before

  /// How often the callable ran, or the dependency was asked, as far as the log tells.
  int attempts_told() const noexcept {
    const auto own = attempt_count > attempts_made ? attempt_count : attempts_made;
    return own > 0 || told_by_policy ? own : request_count;
  }
  /// A piece of a call by which the whole cannot be judged: its end is told later, or its beginning was told before.
  bool is_piece() const noexcept {
    return told_by_policy ? evicted : continued || (evicted && request_count == 0);
  }
  /// The attempts of the policy, or those that others told of where it told nothing.
  const std::vector<TracedAttempt>& told() const noexcept { return told_by_policy ? attempts : requests; }

  friend bool operator==(const TracedCall&, const TracedCall&) = default;
};

}  // namespace encore ENCORE_BUILD
