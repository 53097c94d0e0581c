// Logs written by hand, with short names for their fields.
#pragma once
#include <encore/analysis/diagnosis.hpp>
#include <encore/analysis/finding.hpp>
#include <encore/analysis/trace_reader.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tests {

inline encore::TraceFields short_fields() {
  return {.timestamp = "t",
          .scope = "scope",
          .event = "event",
          .call = "id",
          .tool = "tool",
          .resolved = "resolved",
          .attempt = "n",
          .attempts = "attempts",
          .max_attempts = "of",
          .error = "error",
          .error_code = "code",
          .message = "message",
          .status = "status",
          .request_id = "request",
          .dispatched = "sent",
          .answered = "answered",
          .key_used = "key",
          .error_result = "error_result",
          .will_retry = "again",
          .retry_in = "wait",
          .reason = "reason",
          .outcome_unknown = "unknown",
          .mode = "mode",
          .slept = "slept",
          .elapsed = "elapsed",
          .took = "took",
          .remaining = "left",
          .outer_call = "outer",
          .outer_attempt = "outer_n"};
}

/// Calls `use` with each record of a text, which must have no other lines.
template <class Use>
void each_record(std::string_view log, Use use) {
  encore::TraceReader reader{short_fields()};
  while (!log.empty()) {
    const auto line = log.substr(0, log.find('\n'));
    log.remove_prefix(line.size() < log.size() ? line.size() + 1 : log.size());
    if (const auto* const record = reader.read(line)) use(*record);
  }
  if (reader.skipped_count() > 0) throw std::runtime_error{encore::skipped_text(reader)};
}

inline encore::Diagnosis diagnose(std::string_view log, const encore::DiagnosisOptions& options = {}) {
  encore::Diagnosis diagnosis{options};
  each_record(log, [&](const encore::EventRecord& record) { diagnosis.add(record); });
  diagnosis.finish();
  return diagnosis;
}

/// The kinds of all findings, in their order.
inline std::vector<std::string> kinds_of(const encore::Diagnosis& diagnosis) {
  std::vector<std::string> kinds;
  for (const auto& finding : diagnosis.findings()) kinds.emplace_back(to_string(finding.kind));
  return kinds;
}

/// The one finding of its kind.
inline encore::Finding only(const encore::Diagnosis& diagnosis, encore::FindingKind kind) {
  encore::Finding found;
  int count = 0;
  for (const auto& finding : diagnosis.findings())
    if (finding.kind == kind) found = finding, ++count;
  if (count != 1)
    throw std::runtime_error{std::to_string(count) + " findings of the kind " + std::string{to_string(kind)}};
  return found;
}

}  // namespace tests
