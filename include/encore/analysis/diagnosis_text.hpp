// A diagnosis as text for a terminal.
#pragma once
#include <encore/analysis/diagnosis.hpp>
#include <encore/analysis/finding.hpp>
#include <encore/analysis/finding_text.hpp>
#include <encore/analysis/tool_totals.hpp>
#include <encore/detail/quoted_text.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

/// A tool's totals in one line.
///   inventory_lookup: 3 calls, 7 attempts; 2 succeeded, 1 of them after retries; 1 failed, 1 of them exhausted; slept 0.75 s
inline std::string totals_text(const ToolTotals& totals) {
  using detail::counted;
  auto text = totals.tool.empty() ? std::string{"(no name)"} : detail::shown(totals.tool);
  text.append(": ")
      .append(counted(totals.calls, "call"))
      .append(", ")
      .append(counted(totals.attempts, "attempt"));
  const auto add = [&](std::uint64_t count, std::string_view what, std::uint64_t of_them,
                       std::string_view which) {
    if (count == 0) return;
    text.append("; ").append(std::to_string(count)).append(what);
    if (of_them > 0) text.append(", ").append(std::to_string(of_them)).append(" of them ").append(which);
  };
  add(totals.succeeded, " succeeded", totals.recovered, "after retries");
  add(totals.failed, " failed", totals.exhausted, "exhausted");
  add(totals.unfinished, " unfinished", 0, "");
  if (totals.requests > 0 && totals.requests != totals.attempts)
    text.append("; ").append(counted(totals.requests, "request")).append(" in other logs");
  if (totals.observer_errors > 0)
    text.append("; ").append(counted(totals.observer_errors, "observer exception"));
  if (totals.slept > Duration::zero()) text.append("; slept ").append(detail::short_seconds(totals.slept));
  if (totals.worked > Duration::zero()) {
    text.append("; worked ").append(totals.worked_is_known ? "" : "at least ");
    text.append(detail::short_seconds(totals.worked));
  }
  return text;
}

/// A finding in two lines: what happened, and what to do next.
inline std::string finding_text(const Finding& finding) {
  return (finding.tool.empty() ? std::string{} : detail::shown(finding.tool) + ": ")
      .append(what_happened(finding))
      .append(".\n  -> ")
      .append(what_next(finding))
      .append(1, '\n');
}

/// One sentence about the calls that were evicted before the log's end; empty if there were none.
inline std::string evicted_text(std::uint64_t calls, std::uint64_t open) {
  if (calls == 0) return {};
  auto text = detail::counted(calls, "call").append(" evicted before the log's end");
  if (open > 0) text.append(", ").append(std::to_string(open)).append(" of them unfinished");
  text.append(": later lines about them are not counted as theirs");
  if (open > 0) text.append(", and the unfinished ones are judged by their ends only");
  return text.append(1, '.');
}

/// The totals of each tool, then the findings, the most severe first. Several lines; text from the log is escaped.
inline std::string diagnosis_text(const Diagnosis& diagnosis) {
  std::string text;
  for (const auto& totals : diagnosis.tools()) text.append(totals_text(totals)).append(1, '\n');
  std::optional<Severity> above;
  for (const auto& finding : diagnosis.findings()) {
    if (above != severity(finding.kind)) {
      above = severity(finding.kind);
      text.append(*above == Severity::error     ? "\nErrors\n"
                  : *above == Severity::warning ? "\nWarnings\n"
                                                : "\nAs intended\n");
    }
    text.append(finding_text(finding));
  }
  if (text.empty()) return "the log reports no calls\n";
  if (const auto note = evicted_text(diagnosis.evicted_count(), diagnosis.evicted_open_count());
      !note.empty())
    text.append(1, '\n').append(note).append(1, '\n');
  return text;
}

}  // namespace encore ENCORE_BUILD
