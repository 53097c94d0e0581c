// A diagnosis of a log: which calls were exhausted, which were never retried, and what repeated them.
#pragma once
#include <encore/analysis/call_findings.hpp>
#include <encore/analysis/finding.hpp>
#include <encore/analysis/tool_totals.hpp>
#include <encore/analysis/trace_assembler.hpp>
#include <encore/analysis/traced_call.hpp>
#include <encore/detail/analysis/call_row.hpp>
#include <encore/detail/lru_map.hpp>
#include <encore/duration.hpp>
#include <encore/setting.hpp>
#include <encore/stop_reason.hpp>
#include <encore/telemetry/event_record.hpp>
#include <encore/telemetry/tool_counts.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace encore ENCORE_BUILD {

struct DiagnosisOptions {
  Count<"max_calls", 1> max_calls = 10'000;       ///< stored at once, about 3 KB each
  Count<"max_tools", 1> max_tools = 200;          ///< counted separately; the others are counted together
  Count<"max_findings", 1> max_findings = 1'000;  ///< stored separately by error type or stop reason
  std::optional<int> max_attempts{};              ///< of calls whose log has no limit
  std::optional<Duration> deadline{};             ///< from the start of calls whose log has no deadline
  /// A call may repeat a failed one of the same tool if it begins within this time.
  Span<"repeated_within"> repeated_within = std::chrono::minutes{2};
};

/// Summarises a log from its records, or from calls that a `TraceAssembler` has built. It stores counts and the first few ids
/// only, so its memory is bounded. Calls must be added in the order in which they ended. Not thread-safe.
///   Diagnosis diagnosis;
///   while (...) diagnosis.add(*record);
///   diagnosis.finish();
///   fmt::print("{}", diagnosis_text(diagnosis));
class Diagnosis {
 public:
  explicit Diagnosis(const DiagnosisOptions& options = {})
      : options_{options},
        calls_{{.max_calls = options.max_calls}} {}

  void add(const EventRecord& record) {
    calls_.add(record, [&](const TracedCall& call) { add(call); });
  }

  void add(const TracedCall& call) {
    evicted_call_continued_ = evicted_call_continued_ || (call.continued && call.request_count > 0);
    if (call.is_partial()) return;
    // Is it known only as the outer call of others?
    const auto only_outer = !call.reported_by_policy && call.request_count == 0;
    const auto tool = only_outer ? call.tool : tool_of(call);
    auto& found = call.evicted ? uncertain_ : findings_;
    CallFindings{call, options_.max_attempts, options_.deadline}.report(
        [&](FindingKind kind, std::string_view detail) -> Finding& {
          return finding(found, kind, tool, detail);
        });
    if (only_outer) return;
    totals_.find(tool)->second.add(call);
    if (call.reported_by_policy) ++policy_calls_;
    add_to_row(call, tool);
  }

  /// Ends the log. Calls that are still open are counted as they are.
  void finish() {
    calls_.finish([&](const TracedCall& call) { add(call); });
    while (!rows_.empty()) end_row(rows_.take_oldest());
  }

  /// The findings, by severity, then by the number of calls, the most first.
  std::vector<Finding> findings() const {
    std::vector<Finding> all;
    auto known = findings_;
    if (!evicted_call_continued_)
      for (const auto& [key, found] : uncertain_)
        detail::add_up(finding(known, found.kind, found.tool, found.detail), found);
    for (const auto& [key, found] : known) {
      // A call is known to have bypassed the policies only if policies reported others.
      if (found.kind != FindingKind::never_reached_policy || policy_calls_ > 0) all.push_back(found);
    }
    for (const auto& [tool, totals] : totals_) {
      if (totals.slept <= totals.worked || !totals.worked_is_known) continue;
      all.push_back({.kind = FindingKind::mostly_waiting,
                     .tool = tool,
                     .calls = totals.calls,
                     .attempts = totals.attempts,
                     .slept = totals.slept,
                     .worked = totals.worked});
    }
    const auto rank = [](const Finding& found) {
      return std::tuple{severity(found.kind), ~found.calls, found.kind, std::string_view{found.tool},
                        std::string_view{found.detail}};
    };
    std::sort(all.begin(), all.end(), [&](const Finding& a, const Finding& b) { return rank(a) < rank(b); });
    return all;
  }

  /// The totals of each tool, sorted by name.
  std::vector<ToolTotals> tools() const {
    std::vector<ToolTotals> all;
    for (const auto& [name, totals] : totals_) all.push_back(totals), all.back().tool = name;
    return all;
  }
  /// How many reported calls were evicted before the log's end; later records about them were not attributed to them. 0 if the
  /// calls were assembled elsewhere.
  std::uint64_t evicted_count() const noexcept { return calls_.evicted_count(); }
  /// How many of these had not ended when they were evicted.
  std::uint64_t evicted_open_count() const noexcept { return calls_.evicted_open_count(); }

 private:
  using Key = std::tuple<FindingKind, std::string, std::string>;
  using Findings = std::map<Key, Finding>;
  static constexpr std::size_t max_rows = 4'096;

  std::string tool_of(const TracedCall& call) {
    if (totals_.find(call.tool) != totals_.end()) return call.tool;
    const auto full = totals_.size() >= static_cast<std::size_t>(options_.max_tools);
    auto name = full ? std::string{other_tools} : call.tool;
    totals_.try_emplace(name);
    return name;
  }

  Finding& finding(Findings& findings, FindingKind kind, const std::string& tool,
                   std::string_view detail) const {
    auto found = findings.find(Key{kind, tool, detail});
    if (found == findings.end()) {
      const auto full = findings.size() >= static_cast<std::size_t>(options_.max_findings);
      found = findings.try_emplace(Key{kind, tool, full ? std::string_view{"(others)"} : detail}).first;
      found->second.kind = kind;
      found->second.tool = tool;
      found->second.detail = std::get<2>(found->first);
    }
    return found->second;
  }

  // An inner call is repeated by its outer call, and a call that runs once by declaration should not be retried.
  static bool may_be_repeated_by_others(const TracedCall& call) noexcept {
    return call.outer_id.empty() && call.reason != StopReason::nested_made_single &&
           call.reason != StopReason::not_repeatable && call.reason != StopReason::unknown_outcome;
  }
  void add_to_row(const TracedCall& call, const std::string& tool) {
    // Calls of different tools do not repeat one another, and how an evicted call ended is unknown.
    if (call.id.empty() || call.evicted || tool == other_tools || !may_be_repeated_by_others(call)) return;
    key_.assign(call.scope).append(1, '\n').append(tool);
    if (rows_.find(key_) == nullptr) {
      if (!call.failed()) return;
      if (rows_.size() >= max_rows) end_row(rows_.take_oldest());
      rows_.touch(key_) = detail::CallRow{tool};
    }
    auto& row = rows_.touch(key_);
    if (!row.add(call, options_.repeated_within)) {
      end_row(rows_.take(key_));
      return add_to_row(call, tool);
    }
  }
  void end_row(const detail::CallRow& row) {
    const auto found = row.finding();
    if (!found) return;
    detail::add_up(finding(findings_, found->kind, found->tool, {}), *found);
  }

  DiagnosisOptions options_;
  TraceAssembler calls_;
  std::map<std::string, ToolTotals, std::less<>> totals_;
  Findings findings_;
  Findings uncertain_;  // of evicted calls that no policy reported: correct unless such a call continued
  bool evicted_call_continued_ = false;
  detail::LruMap<detail::CallRow> rows_;  // by scope and tool
  std::string key_;
  std::uint64_t policy_calls_ = 0;
};

}  // namespace encore ENCORE_BUILD
