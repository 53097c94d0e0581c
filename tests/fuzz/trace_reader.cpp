// Feeds any bytes to the reader of logs and to the diagnosis of what it finds; stops at the first answer that breaks a rule.
#include "fuzz.hpp"
#include <encore/analysis/diagnosis.hpp>
#include <encore/analysis/diagnosis_text.hpp>
#include <encore/analysis/read_trace.hpp>
#include <encore/analysis/trace_assembler.hpp>
#include <encore/analysis/trace_reader.hpp>
#include <encore/telemetry/log_text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

using encore::EventRecord;
using encore::LineShape;
using encore::TraceReader;
using fuzz::require;

std::vector<EventRecord> records_in(TraceReader& reader, std::string_view text, std::size_t piece) {
  std::vector<EventRecord> records;
  read_trace(
      reader,
      [&](char* to, std::size_t most) {
        const auto count = std::min({piece, most, text.size()});
        std::copy_n(text.data(), count, to);
        text.remove_prefix(count);
        return count;
      },
      [&](const EventRecord& record) { records.push_back(record); });
  return records;
}

/// What is written is read back. Bytes that are no UTF-8 are replaced in writing, so the comparison begins after that.
void check_round_trip(const EventRecord& record) {
  TraceReader reader;
  const auto* const once = reader.read(log_text(record, LineShape::json));
  const auto is_short = std::max({record.call_id.size(), record.scope.size(), record.call_name.size(),
                                  record.outer_id.size()}) < 170;
  require(once != nullptr || !is_short, "a record that was written is read back");
  if (once == nullptr) return;
  const auto first = *once;
  const auto* const again = reader.read(log_text(first, LineShape::json));
  require(again != nullptr && *again == first, "nothing changes from the second writing on");
  for (const auto shape : {LineShape::json, LineShape::logfmt})
    require(!encore_tests::acts_on_a_terminal(log_text(record, shape)),
            "a record is one line, and acts on no terminal");
}

void check_diagnosis(const std::vector<EventRecord>& records, int max_calls) {
  encore::Diagnosis diagnosis{{.max_calls = max_calls, .max_tools = 2, .max_findings = 3, .max_attempts = 2}};
  encore::TraceAssembler assembler{{.max_calls = max_calls}};
  std::uint64_t calls = 0;
  const auto count = [&](const encore::TracedCall& call) {
    if (!call.is_partial() && (call.reported_by_policy || call.request_count > 0)) ++calls;
    require(call.attempts.size() <= encore::TracedCall::max_stored_attempts, "a call keeps so many attempts");
  };
  for (const auto& record : records) {
    diagnosis.add(record);
    assembler.add(record, count);
  }
  diagnosis.finish();
  assembler.finish(count);
  std::uint64_t told = 0;
  for (const auto& tool : diagnosis.tools()) {
    told += tool.calls;
    require(tool.succeeded + tool.failed + tool.unfinished == tool.calls, "a call has one end");
  }
  require(diagnosis.tools().size() <= 3, "tools are bounded");
  require(told == calls, "no call is lost, and none counted twice");
  for (const auto& finding : diagnosis.findings())
    require(finding.ids.size() <= encore::Finding::max_stored_ids && finding.ids.size() <= finding.calls,
            "ids are bounded");
  require(!encore_tests::lines_act_on_a_terminal(diagnosis_text(diagnosis)),
          "nothing in a diagnosis acts on a terminal");
}

}  // namespace

/// The input: a byte that sizes the pieces and the memory, and the log.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto number = static_cast<std::size_t>(data[0] % 16) + 1;
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  TraceReader reader;
  const auto records = records_in(reader, text, text.size());
  TraceReader in_pieces;
  require(records_in(in_pieces, text, number) == records, "a log says the same in pieces");
  require(in_pieces.skipped() == reader.skipped(), "and the same is skipped");
  require(reader.records() == records.size(), "records are counted");
  require(reader.records() + reader.skipped_count() <= reader.lines(),
          "a line is a record, skipped, or empty");
  require(reader.skipped().size() <= TraceReader::max_skipped_lines, "the report is bounded");
  require(!encore_tests::lines_act_on_a_terminal(skipped_text(reader)),
          "nothing in the report acts on a terminal");
  for (const auto& record : records) check_round_trip(record);
  check_diagnosis(records, static_cast<int>(number));
  return 0;
}

#ifdef ENCORE_FUZZ_STANDALONE
int main(int count, char** arguments) {
  fuzz::feed_files(count, arguments);
  constexpr std::string_view lines[] = {
      R"({"timestamp":"2024-05-07T08:03:09.5Z","encore.scope":"s","encore.event":"attempt_started","gen_ai.tool.call.id":"a","gen_ai.tool.name":"ship","encore.attempt":1,"encore.max_attempts":3,"encore.remaining":5})",
      R"({"timestamp":1715068990,"encore.scope":"s","encore.event":"attempt_failed","gen_ai.tool.call.id":"a","gen_ai.tool.name":"ship","encore.attempt":1,"error.type":"E\u001b[2J\u009b\u202e","exception.message":"\ud83d\ude00","encore.response.status":503,"encore.response.request_id":"r","encore.dispatched":true,"encore.will_retry":true,"encore.retry_in":0.25,"encore.hint":1e-3,"encore.elapsed":1})",
      R"({"encore.scope":"s","encore.event":"attempt_succeeded","gen_ai.tool.call.id":"a","encore.attempt":2,"encore.error_result":true})",
      R"({"encore.scope":"s","encore.event":"call_finished","gen_ai.tool.call.id":"a","encore.attempts":2,"encore.reason":"succeeded","encore.mode":"result","encore.slept":0.25,"encore.outer.call.id":"b","encore.outer.attempt":1})",
      R"({"gen_ai.tool.call.id":"a","gen_ai.tool.name":"ship","encore.response.status":500,"encore.took":2})",
      R"({"gen_ai.tool.name":"lookup","encore.resend_count":2147483647,"error":{"type":"timeout","a":[1,{"b":"}"}]}})",
      "2024-05-07 INFO plain text",
      ""};
  std::string all;
  for (const auto line : lines) all.append(line).append(1, '\n');
  std::vector<std::string> texts{all, all + all};
  for (std::size_t length = 0; length <= all.size(); ++length) texts.push_back(all.substr(0, length));
  // Every place changed to each of a few bytes.
  for (std::size_t at = 0; at < all.size(); ++at)
    for (const char byte : {'"', '9', '\n'}) texts.push_back(all), texts.back()[at] = byte;
  for (std::size_t i = 0; i < texts.size(); ++i) fuzz::feed(static_cast<char>(i) + texts[i]);
  std::printf("%zu inputs, no rule broken\n", texts.size());
}
#endif
