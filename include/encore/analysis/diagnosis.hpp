// What a log says of its calls: which were exhausted, which were never retried, and who repeated what.
#pragma once
#include <encore/analysis/call_findings.hpp>
#include <encore/analysis/call_row.hpp>
#include <encore/analysis/finding.hpp>
#include <encore/analysis/tool_totals.hpp>
#include <encore/analysis/trace_assembler.hpp>
#include <encore/analysis/traced_call.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/detail/lru_map.hpp>
#include <encore/duration.hpp>
#include <encore/setting.hpp>
#include <encore/stop_reason.hpp>
#include <encore/telemetry/event_record.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD {

struct DiagnosisOptions {
  Count<"most_calls", 1> most_calls = 10'000;       ///< kept at once while their lines come; some 3 KB each
  Count<"most_tools", 1> most_tools = 200;          ///< told apart; the others are taken together
  Count<"most_findings", 1> most_findings = 1'000;  ///< told apart by an error's type or a reason
  std::optional<int> max_attempts{};                ///< the ceiling, for logs that do not tell it
  std::optional<Duration> deadline{};               ///< from each call's begin, for logs that do not tell it
  /// A call that begins so soon after one of the same tool had failed may be a repetition of it.
  Span<"repeated_within"> repeated_within = std::chrono::minutes{2};
};

/// Names that are told apart no more.
inline constexpr std::string_view other_tools{"(other tools)"};
inline constexpr std::string_view other_details{"(others)"};

/// Adds up what records, or calls that were put together elsewhere, tell. A call that was added is forgotten but for numbers and the
/// first few ids, so the memory it takes does not grow with the log. Calls are expected in the order in which they ended, as
/// `TraceAssembler` hands them on. One thread at a time.
///   Diagnosis diagnosis;
///   while (...) diagnosis.add(*record);
///   diagnosis.finish();
///   fmt::print("{}", diagnosis_text(diagnosis));
class Diagnosis {
 public:
  explicit Diagnosis(const DiagnosisOptions& options = {})
      : options_{options},
        calls_{{.most_calls = options.most_calls}} {}

  void add(const EventRecord& record) {
    calls_.add(record, [&](const TracedCall& call) { add(call); });
  }

  void add(const TracedCall& call) {
    came_again_ = came_again_ || (call.continued && call.request_count > 0);
    if (call.is_piece()) return;
    const auto only_outer = !call.told_by_policy && call.request_count == 0;  // calls within it were told of
    const auto tool = only_outer ? call.tool : tool_of(call);
    auto& found = call.evicted ? unsure_ : findings_;
    CallFindings{call, options_.max_attempts, options_.deadline}.tell(
        [&](FindingKind kind, std::string_view detail) -> Finding& {
          return finding(found, kind, tool, detail);
        });
    if (only_outer) return;
    totals_.find(tool)->second.add(call);
    if (call.told_by_policy) ++policy_calls_;
    add_to_row(call, tool);
  }

  /// No more will come. What is still open is taken as it stands.
  void finish() {
    calls_.finish([&](const TracedCall& call) { add(call); });
    while (!rows_.empty()) end_row(rows_.take_oldest());
  }

  /// What was found, the gravest first, and of one weight what concerns most calls.
  std::vector<Finding> findings() const {
    std::vector<Finding> all;
    auto known = findings_;
    if (!came_again_)
      for (const auto& [key, found] : unsure_)
        detail::add_up(finding(known, found.kind, found.tool, found.detail), found);
    for (const auto& [key, found] : known) {
      // Whether a call passed a policy by can be said only if policies told of calls at all.
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
      return std::tuple{weight(found.kind), ~found.calls, found.kind, std::string_view{found.tool},
                        std::string_view{found.detail}};
    };
    std::sort(all.begin(), all.end(), [&](const Finding& a, const Finding& b) { return rank(a) < rank(b); });
    return all;
  }

  /// By the tools' names.
  std::vector<ToolTotals> tools() const {
    std::vector<ToolTotals> all;
    for (const auto& [name, totals] : totals_) all.push_back(totals), all.back().tool = name;
    return all;
  }
  /// How many calls of policies made room for others before the log's end: nothing is said of them but what their own ends told. 0
  /// where the calls were put together elsewhere.
  std::uint64_t made_room() const noexcept { return calls_.made_room(); }
  /// How many of these had not ended.
  std::uint64_t made_room_open() const noexcept { return calls_.made_room_open(); }

 private:
  using Key = std::tuple<FindingKind, std::string, std::string>;
  using Findings = std::map<Key, Finding>;
  static constexpr std::size_t most_rows = 4'096;

  std::string tool_of(const TracedCall& call) {
    if (totals_.find(call.tool) != totals_.end()) return call.tool;
    const auto full = totals_.size() >= static_cast<std::size_t>(options_.most_tools);
    auto name = full ? std::string{other_tools} : call.tool;
    totals_.try_emplace(name);
    return name;
  }

  Finding& finding(Findings& findings, FindingKind kind, const std::string& tool,
                   std::string_view detail) const {
    auto found = findings.find(Key{kind, tool, detail});
    if (found == findings.end()) {
      const auto full = findings.size() >= static_cast<std::size_t>(options_.most_findings);
      found = findings.try_emplace(Key{kind, tool, full ? other_details : detail}).first;
      found->second.kind = kind;
      found->second.tool = tool;
      found->second.detail = std::get<2>(found->first);
    }
    return found->second;
  }

  // What runs inside another call is repeated by that one, and what runs once by declaration is not meant to be retried.
  static bool may_be_repeated_by_others(const TracedCall& call) noexcept {
    return call.outer_id.empty() && call.reason != StopReason::nested_made_single &&
           call.reason != StopReason::not_repeatable && call.reason != StopReason::unknown_outcome;
  }
  void add_to_row(const TracedCall& call, const std::string& tool) {
    // Nobody knows whether calls of tools that are taken together repeat one another, nor how an evicted one went on.
    if (call.id.empty() || call.evicted || tool == other_tools || !may_be_repeated_by_others(call)) return;
    key_.assign(call.scope).append(1, '\n').append(tool);
    if (rows_.find(key_) == nullptr) {
      if (!failed(call)) return;
      if (rows_.size() >= most_rows) end_row(rows_.take_oldest());
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
  Findings unsure_;  // of evicted calls that no policy told of: true if the log tells no more of such
  bool came_again_ = false;
  detail::LruMap<detail::CallRow> rows_;  // of a tool in a scope
  std::string key_;
  std::uint64_t policy_calls_ = 0;
};

}  // namespace encore ENCORE_BUILD
