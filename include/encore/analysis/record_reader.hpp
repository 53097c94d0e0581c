// Records made of fields, whoever parsed them.
#pragma once
#include <encore/analysis/trace_fields.hpp>
#include <encore/detail/named.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/detail/seconds_text.hpp>
#include <encore/stop_reason.hpp>
#include <encore/telemetry/time_text.hpp>
#include <encore/telemetry/trace_record.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD {

namespace detail {

inline constexpr std::size_t longest_text = 512;

/// A text, cut between two characters where it is too long.
inline bool put(std::string& to, std::string_view value) {
  if (value.size() > longest_text) {
    auto end = longest_text;
    while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0) == 0x80) --end;
    value = value.substr(0, end);
  }
  return to = value, true;
}
/// A text that names something, and would name another thing if it were cut.
inline bool put_name(std::string& to, std::string_view value) {
  return to = value.substr(0, longest_text), value.size() <= longest_text;
}
inline bool put(bool& to, std::string_view value) {
  to = value == "true" || value == "1";
  return to || value == "false" || value == "0";
}
template <class Number>
  requires(std::same_as<Number, int> || std::same_as<Number, std::int64_t>)
bool put(Number& to, std::string_view value) {
  const auto* const end = value.data() + value.size();
  const auto [stopped, error] = std::from_chars(value.data(), end, to);
  return error == std::errc{} && stopped == end && to >= 0;
}
template <class Value>
bool put(std::optional<Value>& to, std::string_view value) {
  return put(to.emplace(), value);
}
inline bool put_duration(std::optional<Duration>& to, std::string_view value, const TraceFields& fields) {
  to = read_duration(value, fields.duration_unit);
  return to >= Duration::zero();
}
inline bool put_duration(Duration& to, std::string_view value, const TraceFields& fields) {
  const auto read = read_duration(value, fields.duration_unit);
  to = read.value_or(Duration::zero());
  return read >= Duration::zero();
}
inline bool put_time(std::optional<WallTime>& to, std::string_view value, const TraceFields& fields) {
  to = read_timestamp(value);
  if (to) return true;
  const auto since_1970 = read_duration(value, fields.timestamp_unit);
  // The years that a text can name.
  constexpr WallTime first = std::chrono::sys_days{std::chrono::year{1678} / 1 / 1};
  constexpr WallTime past = std::chrono::sys_days{std::chrono::year{2262} / 1 / 1};
  if (!since_1970 || WallTime{*since_1970} < first || WallTime{*since_1970} >= past) return false;
  to = WallTime{*since_1970};
  return true;
}

/// What one field means for a record: false if its value cannot be that.
struct FieldMeaning {
  std::string TraceFields::* name;
  bool (*put)(TraceRecord& record, std::string_view value, const TraceFields& fields);
};

inline constexpr std::array field_meanings{
    // The first few show that a line without an event is an attempt.
    FieldMeaning{&TraceFields::attempt, [](auto& r, auto v, auto&) { return put(r.ordinal, v); }},
    FieldMeaning{&TraceFields::status, [](auto& r, auto v, auto&) { return put(r.status, v); }},
    FieldMeaning{&TraceFields::request_id, [](auto& r, auto v, auto&) { return put(r.request_id, v); }},
    FieldMeaning{&TraceFields::took, [](auto& r, auto v, auto& f) { return put_duration(r.took, v, f); }},
    FieldMeaning{&TraceFields::resend_count,
                 [](auto& r, auto v, auto&) {
                   int count = 0;
                   if (!put(count, v)) return false;
                   if (r.ordinal == 0 && count < 2'147'483'647) r.ordinal = count + 1;
                   return true;
                 }},
    FieldMeaning{&TraceFields::timestamp, [](auto& r, auto v, auto& f) { return put_time(r.at, v, f); }},
    FieldMeaning{&TraceFields::scope, [](auto& r, auto v, auto&) { return put_name(r.scope, v); }},
    FieldMeaning{&TraceFields::event,
                 [](auto& r, auto v, auto&) {
                   r.kind = named(v, EventKind::call_finished);
                   return r.kind.has_value();
                 }},
    FieldMeaning{&TraceFields::call, [](auto& r, auto v, auto&) { return put_name(r.call_id, v); }},
    FieldMeaning{&TraceFields::tool, [](auto& r, auto v, auto&) { return put_name(r.tool, v); }},
    FieldMeaning{&TraceFields::resolved, [](auto& r, auto v, auto&) { return put(r.resolved_name, v); }},
    FieldMeaning{&TraceFields::attempts, [](auto& r, auto v, auto&) { return put(r.ordinal, v); }},
    FieldMeaning{&TraceFields::max_attempts, [](auto& r, auto v, auto&) { return put(r.max_attempts, v); }},
    FieldMeaning{&TraceFields::max_requests, [](auto& r, auto v, auto&) { return put(r.max_requests, v); }},
    FieldMeaning{&TraceFields::error,
                 [](auto& r, auto v, auto&) { return v == "false" || put(r.error_type, v); }},
    FieldMeaning{&TraceFields::message, [](auto& r, auto v, auto&) { return put(r.message, v); }},
    FieldMeaning{&TraceFields::dispatched, [](auto& r, auto v, auto&) { return put(r.dispatched, v); }},
    FieldMeaning{&TraceFields::dispatched_again,
                 [](auto& r, auto v, auto&) { return put(r.dispatched_again, v); }},
    FieldMeaning{&TraceFields::not_run, [](auto& r, auto v, auto&) { return put(r.not_run, v); }},
    FieldMeaning{&TraceFields::answered, [](auto& r, auto v, auto&) { return put(r.answered, v); }},
    FieldMeaning{&TraceFields::key_used, [](auto& r, auto v, auto&) { return put(r.key_used, v); }},
    FieldMeaning{&TraceFields::error_result, [](auto& r, auto v, auto&) { return put(r.error_result, v); }},
    FieldMeaning{&TraceFields::will_retry, [](auto& r, auto v, auto&) { return put(r.will_retry, v); }},
    FieldMeaning{&TraceFields::retry_in,
                 [](auto& r, auto v, auto& f) {
                   r.will_retry = true;  // who tells a wait means to try again
                   return put_duration(r.wait, v, f);
                 }},
    FieldMeaning{&TraceFields::hint, [](auto& r, auto v, auto& f) { return put_duration(r.hint, v, f); }},
    FieldMeaning{&TraceFields::reason,
                 [](auto& r, auto v, auto&) {
                   const auto reason = stop_reason_named(v);
                   r.reason = reason.value_or(StopReason::none);
                   return reason.has_value();
                 }},
    FieldMeaning{&TraceFields::outcome_unknown,
                 [](auto& r, auto v, auto&) { return put(r.outcome_unknown, v); }},
    FieldMeaning{&TraceFields::mode,
                 [](auto& r, auto v, auto&) {
                   const auto mode = named(v, TerminalMode::formatted);
                   r.mode = mode.value_or(TerminalMode::none);
                   return mode.has_value();
                 }},
    FieldMeaning{&TraceFields::slept, [](auto& r, auto v, auto& f) { return put_duration(r.slept, v, f); }},
    FieldMeaning{&TraceFields::elapsed,
                 [](auto& r, auto v, auto& f) { return put_duration(r.elapsed, v, f); }},
    FieldMeaning{&TraceFields::remaining,
                 [](auto& r, auto v, auto& f) { return put_duration(r.remaining, v, f); }},
    FieldMeaning{&TraceFields::observer_errors,
                 [](auto& r, auto v, auto&) { return put(r.observer_errors, v); }},
    FieldMeaning{&TraceFields::outer_call, [](auto& r, auto v, auto&) { return put_name(r.outer_id, v); }},
    FieldMeaning{&TraceFields::outer_attempt, [](auto& r, auto v, auto&) { return put(r.outer_ordinal, v); }},
};
inline constexpr std::size_t meanings_of_an_attempt = 5;

}  // namespace detail

/// Puts a record together from the fields of one line, in any order. Which parser found them does not matter: a value is given
/// as JSON writes it, and of a string what it says. Fields that mean nothing are passed over. An error's type and text are
/// cut at 512 bytes; an id or a tool's name that is longer cannot be used. Keeps its memory from line to line.
/// One thread at a time.
class RecordReader {
 public:
  explicit RecordReader(TraceFields fields = {}) : fields_{std::move(fields)} {
    for (std::size_t i = 0; i < detail::field_meanings.size(); ++i) {
      const auto& name = fields_.*detail::field_meanings[i].name;
      if (name.empty()) continue;
      if (by_size_.size() <= name.size()) by_size_.resize(name.size() + 1);
      by_size_[name.size()].push_back(i);
    }
  }

  /// Forgets the fields of the line before.
  void begin() {
    const auto emptied = [](std::string& text) { return text.clear(), std::move(text); };
    record_ = TraceRecord{.scope = emptied(record_.scope),
                          .call_id = emptied(record_.call_id),
                          .tool = emptied(record_.tool),
                          .resolved_name = emptied(record_.resolved_name),
                          .error_type = emptied(record_.error_type),
                          .message = emptied(record_.message),
                          .request_id = emptied(record_.request_id),
                          .outer_id = emptied(record_.outer_id)};
    fault_.clear();
    is_attempt_ = false;
  }

  void field(std::string_view name, std::string_view value, bool quoted) {
    if (name.size() >= by_size_.size() || (!quoted && value == "null")) return;
    for (const auto i : by_size_[name.size()]) {
      const auto& meaning = detail::field_meanings[i];
      if (fields_.*meaning.name != name) continue;
      if (!meaning.put(record_, value, fields_)) {
        refuse(name, value);
      } else if (i < detail::meanings_of_an_attempt) {
        is_attempt_ = true;
      }
    }
  }

  /// The record, valid until the next line begins; null if the fields make none, and then `fault` says why.
  const TraceRecord* finish() {
    if (fault_.empty()) fault_ = what_is_missing();
    if (!record_.will_retry) record_.wait = Duration::zero();
    return fault_.empty() ? &record_ : nullptr;
  }
  std::string_view fault() const noexcept { return fault_; }

 private:
  void refuse(std::string_view name, std::string_view value) {
    if (!fault_.empty()) return;
    append_quoted(fault_.append(name).append(" = "), value.substr(0, 100));
    fault_.append(" cannot be used");
  }
  std::string_view what_is_missing() const noexcept {
    if (!record_.kind) {
      const auto tells_whose = !record_.call_id.empty() || !record_.tool.empty();
      return tells_whose && (is_attempt_ || fields_.each_line_is_an_attempt)
                 ? ""
                 : "it tells of no event and no attempt";
    }
    if (record_.call_id.empty()) return "it has an event, but no call's id";
    if (record_.ordinal == 0 && record_.kind != EventKind::call_finished)
      return "it has an event of an attempt, but not which";
    return "";
  }

  TraceFields fields_;
  std::vector<std::vector<std::size_t>> by_size_;  // of its name, each meaning
  TraceRecord record_;
  std::string fault_;
  bool is_attempt_ = false;
};

}  // namespace encore ENCORE_BUILD
