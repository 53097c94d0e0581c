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

/// A tool's sums in one line.
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
  add(totals.unfinished, " without an end", 0, "");
  if (totals.requests > 0 && totals.requests != totals.attempts)
    text.append("; ").append(counted(totals.requests, "request")).append(" in others' logs");
  if (totals.observer_errors > 0)
    text.append("; ").append(counted(totals.observer_errors, "exception")).append(" of observers");
  if (totals.slept > Duration::zero()) text.append("; slept ").append(detail::short_seconds(totals.slept));
  if (totals.worked > Duration::zero()) {
    text.append("; worked ").append(totals.worked_is_known ? "" : "at least ");
    text.append(detail::short_seconds(totals.worked));
  }
  return text;
}

/// One finding in two lines: what, and what next.
inline std::string finding_text(const Finding& finding) {
  return (finding.tool.empty() ? std::string{} : detail::shown(finding.tool) + ": ")
      .append(what_happened(finding))
      .append(".\n  -> ")
      .append(what_next(finding))
      .append(1, '\n');
}

/// One sentence about the calls that made room for others before the log's end; empty if there were none.
inline std::string made_room_text(std::uint64_t calls, std::uint64_t open) {
  if (calls == 0) return {};
  auto text = detail::counted(calls, "call").append(" made room for others before the log's end");
  if (open > 0) text.append(", ").append(std::to_string(open)).append(" of them before their own");
  text.append(": what others logged of them later was not put to them");
  if (open > 0) text.append(", and nothing is said of those but what their ends told");
  return text.append(1, '.');
}

/// The sums of each tool, then what was found, the gravest first. Many lines; nothing in it acts on a terminal.
inline std::string diagnosis_text(const Diagnosis& diagnosis) {
  std::string text;
  for (const auto& totals : diagnosis.tools()) text.append(totals_text(totals)).append(1, '\n');
  std::optional<Weight> above;
  for (const auto& finding : diagnosis.findings()) {
    if (above != weight(finding.kind)) {
      above = weight(finding.kind);
      text.append(*above == Weight::broken ? "\nWhat should not be\n"
                  : *above == Weight::look ? "\nWhat to look at\n"
                                           : "\nAs it should be\n");
    }
    text.append(finding_text(finding));
  }
  if (text.empty()) return "no call was told of\n";
  if (const auto note = made_room_text(diagnosis.made_room(), diagnosis.made_room_open()); !note.empty())
    text.append(1, '\n').append(note).append(1, '\n');
  return text;
}

}  // namespace encore ENCORE_BUILD
