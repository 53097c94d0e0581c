// How many of what, for each tool: values to compare, to subtract and to write out.
#pragma once
#include <encore/duration.hpp>
#include <encore/stop_reason.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encore {

/// The counts of one tool, from when counting began. A regular value.
struct ToolCounts {
  std::string tool{};
  std::uint64_t calls = 0;      ///< that began, or were refused before any attempt
  std::uint64_t attempts = 0;   ///< that began
  std::uint64_t retries = 0;    ///< of these, all but the first of each call
  std::uint64_t recovered = 0;  ///< calls that succeeded after a retry
  std::uint64_t failed_at_once =
      0;  ///< calls whose first attempt failed and was not to be retried: the filter, or a type that never is
  std::uint64_t error_results =
      0;  ///< calls whose caller got an error as a value: an outcome, a text for the model, or the tool's own answer (B8)
  Duration slept{};                                      ///< by calls that ended, between their attempts
  std::array<std::uint64_t, stop_reason_count> ended{};  ///< calls that ended, by the reason

  std::uint64_t ended_because(StopReason reason) const noexcept {
    return ended[static_cast<std::size_t>(reason)];
  }
  std::uint64_t exhausted() const noexcept { return ended_because(StopReason::retries_exhausted); }
  /// Calls that a guard, or an entry check, did not let go on.
  std::uint64_t refused() const noexcept;
  /// Calls that have begun and not ended.
  std::uint64_t under_way() const noexcept;

  friend bool operator==(const ToolCounts&, const ToolCounts&) = default;
};

/// Did a guard stop the call, or did it not begin at all? (G4, H2)
constexpr bool is_refusal(StopReason reason) noexcept {
  switch (reason) {
    case StopReason::circuit_open:
    case StopReason::retry_budget_spent:
    case StopReason::call_limit_reached:
    case StopReason::step_limit_reached:
    case StopReason::loop_detected:
    case StopReason::spend_limit_reached:
    case StopReason::refused_by_guard:
    case StopReason::expired_on_entry:
    case StopReason::cancelled_on_entry: return true;
    default: return false;
  }
}

inline std::uint64_t ToolCounts::refused() const noexcept {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < stop_reason_count; ++i)
    if (is_refusal(static_cast<StopReason>(i))) count += ended[i];
  return count;
}
inline std::uint64_t ToolCounts::under_way() const noexcept {
  auto count = calls;
  for (const auto over : ended) count -= over < count ? over : count;
  return count;
}

/// What was counted from one snapshot to a later one of the same tool. A count that went down, because it began anew, is taken
/// as it is: nothing becomes negative.
inline ToolCounts operator-(ToolCounts later, const ToolCounts& earlier) noexcept {
  const auto take = [](auto& from, const auto& what) {
    if (from >= what) from -= what;
  };
  take(later.calls, earlier.calls);
  take(later.attempts, earlier.attempts);
  take(later.retries, earlier.retries);
  take(later.recovered, earlier.recovered);
  take(later.failed_at_once, earlier.failed_at_once);
  take(later.error_results, earlier.error_results);
  take(later.slept, earlier.slept);
  for (std::size_t i = 0; i < stop_reason_count; ++i) take(later.ended[i], earlier.ended[i]);
  return later;
}

/// The counts of all tools at one time, by name. A regular value.
class CountersSnapshot {
 public:
  CountersSnapshot() = default;
  explicit CountersSnapshot(std::vector<ToolCounts> tools) : tools_{std::move(tools)} {
    std::sort(tools_.begin(), tools_.end(),
              [](const ToolCounts& a, const ToolCounts& b) { return a.tool < b.tool; });
  }

  const std::vector<ToolCounts>& tools() const noexcept { return tools_; }
  /// All zero for a tool that was not seen.
  ToolCounts of(std::string_view tool) const {
    const auto found =
        std::lower_bound(tools_.begin(), tools_.end(), tool,
                         [](const ToolCounts& counts, std::string_view name) { return counts.tool < name; });
    return found != tools_.end() && found->tool == tool ? *found : ToolCounts{.tool = std::string{tool}};
  }
  /// What was counted since an earlier snapshot. Tools that were seen since then are there in full.
  friend CountersSnapshot operator-(const CountersSnapshot& later, const CountersSnapshot& earlier) {
    auto difference = later;
    for (auto& counts : difference.tools_) counts = std::move(counts) - earlier.of(counts.tool);
    return difference;
  }
  friend bool operator==(const CountersSnapshot&, const CountersSnapshot&) = default;

 private:
  std::vector<ToolCounts> tools_;
};

}  // namespace encore
