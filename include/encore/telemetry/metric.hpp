// The names and units of all metrics, in OpenTelemetry's form, and each number with its attributes.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>
#include <encore/stop_reason.hpp>
#include <encore/telemetry/tool_counts.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace encore ENCORE_BUILD {

/// A monotonic sum. The unit is in UCUM, as in OpenTelemetry; braces name what is counted.
struct Metric {
  std::string_view name{};
  std::string_view unit{};
  std::string_view description{};
  friend constexpr bool operator==(const Metric&, const Metric&) = default;
};

/// All metrics. The names never change. Attributes: `gen_ai.tool.name` on each, `encore.reason` on `ended`.
namespace metric {
inline constexpr Metric calls{"encore.tool.calls", "{call}", "Logical calls that began or were refused."};
inline constexpr Metric attempts{"encore.tool.attempts", "{attempt}",
                                 "Executions of the callable that began."};
inline constexpr Metric retries{"encore.tool.retries", "{attempt}", "Attempts after the first of a call."};
inline constexpr Metric recovered{"encore.tool.calls.recovered", "{call}",
                                  "Calls that succeeded after a retry."};
inline constexpr Metric exhausted{"encore.tool.calls.exhausted", "{call}",
                                  "Calls that made every attempt they may."};
inline constexpr Metric failed_at_once{"encore.tool.calls.failed_at_once", "{call}",
                                       "Calls whose first attempt failed and was not retryable."};
inline constexpr Metric error_results{"encore.tool.calls.error_results", "{call}",
                                      "Calls whose caller got an error as a value."};
inline constexpr Metric outcomes_unknown{"encore.tool.calls.outcomes_unknown", "{call}",
                                         "Calls that failed and may have had their effect."};
inline constexpr Metric dispatched_again{"encore.tool.attempts.dispatched_again", "{attempt}",
                                         "Attempts whose request a layer below repeated by itself."};
inline constexpr Metric refused{"encore.tool.calls.refused", "{call}",
                                "Calls that a guard or an entry check stopped."};
inline constexpr Metric ended{"encore.tool.calls.ended", "{call}", "Calls that ended, by the reason."};
inline constexpr Metric slept{"encore.tool.slept", "s", "Time between attempts, of calls that ended."};

inline constexpr std::array all{calls,          attempts,      retries,          recovered,        exhausted,
                                failed_at_once, error_results, outcomes_unknown, dispatched_again, refused,
                                ended,          slept};
}  // namespace metric

/// One number: a count, or a time in seconds.
struct MetricPoint {
  const Metric& metric;
  std::string_view tool;    ///< attribute `gen_ai.tool.name`
  std::string_view reason;  ///< attribute `encore.reason`; empty where the metric has none
  std::uint64_t count;
  Duration time;

  bool is_time() const noexcept { return metric.unit == "s"; }
  double value() const noexcept {
    return is_time() ? std::chrono::duration<double>{time}.count() : static_cast<double>(count);
  }
};

/// Calls `use(const MetricPoint&)` for each number of a snapshot, metric by metric. Stop reasons with a count of 0 are omitted.
///   for_each_point(counters.snapshot(), [&](const MetricPoint& point) { meter(point.metric).add(point.value(), …); });
template <class Use>
void for_each_point(const CountersSnapshot& snapshot, Use&& use) {
  const auto each = [&](const Metric& metric, auto count_of) {
    for (const auto& tool : snapshot.tools()) use(MetricPoint{metric, tool.tool, {}, count_of(tool), {}});
  };
  each(metric::calls, [](const ToolCounts& tool) { return tool.calls; });
  each(metric::attempts, [](const ToolCounts& tool) { return tool.attempts; });
  each(metric::retries, [](const ToolCounts& tool) { return tool.retries; });
  each(metric::recovered, [](const ToolCounts& tool) { return tool.recovered; });
  each(metric::exhausted, [](const ToolCounts& tool) { return tool.exhausted(); });
  each(metric::failed_at_once, [](const ToolCounts& tool) { return tool.failed_at_once; });
  each(metric::error_results, [](const ToolCounts& tool) { return tool.error_results; });
  each(metric::outcomes_unknown, [](const ToolCounts& tool) { return tool.outcomes_unknown; });
  each(metric::dispatched_again, [](const ToolCounts& tool) { return tool.dispatched_again; });
  each(metric::refused, [](const ToolCounts& tool) { return tool.refused(); });
  for (const auto& tool : snapshot.tools()) {
    for (std::size_t i = 0; i < stop_reason_count; ++i)
      if (tool.ended[i] > 0)
        use(MetricPoint{metric::ended, tool.tool, to_string(static_cast<StopReason>(i)), tool.ended[i], {}});
  }
  for (const auto& tool : snapshot.tools()) use(MetricPoint{metric::slept, tool.tool, {}, 0, tool.slept});
}

}  // namespace encore ENCORE_BUILD
