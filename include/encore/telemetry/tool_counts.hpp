// The counts of each tool, as values that can be compared, subtracted and written out.
#pragma once
#include <encore/detail/attributes.hpp>
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

namespace encore ENCORE_BUILD {

/// The name under which tools beyond a `max_tools` option are counted together.
inline constexpr std::string_view other_tools{"(other tools)"};

/// The counts of one tool since counting began. A regular value.
struct ToolCounts {
  std::string tool{};
  std::uint64_t calls = 0;           ///< that began, or were refused before any attempt
  std::uint64_t attempts = 0;        ///< that began
  std::uint64_t retries = 0;         ///< attempts after the first of each call
  std::uint64_t recovered = 0;       ///< calls that succeeded after a retry
  std::uint64_t failed_at_once = 0;  ///< calls whose first attempt failed and was not retryable
  /// Calls that reported an error as a value: an outcome, a text for the model, or the tool's own result. (B8)
  std::uint64_t error_results = 0;
  std::uint64_t outcomes_unknown = 0;  ///< calls that failed but may have taken effect (I3)
  std::uint64_t dispatched_again = 0;  ///< attempts whose request a lower layer repeated (I3, J1)
  Duration slept{};                    ///< between attempts, of calls that ended
  std::array<std::uint64_t, stop_reason_count> ended{};  ///< calls that ended, by stop reason

  std::uint64_t ended_because(StopReason reason) const noexcept {
    return ended[static_cast<std::size_t>(reason)];
  }
  std::uint64_t exhausted() const noexcept { return ended_because(StopReason::retries_exhausted); }
  /// Calls that a guard or an entry check stopped.
  std::uint64_t refused() const noexcept;
  /// Calls that began and have not ended.
  std::uint64_t under_way() const noexcept;

  friend bool operator==(const ToolCounts&, const ToolCounts&) = default;
};

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

namespace detail {

/// Calls `change(number, other)` with each pair of counts.
template <class Change>
void change_each(ToolCounts& counts, const ToolCounts& others, Change change) {
  change(counts.calls, others.calls);
  change(counts.attempts, others.attempts);
  change(counts.retries, others.retries);
  change(counts.recovered, others.recovered);
  change(counts.failed_at_once, others.failed_at_once);
  change(counts.error_results, others.error_results);
  change(counts.outcomes_unknown, others.outcomes_unknown);
  change(counts.dispatched_again, others.dispatched_again);
  change(counts.slept, others.slept);
  for (std::size_t i = 0; i < stop_reason_count; ++i) change(counts.ended[i], others.ended[i]);
}

}  // namespace detail

/// The counts since an earlier snapshot of the same tool. A count that is lower than before, since counting restarted, is taken
/// as it is, so no count becomes negative.
inline ToolCounts operator-(ToolCounts later, const ToolCounts& earlier) noexcept {
  detail::change_each(later, earlier, [](auto& from, const auto& what) {
    if (from >= what) from -= what;
  });
  return later;
}
/// The sum of two tools, or of one tool in two processes, under the first name.
inline ToolCounts operator+(ToolCounts counts, const ToolCounts& others) noexcept {
  detail::change_each(counts, others, [](auto& to, const auto& what) { to += what; });
  return counts;
}

/// The counts of all tools at one time, sorted by name. A regular value.
class CountersSnapshot {
 public:
  CountersSnapshot() = default;
  /// Tools with the same name are added up.
  explicit CountersSnapshot(std::vector<ToolCounts> tools) {
    std::sort(tools.begin(), tools.end(),
              [](const ToolCounts& a, const ToolCounts& b) { return a.tool < b.tool; });
    for (auto& counts : tools) {
      if (!tools_.empty() && tools_.back().tool == counts.tool)
        tools_.back() = std::move(tools_.back()) + counts;
      else
        tools_.push_back(std::move(counts));
    }
  }

  const std::vector<ToolCounts>& tools() const& noexcept { return tools_; }
  /// By value for temporaries, so that `for (const auto& tool : counters.snapshot().tools())` is safe.
  std::vector<ToolCounts> tools() && noexcept { return std::move(tools_); }
  /// All zero for a tool that was not seen, or that is counted in `other_tools`.
  ToolCounts of(std::string_view tool) const {
    const auto found =
        std::lower_bound(tools_.begin(), tools_.end(), tool,
                         [](const ToolCounts& counts, std::string_view name) { return counts.tool < name; });
    return found != tools_.end() && found->tool == tool ? *found : ToolCounts{.tool = std::string{tool}};
  }
  /// The counts since an earlier snapshot. Tools that are new since then are included in full.
  friend CountersSnapshot operator-(const CountersSnapshot& later, const CountersSnapshot& earlier) {
    auto difference = later;
    for (auto& counts : difference.tools_) {
      const auto before = earlier.of(counts.tool);
      counts = std::move(counts) - before;
    }
    return difference;
  }
  friend bool operator==(const CountersSnapshot&, const CountersSnapshot&) = default;

 private:
  std::vector<ToolCounts> tools_;
};

}  // namespace encore ENCORE_BUILD
