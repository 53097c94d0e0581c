// Builds records from the fields of a line, whichever parser found them.
#pragma once
#include <encore/analysis/trace_fields.hpp>
#include <encore/detail/named.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/detail/seconds_text.hpp>
#include <encore/stop_reason.hpp>
#include <encore/telemetry/event_record.hpp>
#include <encore/telemetry/time_text.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD::detail {

inline constexpr std::size_t max_text_size = 512;

/// A text, truncated between two characters if it is too long.
inline bool put(std::string& to, std::string_view value, const TraceFields&) {
  if (value.size() > max_text_size) {
    auto end = max_text_size;
    while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0) == 0x80) --end;
    value = value.substr(0, end);
  }
  return to = value, true;
}
/// A name or an id: too long a one is rejected, since truncated it would name something else.
inline bool put_name(std::string& to, std::string_view value) {
  return to = value.substr(0, max_text_size), value.size() <= max_text_size;
}
inline bool put(bool& to, std::string_view value, const TraceFields&) {
  to = value == "true" || value == "1";
  return to || value == "false" || value == "0";
}
template <std::signed_integral Number>
bool put(Number& to, std::string_view value, const TraceFields&) {
  const auto* const end = value.data() + value.size();
  const auto [stopped, error] = std::from_chars(value.data(), end, to);
  return error == std::errc{} && stopped == end && to >= 0;
}
inline bool put(Duration& to, std::string_view value, const TraceFields& fields) {
  const auto read = read_duration(value, fields.duration_unit);
  to = read.value_or(Duration::zero());
  return read >= Duration::zero();
}
inline bool put(WallTime& to, std::string_view value, const TraceFields& fields) {
  if (const auto time = read_timestamp(value)) return to = *time, true;
  const auto since_1970 = read_duration(value, fields.timestamp_unit);
  // The range that RFC 3339 texts are read in.
  constexpr WallTime first = std::chrono::sys_days{std::chrono::year{1678} / 1 / 1};
  constexpr WallTime past = std::chrono::sys_days{std::chrono::year{2262} / 1 / 1};
  if (!since_1970 || WallTime{*since_1970} < first || WallTime{*since_1970} >= past) return false;
  return to = WallTime{*since_1970}, true;
}
/// An enumerator, by its name.
template <class Enumeration>
bool put(Enumeration& to, std::string_view name, Enumeration last) {
  const auto found = named(name, last);
  return to = found.value_or(Enumeration{}), found.has_value();
}
inline bool put(EventKind& to, std::string_view name, const TraceFields&) {
  return put(to, name, EventKind::call_finished);
}
inline bool put(TerminalMode& to, std::string_view name, const TraceFields&) {
  return put(to, name, TerminalMode::formatted);
}
inline bool put(StopReason& to, std::string_view name, const TraceFields&) {
  return put(to, name, static_cast<StopReason>(stop_reason_count - 1));
}
template <class Value>
bool put(std::optional<Value>& to, std::string_view value, const TraceFields& fields) {
  return put(to.emplace(), value, fields);
}

/// How one field of a log sets a record; `put` returns false for an invalid value.
struct FieldMeaning {
  std::string TraceFields::* name;
  bool (*put)(EventRecord& record, std::string_view value, const TraceFields& fields);
};

template <auto Name, auto Member>
bool put_field(EventRecord& record, std::string_view value, const TraceFields& fields) {
  auto& to = record.*Member;
  if constexpr (same_member<Name, &TraceFields::scope> || same_member<Name, &TraceFields::call> ||
                same_member<Name, &TraceFields::tool> || same_member<Name, &TraceFields::outer_call>) {
    return put_name(to, value);
  } else if constexpr (same_member<Name, &TraceFields::resend_count>) {
    int count = 0;
    if (!put(count, value, fields)) return false;
    if (to == 0 && count < (std::numeric_limits<int>::max)()) to = count + 1;
    return true;
  } else {
    if (same_member<Name, &TraceFields::error> && value == "false") return true;
    if (same_member<Name, &TraceFields::retry_in>) record.will_retry = true;  // a wait implies a retry
    return put(to, value, fields);
  }
}

inline constexpr auto field_meanings = [] {
  constexpr auto count = [] {
    std::size_t names = 0;
    for_each_name([&](const auto&) { ++names; });
    return names;
  }();
  std::array<FieldMeaning, count> meanings{};
  std::size_t i = 0;
  for_each_name([&]<auto Name, auto Member>(LogName<Name, Member>) {
    meanings[i++] = {Name, put_field<Name, Member>};
  });
  return meanings;
}();

/// Builds a record from the fields of one line, in any order. Values are given as JSON writes them, strings unescaped. Unknown
/// fields are ignored. Error types and texts are truncated to 512 bytes; longer ids and tool names are invalid. Reuses its memory
/// from line to line. Not thread-safe.
class RecordReader {
 public:
  explicit RecordReader(TraceFields fields = {}) : fields_{std::move(fields)} {
    for (std::size_t i = 0; i < field_meanings.size(); ++i) {
      const auto& name = fields_.*field_meanings[i].name;
      if (name.empty()) continue;
      if (by_size_.size() <= name.size()) by_size_.resize(name.size() + 1);
      by_size_[name.size()].push_back(i);
    }
  }

  /// Clears the fields of the previous line.
  void begin() {
    for_each_field([&](const auto& field) { field.clear(record_); });
    fault_.clear();
    is_attempt_ = false;
  }

  void field(std::string_view name, std::string_view value, bool quoted) {
    if (name.size() >= by_size_.size() || (!quoted && value == "null")) return;
    for (const auto i : by_size_[name.size()]) {
      const auto& meaning = field_meanings[i];
      if (fields_.*meaning.name != name) continue;
      if (!meaning.put(record_, value, fields_)) {
        report_invalid(name, value);
      } else if (i < names_of_an_attempt) {
        is_attempt_ = true;
      }
    }
  }

  /// The record, valid until the next `begin`; null if the fields are not a valid record, and `fault` then says why.
  const EventRecord* finish() {
    if (fault_.empty()) fault_ = what_is_missing();
    if (!record_.will_retry) record_.wait = Duration::zero();
    return fault_.empty() ? &record_ : nullptr;
  }
  std::string_view fault() const noexcept { return fault_; }

 private:
  void report_invalid(std::string_view name, std::string_view value) {
    if (!fault_.empty()) return;
    append_quoted(fault_.append(name).append(" = "), value.substr(0, 100));
    fault_.append(" is invalid");
  }
  std::string_view what_is_missing() const noexcept {
    if (!record_.kind) {
      const auto names_call = !record_.call_id.empty() || !record_.call_name.empty();
      return names_call && (is_attempt_ || fields_.each_line_is_an_attempt)
                 ? ""
                 : "it has neither an event nor an attempt";
    }
    if (record_.call_id.empty()) return "it has an event, but no call id";
    if (record_.ordinal == 0 && record_.kind != EventKind::call_finished)
      return "it has an attempt's event, but no attempt number";
    return "";
  }

  TraceFields fields_;
  std::vector<std::vector<std::size_t>> by_size_;  // indices of meanings, by the size of their names
  EventRecord record_;
  std::string fault_;
  bool is_attempt_ = false;
};

}  // namespace ENCORE_BUILD::detail
