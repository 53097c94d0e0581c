// One field of an event record: its source, its names, and when a line contains it.
#pragma once
#include <encore/detail/quoted_text.hpp>
#include <encore/detail/seconds_text.hpp>
#include <encore/duration.hpp>
#include <encore/event.hpp>
#include <encore/telemetry/log_line.hpp>
#include <encore/telemetry/time_text.hpp>

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>

namespace encore ENCORE_BUILD::detail {

template <auto A, auto B>
inline constexpr bool same_member =
    std::is_same_v<std::integral_constant<decltype(A), A>, std::integral_constant<decltype(B), B>>;

template <class Class, class Member>
struct PartsOfMember {
  using Record = Class;
  using Value = Member;
  constexpr explicit PartsOfMember(Member Class::*) noexcept {}
};

// A value as text, for printed records.
inline std::string text_of(const std::string& text) { return shown(text, text.npos); }
inline std::string text_of(Duration duration) { return duration_text(duration); }
template <std::integral Number>
std::string text_of(Number number) {
  return std::to_string(number);
}
inline std::string text_of(TimePoint time) { return duration_text(time.time_since_epoch()); }
inline std::string text_of(WallTime time) {
  std::string text;
  append_timestamp(text, time);
  return text;
}
template <class Enum>
  requires std::is_enum_v<Enum>
std::string text_of(Enum value) {
  return std::string{to_string(value)};
}
template <class Value>
std::string text_of(const std::optional<Value>& value) {
  return text_of(*value);
}

/// A row of the table of fields. `From` is the source: a member of `Event` or `AttemptNotes`, a function of the event and the
/// requested `Asked`, or null if events have no such value. `When(record, is_set)` decides whether a line contains the field. Reports
/// store the fields with `OfAttempt` for each attempt.
template <bool OfAttempt, auto Member, auto From, auto When>
struct EventField {
  FieldNames names{};               ///< without a name, lines do not contain it
  const char* words = nullptr;      ///< printed before the value, or in place of `true`
  FieldNames names_at_end = names;  ///< on `call_finished`

  using Record = typename decltype(PartsOfMember{Member})::Record;
  using Value = typename decltype(PartsOfMember{Member})::Value;
  static constexpr auto member = Member;
  static constexpr bool of_attempt = OfAttempt;

  template <auto Other>
  static constexpr bool is() noexcept {
    return same_member<Member, Other>;
  }

  static constexpr const Value& value(const Record& record) noexcept { return record.*Member; }
  static std::string value_text(const Record& record) { return text_of(value(record)); }
  static bool is_set(const Record& record) {
    if constexpr (std::is_same_v<Value, std::string>)
      return !value(record).empty();
    else
      return value(record) != Value{};
  }
  static bool is_written(const Record& record) { return When(record, is_set(record)); }
  /// Would a line contain it if it were set? Depends only on fields above this one.
  static bool may_be_written(const Record& record) { return When(record, true); }
  constexpr FieldNames names_if(bool over) const noexcept {
    if (names.logfmt == names_at_end.logfmt) return names;  // a constant for all fields but two
    return over ? names_at_end : names;
  }

  /// Copies the field from an event.
  template <class Asked>
  static void record(Record& to, const Event& event, const Asked& asked) {
    auto& value = to.*Member;
    if constexpr (std::is_null_pointer_v<decltype(From)>)
      return;
    else if constexpr (std::is_invocable_v<decltype(From), const Event&, const Asked&>)
      value = From(event, asked);
    else if constexpr (std::is_invocable_v<decltype(From), const Event&>)
      value = std::invoke(From, event);
    else if (event.notes != nullptr)
      value = std::invoke(From, *event.notes);
  }
  /// Resets the field; a string keeps its memory.
  static void clear(Record& record) {
    if constexpr (std::is_same_v<Value, std::string>)
      (record.*Member).clear();
    else
      record.*Member = Value{};
  }
};

}  // namespace ENCORE_BUILD::detail
