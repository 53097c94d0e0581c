// One field of a record of an event: from where it comes, when a line tells it, and under which names.
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

namespace encore ENCORE_BUILD {

namespace detail {

template <auto A, auto B>
inline constexpr bool same_member =
    std::is_same_v<std::integral_constant<decltype(A), A>, std::integral_constant<decltype(B), B>>;

template <class Class, class Member>
struct PartsOfMember {
  using Record = Class;
  using Value = Member;
  constexpr explicit PartsOfMember(Member Class::*) noexcept {}
};

// A value as it stands in a printed record.
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

}  // namespace detail

/// A row of the table of fields. `From` says what an event tells of it: a member of the event or of the callable's notes, or a function
/// of the event and of what was asked for; null if no event tells it. `When` says whether a line tells it, of a record and of whether
/// the field is set there. Of an attempt are the facts that a report keeps of each.
template <bool OfAttempt, auto Member, auto From, auto When>
struct EventField {
  FieldNames names{};               ///< without a name, lines do not tell it
  const char* words = nullptr;      ///< before the value where a record is printed, or in place of a yes
  FieldNames names_at_end = names;  ///< on `call_finished`

  using Record = typename decltype(detail::PartsOfMember{Member})::Record;
  using Value = typename decltype(detail::PartsOfMember{Member})::Value;
  static constexpr auto member = Member;
  static constexpr bool of_attempt = OfAttempt;

  template <auto Other>
  static constexpr bool is() noexcept {
    return detail::same_member<Member, Other>;
  }

  static constexpr const Value& value(const Record& record) noexcept { return record.*Member; }
  static std::string value_text(const Record& record) { return detail::text_of(value(record)); }
  static bool is_set(const Record& record) {
    if constexpr (std::is_same_v<Value, std::string>)
      return !value(record).empty();
    else
      return value(record) != Value{};
  }
  static bool is_written(const Record& record) { return When(record, is_set(record)); }
  /// Would a line tell it if it were set? Asks for fields that stand above this one.
  static bool may_be_written(const Record& record) { return When(record, true); }
  constexpr FieldNames names_if(bool over) const noexcept {
    if (names.logfmt == names_at_end.logfmt) return names;  // known to the compiler, for all but two
    return over ? names_at_end : names;
  }

  /// Copies what an event says.
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
  /// Leaves it empty, and keeps the memory of a text.
  static void clear(Record& record) {
    if constexpr (std::is_same_v<Value, std::string>)
      (record.*Member).clear();
    else
      record.*Member = Value{};
  }
};

}  // namespace encore ENCORE_BUILD
