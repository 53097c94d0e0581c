// Reads logs line by line into records, and reports the lines that it skipped.
#pragma once
#include <encore/analysis/trace_fields.hpp>
#include <encore/detail/analysis/record_reader.hpp>
#include <encore/detail/json_scanner.hpp>
#include <encore/detail/json_string.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/telemetry/event_record.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD {

/// A line that was skipped, and why. A regular value.
struct SkippedLine {
  std::string file{};      ///< as given to `begin_file`
  std::uint64_t line = 0;  ///< counts from 1
  std::string why{};
  friend bool operator==(const SkippedLine&, const SkippedLine&) = default;
};

/// Reads the JSON Lines of a trace, or of another log with the given field names. Lines that are not records, truncated lines and
/// invalid values are skipped and reported; unknown fields are ignored. Lines of several files may follow one another or alternate:
/// a call is identified by scope and id. Memory is bounded. Not thread-safe.
///   TraceReader reader;
///   for (std::string line; std::getline(file, line);)
///     if (const auto* record = reader.read(line)) diagnosis.add(*record);
class TraceReader {
 public:
  static constexpr std::size_t max_skipped_lines = 100;

  explicit TraceReader(TraceFields fields = {}) : record_{std::move(fields)} {}

  /// Starts a file of this name; its lines are counted from 1.
  void begin_file(std::string_view name) { file_ = name, line_ = 0; }

  /// The line's record, valid until the next line; null if the line is empty or skipped. A newline at its end is optional.
  const EventRecord* read(std::string_view line) {
    begin_line();
    if (line_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);  // a byte order mark
    if (line.find_first_not_of(" \t\r\n") == line.npos) return nullptr;
    const auto fault = scanner_.scan(
        line, [&](const detail::JsonField& found) { record_.field(found.name, found.value, found.quoted); });
    if (fault != detail::JsonFault::none) return skip_line("it " + std::string{to_string(fault)});
    return end_line();
  }

  /// For lines that another parser reads: call `begin_line`, `field` for each field, then `end_line`; or `begin_line` and
  /// `skip_line`. A value is given as JSON writes it, strings (`quoted`) unescaped.
  void begin_line() {
    ++line_;
    ++lines_;
    record_.begin();
  }
  void field(std::string_view name, std::string_view value, bool quoted) {
    record_.field(name, value, quoted);
  }
  const EventRecord* end_line() {
    const auto* const record = record_.finish();
    if (record == nullptr) return skip_line(record_.fault());
    ++records_;
    return record;
  }
  const EventRecord* skip_line(std::string_view why) {
    ++skipped_count_;
    if (skipped_.size() < max_skipped_lines) skipped_.push_back({file_, line_, std::string{why}});
    return nullptr;
  }

  std::uint64_t lines() const noexcept { return lines_; }
  std::uint64_t records() const noexcept { return records_; }
  /// How many lines were skipped, without empty ones.
  std::uint64_t skipped_count() const noexcept { return skipped_count_; }
  /// The first `max_skipped_lines` of them.
  const std::vector<SkippedLine>& skipped() const noexcept { return skipped_; }

 private:
  detail::RecordReader record_;
  detail::JsonScanner scanner_;
  std::string file_;
  std::uint64_t line_ = 0;
  std::uint64_t lines_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t skipped_count_ = 0;
  std::vector<SkippedLine> skipped_;
};

/// The skipped lines, one line of text each: "worker.log:17: it ends too early".
inline std::string skipped_text(const TraceReader& reader) {
  std::string text;
  for (const auto& [file, line, why] : reader.skipped()) {
    if (!file.empty()) text.append(detail::shown(file)).append(1, ':');
    text.append(file.empty() ? "line " : "")
        .append(std::to_string(line))
        .append(": ")
        .append(why)
        .append(1, '\n');
  }
  if (const auto more = reader.skipped_count() - reader.skipped().size(); more > 0)
    text.append("and ").append(std::to_string(more)).append(" more lines\n");
  return text;
}

}  // namespace encore ENCORE_BUILD
