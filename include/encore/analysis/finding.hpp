// What a diagnosis found: one kind of thing that happened to calls of one tool.
#pragma once
#include <encore/analysis/traced_call.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/duration.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace encore ENCORE_BUILD {

/// How much it matters.
enum class Weight : std::uint8_t {
  broken,    ///< the contract of retries does not hold, or the log does not tell the truth
  look,      ///< it holds, and somebody should look at what came of it
  expected,  ///< as it should be
};
constexpr std::string_view to_string(Weight weight) noexcept {
  switch (weight) {
    case Weight::broken: return "broken";
    case Weight::look: return "look";
    case Weight::expected: return "expected";
  }
  return "look";
}

enum class FindingKind : std::uint8_t {
  over_ceiling,          ///< more attempts than allowed
  layers_multiplied,     ///< another layer repeated each attempt
  never_reached_policy,  ///< attempts of which no policy knew, in a log where policies told of others
  repeated_after_unknown_outcome,  ///< sent again though the first may have had its effect
  wait_past_deadline,              ///< a wait that ended, or an attempt that began, when the time was over
  ordinal_missing,
  ordinal_repeated,
  id_reused,   ///< a call with the id of one that had ended
  without_id,  ///< attempts that no call can be told of
  no_end,      ///< its last attempt failed, and neither an exception nor an error result left
  outcome_unknown,
  repeated_without_retries,  ///< several calls in a row, one attempt each
  not_retried,    ///< failed on its only attempt; only others' logs tell of it, so nobody knows why
  not_retryable,  ///< the filter did not match the failure
  ran_once,       ///< the tool is in no filter, or declared to run once
  exhausted,
  repeated_after_exhaustion,  ///< several calls in a row, each with a budget of its own
  out_of_time,
  refused,  ///< by a guard, or because there is no such tool
  cancelled,
  error_result,    ///< returned, and what was returned says that it failed
  mostly_waiting,  ///< more time asleep than at work
  unfinished,      ///< the log ends before the call does
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
constexpr Weight weight(FindingKind kind) noexcept {
  if (kind <= FindingKind::no_end) return Weight::broken;
  return kind == FindingKind::recovered ? Weight::expected : Weight::look;
}
static_assert(to_string(FindingKind::recovered) == "recovered");

/// The numbers of one kind of thing, for one tool and, where there are several, for one error's type or one reason.
struct Finding {
  static constexpr std::size_t most_ids_kept = 5;

  FindingKind kind = FindingKind::recovered;
  std::string tool{};
  std::string detail{};  ///< an error's type, or why a call was stopped; empty where that does not matter
  std::string
      resolved_name{};  ///< what the tool was resolved to, in the first call where it was another name
  std::uint64_t calls = 0;
  std::uint64_t attempts = 0;  ///< that these calls made
  int fewest_attempts = 0;     ///< of one of them
  int most_attempts = 0;
  std::uint64_t requests =
      0;  ///< that reached further than these attempts: by layers within, or as others logged
  std::optional<int> ceiling{};  ///< the most attempts allowed, of the first call that had one
  std::uint64_t rows = 0;        ///< of calls that followed one another
  bool with_key = false;         ///< each of these attempts asked for its idempotency key
  bool looks_passing =
      false;  ///< type, status or text of the error speak of a timeout or of a fault that passes
  Duration slept{};
  Duration worked{};
  Duration longest{};              ///< how far past the deadline, at most
  std::vector<std::string> ids{};  ///< of the first calls
  std::string scope{};             ///< of the first call

  friend bool operator==(const Finding&, const Finding&) = default;
};

namespace detail {

/// Counts a call in.
inline void count_in(Finding& finding, const TracedCall& call) {
  const auto attempts = call.attempts_told();
  if (finding.calls == 0) {
    finding.scope = call.scope;
    finding.fewest_attempts = finding.most_attempts = attempts;
  }
  finding.fewest_attempts = smaller_of(finding.fewest_attempts, attempts);
  finding.most_attempts = larger_of(finding.most_attempts, attempts);
  ++finding.calls;
  finding.attempts += static_cast<std::uint64_t>(attempts);
  if (!finding.ceiling) finding.ceiling = call.max_attempts;
  if (finding.resolved_name.empty() && call.resolved_name != call.tool)
    finding.resolved_name = call.resolved_name;
  if (finding.ids.size() < Finding::most_ids_kept) finding.ids.push_back(call.id);
}

/// Adds the numbers of a finding of the same kind.
inline void add_up(Finding& sum, const Finding& more) {
  if (sum.calls == 0) {
    sum.scope = more.scope;
    sum.fewest_attempts = more.fewest_attempts;
    sum.with_key = more.with_key;
  }
  if (sum.resolved_name.empty()) sum.resolved_name = more.resolved_name;
  sum.calls += more.calls;
  sum.attempts += more.attempts;
  sum.fewest_attempts = smaller_of(sum.fewest_attempts, more.fewest_attempts);
  sum.most_attempts = larger_of(sum.most_attempts, more.most_attempts);
  sum.requests += more.requests;
  if (!sum.ceiling) sum.ceiling = more.ceiling;
  sum.rows += more.rows;
  sum.with_key = sum.with_key && more.with_key;
  sum.looks_passing = sum.looks_passing || more.looks_passing;
  sum.longest = larger_of(sum.longest, more.longest);
  for (const auto& id : more.ids)
    if (sum.ids.size() < Finding::most_ids_kept) sum.ids.push_back(id);
}

}  // namespace detail

}  // namespace encore ENCORE_BUILD
