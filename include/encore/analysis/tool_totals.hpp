// The sums of a log for one tool.
#pragma once
#include <encore/analysis/finding.hpp>
#include <encore/analysis/traced_call.hpp>
#include <encore/duration.hpp>
#include <encore/stop_reason.hpp>

#include <cstdint>
#include <string>

namespace encore ENCORE_BUILD {

/// How many calls there were, how they ended, and what they cost. Each call is in one of `succeeded`, `failed` and `unfinished`.
struct ToolTotals {
  std::string tool{};
  std::uint64_t calls = 0;
  std::uint64_t attempts = 0;
  std::uint64_t requests = 0;   ///< that others logged
  std::uint64_t succeeded = 0;  ///< and those that a filter does not name, and that nobody judged
  std::uint64_t recovered = 0;  ///< succeeded after retries
  std::uint64_t failed = 0;
  std::uint64_t exhausted = 0;  ///< of those that failed
  std::uint64_t unfinished = 0;
  std::uint64_t error_results = 0;  ///< calls that returned an answer which says that the tool failed
  std::uint64_t observer_errors = 0;
  Duration slept{};             ///< between attempts
  Duration worked{};            ///< in attempts
  bool worked_is_known = true;  ///< of all calls; otherwise `worked` is that of the others

  void add(const TracedCall& call);

  friend bool operator==(const ToolTotals&, const ToolTotals&) = default;
};

/// The time that a call slept between its attempts, as far as the log tells.
inline Duration slept(const TracedCall& call) noexcept {
  if (call.finished) return call.slept;
  Duration all{};
  for (const auto& attempt : call.attempts) all = sum_of(all, attempt.wait);
  return all;
}

/// The time that it spent in its attempts; empty if the log does not tell.
inline std::optional<Duration> worked(const TracedCall& call) noexcept {
  if (call.elapsed) return larger_of(*call.elapsed - call.slept, Duration::zero());
  if (call.continued) return std::nullopt;  // its first attempts were told of another
  Duration all{};
  for (const auto& attempt : call.told()) {
    if (!attempt.took) return std::nullopt;
    all = sum_of(all, *attempt.took);
  }
  return all;
}

inline void ToolTotals::add(const TracedCall& call) {
  const auto attempts_told = call.attempts_told();
  const auto& told = call.told();
  ++calls;
  attempts += static_cast<std::uint64_t>(attempts_told);
  requests += static_cast<std::uint64_t>(call.request_count);
  observer_errors += static_cast<std::uint64_t>(call.observer_errors);
  const auto good = call.finished
                        ? call.error_type.empty()
                        : !call.told_by_policy && !told.empty() && told.back().end == AttemptEnd::succeeded;
  const auto over = call.finished || !call.told_by_policy;
  if (!over)
    ++unfinished;
  else if (!good)
    ++failed;
  else
    ++succeeded;
  if (good && attempts_told > 1) ++recovered;
  if (call.reason == StopReason::retries_exhausted) ++exhausted;
  if (good && !told.empty() && told.back().error_result) ++error_results;
  slept = sum_of(slept, encore::slept(call));
  const auto work = encore::worked(call);
  if (work) worked = sum_of(worked, *work);
  worked_is_known = worked_is_known && work.has_value();
}

}  // namespace encore ENCORE_BUILD
