// A finding of a diagnosis: one kind of event in the calls of one tool.
#pragma once
#include <encore/analysis/traced_call.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/duration.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace encore ENCORE_BUILD {

enum class Severity : std::uint8_t {
  error,    ///< the retry contract does not hold, or the log is wrong
  warning,  ///< the contract holds, but a person should look at the result
  info,     ///< as intended
};
constexpr std::string_view to_string(Severity severity) noexcept {
  switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::info: return "info";
  }
  return "warning";
}

enum class FindingKind : std::uint8_t {
  over_ceiling,          ///< more attempts than allowed
  layers_multiplied,     ///< another layer repeated each attempt
  never_reached_policy,  ///< attempts that no policy reported, in a log where policies report others
  repeated_after_unknown_outcome,  ///< sent again although the first request may have taken effect
  wait_past_deadline,              ///< a wait ended, or an attempt began, after the deadline
  ordinal_missing,
  ordinal_repeated,
  id_reused,   ///< a call has the id of one that had ended
  without_id,  ///< attempts that belong to no known call
  no_end,      ///< the last attempt failed, but the call reported neither an exception nor an error result
  outcome_unknown,
  repeated_without_retries,  ///< several calls in a row, one attempt each
  not_retried,               ///< failed on its only attempt; no policy reported it, so the reason is unknown
  not_retryable,             ///< the filter did not match the failure
  ran_once,                  ///< no filter names the tool, or it is declared to run once
  exhausted,
  repeated_after_exhaustion,  ///< several calls in a row, each with its own retries
  out_of_time,
  refused,  ///< by a guard, or because the tool does not exist
  cancelled,
  error_result,    ///< returned a value which says that the tool failed
  mostly_waiting,  ///< spent more time in waits than in attempts
  unfinished,      ///< the log ends before the call
  recovered,       ///< succeeded after retries
};
inline constexpr std::size_t finding_kind_count = static_cast<std::size_t>(FindingKind::recovered) + 1;

constexpr std::string_view to_string(FindingKind kind) noexcept {
  constexpr std::array<std::string_view, finding_kind_count> names{"over_ceiling",
                                                                   "layers_multiplied",
                                                                   "never_reached_policy",
                                                                   "repeated_after_unknown_outcome",
                                                                   "wait_past_deadline",
                                                                   "ordinal_missing",
                                                                   "ordinal_repeated",
                                                                   "id_reused",
                                                                   "without_id",
                                                                   "no_end",
                                                                   "outcome_unknown",
                                                                   "repeated_without_retries",
                                                                   "not_retried",
                                                                   "not_retryable",
                                                                   "ran_once",
                                                                   "exhausted",
                                                                   "repeated_after_exhaustion",
                                                                   "out_of_time",
                                                                   "refused",
                                                                   "cancelled",
                                                                   "error_result",
                                                                   "mostly_waiting",
                                                                   "unfinished",
                                                                   "recovered"};
  return names[static_cast<std::size_t>(kind)];
}
constexpr Severity severity(FindingKind kind) noexcept {
  if (kind <= FindingKind::no_end) return Severity::error;
  return kind == FindingKind::recovered ? Severity::info : Severity::warning;
}
static_assert(to_string(FindingKind::recovered) == "recovered");

/// The counts of one kind, for one tool and, where there are several, one error type or stop reason. A regular value.
struct Finding {
  static constexpr std::size_t max_stored_ids = 5;

  FindingKind kind = FindingKind::recovered;
  std::string tool{};
  std::string detail{};         ///< an error type or a stop reason; empty for kinds that need neither
  std::string resolved_name{};  ///< the first name that the tool was resolved to, if it differs from `tool`
  std::uint64_t calls = 0;
  std::uint64_t attempts = 0;  ///< of all these calls together
  int min_attempts_per_call = 0;
  int max_attempts_per_call = 0;
  std::uint64_t requests = 0;    ///< sent by an inner layer, or logged by a client, for these attempts
  std::optional<int> ceiling{};  ///< the attempts allowed, of the first call with a limit
  std::uint64_t rows = 0;        ///< of calls that followed one another
  bool with_key = false;         ///< each attempt asked for its idempotency key
  bool looks_transient = false;  ///< the error's type, code, text or status suggests a transient failure
  Duration slept{};
  Duration worked{};
  Duration max_overrun{};          ///< the largest time by which an attempt or a wait passed the deadline
  std::vector<std::string> ids{};  ///< of the first calls
  std::string scope{};             ///< of the first call

  friend bool operator==(const Finding&, const Finding&) = default;
};

namespace detail {

inline void count_in(Finding& finding, const TracedCall& call) {
  const auto attempts = call.reported_attempt_count();
  if (finding.calls == 0) {
    finding.scope = call.scope;
    finding.min_attempts_per_call = finding.max_attempts_per_call = attempts;
  }
  finding.min_attempts_per_call = shared::smaller_of(finding.min_attempts_per_call, attempts);
  finding.max_attempts_per_call = shared::larger_of(finding.max_attempts_per_call, attempts);
  ++finding.calls;
  finding.attempts += static_cast<std::uint64_t>(attempts);
  if (!finding.ceiling) finding.ceiling = call.max_attempts;
  if (finding.resolved_name.empty() && call.resolved_name != call.tool)
    finding.resolved_name = call.resolved_name;
  if (finding.ids.size() < Finding::max_stored_ids) finding.ids.push_back(call.id);
}

/// Adds the counts of a finding of the same kind.
inline void add_up(Finding& sum, const Finding& more) {
  if (sum.calls == 0) {
    sum.scope = more.scope;
    sum.min_attempts_per_call = more.min_attempts_per_call;
    sum.with_key = more.with_key;
  }
  if (sum.resolved_name.empty()) sum.resolved_name = more.resolved_name;
  sum.calls += more.calls;
  sum.attempts += more.attempts;
  sum.min_attempts_per_call = shared::smaller_of(sum.min_attempts_per_call, more.min_attempts_per_call);
  sum.max_attempts_per_call = shared::larger_of(sum.max_attempts_per_call, more.max_attempts_per_call);
  sum.requests += more.requests;
  if (!sum.ceiling) sum.ceiling = more.ceiling;
  sum.rows += more.rows;
  sum.with_key = sum.with_key && more.with_key;
  sum.looks_transient = sum.looks_transient || more.looks_transient;
  sum.max_overrun = shared::larger_of(sum.max_overrun, more.max_overrun);
  for (const auto& id : more.ids)
    if (sum.ids.size() < Finding::max_stored_ids) sum.ids.push_back(id);
}

}  // namespace detail

}  // namespace encore ENCORE_BUILD
