// The totals of one tool in a log.
#pragma once
#include <encore/analysis/finding.hpp>
#include <encore/analysis/traced_call.hpp>
#include <encore/duration.hpp>
#include <encore/stop_reason.hpp>

#include <cstdint>
#include <string>

namespace encore ENCORE_BUILD {

/// How many calls there were, how they ended, and how long they took. Each call counts as one of `succeeded`, `failed` and
/// `unfinished`. A regular value.
struct ToolTotals {
  std::string tool{};
  std::uint64_t calls = 0;
  std::uint64_t attempts = 0;
  std::uint64_t requests = 0;   ///< logged by clients, not by policies
  std::uint64_t succeeded = 0;  ///< includes calls that returned and that no filter judged
  std::uint64_t recovered = 0;  ///< succeeded after retries
  std::uint64_t failed = 0;
  std::uint64_t exhausted = 0;  ///< of those that failed
  std::uint64_t unfinished = 0;
  std::uint64_t error_results = 0;  ///< calls that returned a value which says that the tool failed
  std::uint64_t observer_errors = 0;
  Duration slept{};             ///< between attempts
  Duration worked{};            ///< in attempts
  bool worked_is_known = true;  ///< of all calls; otherwise `worked` lacks some

  void add(const TracedCall& call);

  friend bool operator==(const ToolTotals&, const ToolTotals&) = default;
};

namespace detail {

/// The time that a call slept between its attempts, as logged.
inline Duration time_slept(const TracedCall& call) noexcept {
  if (call.finished) return call.slept;
  Duration all{};
  for (const auto& attempt : call.attempts) all = sum_of(all, attempt.wait);
  return all;
}

/// The time that it spent in its attempts; empty if the log does not show it.
inline std::optional<Duration> time_worked(const TracedCall& call) noexcept {
  if (call.elapsed) return shared::larger_of(*call.elapsed - call.slept, Duration::zero());
  if (call.continued) return std::nullopt;  // its first attempts are missing
  Duration all{};
  for (const auto& attempt : call.reported_attempts()) {
    if (!attempt.took) return std::nullopt;
    all = sum_of(all, *attempt.took);
  }
  return all;
}

}  // namespace detail

inline void ToolTotals::add(const TracedCall& call) {
  const auto reported_attempt_count = call.reported_attempt_count();
  const auto& known = call.reported_attempts();
  ++calls;
  attempts += static_cast<std::uint64_t>(reported_attempt_count);
  requests += static_cast<std::uint64_t>(call.request_count);
  observer_errors += static_cast<std::uint64_t>(call.observer_errors);
  const auto good =
      call.finished ? call.error_type.empty()
                    : !call.reported_by_policy && !known.empty() && known.back().end == AttemptEnd::succeeded;
  const auto over = call.finished || !call.reported_by_policy;
  if (!over)
    ++unfinished;
  else if (!good)
    ++failed;
  else
    ++succeeded;
  if (good && reported_attempt_count > 1) ++recovered;
  if (call.reason == StopReason::retries_exhausted) ++exhausted;
  if (good && !known.empty() && known.back().error_result) ++error_results;
  slept = sum_of(slept, detail::time_slept(call));
  const auto work = detail::time_worked(call);
  if (work) worked = sum_of(worked, *work);
  worked_is_known = worked_is_known && work.has_value();
}

}  // namespace encore ENCORE_BUILD
