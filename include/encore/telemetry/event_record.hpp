// Events as values, and the table of their fields, by which they are recorded, written, read and printed.
#pragma once
#include <encore/detail/seconds_text.hpp>
#include <encore/detail/telemetry/event_field.hpp>
#include <encore/error_type.hpp>
#include <encore/event.hpp>
#include <encore/scope.hpp>
#include <encore/stop_reason.hpp>
#include <encore/telemetry/event_error_type.hpp>

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

/// A copy of an event, or a line read from a log. A regular value. Unknown fields are empty or have their defaults. (F2, F5)
struct EventRecord {
  std::optional<EventKind> kind{};  ///< absent: a client's line about an attempt
  std::optional<WallTime> wall{};   ///< calendar time
  std::string scope{};  ///< of the run or the process; identifies a call together with its id (I2)
  std::string call_id{};
  std::string call_name{};
  std::string resolved_name{};
  int ordinal = 0;                      ///< on `call_finished`, the number of attempts made
  std::optional<int> max_attempts{};    ///< absent: unlimited or unknown
  std::optional<int> inner_attempts{};  ///< of an inner layer that retries, as declared to the policy (J1)
  std::optional<std::int64_t> max_requests{};
  std::string error_type{};  ///< in a log, `error.type`; otherwise the exception's type
  std::string error_name{};  ///< the registered name of that type, which logs contain instead of it
  std::string error_code{};  ///< the dependency's own, if noted
  std::string message{};     ///< the exception's text, if requested
  std::optional<int> status{};
  std::string request_id{};
  bool dispatched = false;
  bool answered = false;
  bool not_run = false;           ///< nothing was done (I1)
  bool dispatched_again = false;  ///< a lower layer repeated the request (I3, J1)
  bool key_used = false;          ///< the callable asked for its idempotency key
  bool error_result = false;      ///< it returned a value that says that the tool failed (B8)
  bool will_retry = false;
  Duration wait{};  ///< before the next attempt, if one follows
  std::optional<Duration> hint{};
  StopReason reason = StopReason::none;  ///< why no further attempt follows
  bool outcome_unknown = false;
  TerminalMode mode = TerminalMode::none;
  Duration slept{};                     ///< call_finished: all waits
  std::optional<TimePoint> at{};        ///< on the policy's clock
  std::optional<Duration> elapsed{};    ///< since the call began
  std::optional<Duration> took{};       ///< duration of an attempt in a client's line
  std::optional<Duration> remaining{};  ///< until the call's deadline
  int observer_errors = 0;
  std::string outer_id{};  ///< the call that this one runs inside (J1)
  int outer_ordinal = 0;

  friend bool operator==(const EventRecord&, const EventRecord&) = default;
};

/// The failure's name in reports, by which equal failures are counted together: openai.RateLimitError/insufficient_quota
inline std::string failure_name(const EventRecord& record) {
  if (record.error_type.empty() || record.error_code.empty()) return record.error_type;
  return record.error_type + '/' + record.error_code;
}

/// What a record contains.
struct RecordText {
  bool exception_text = false;   ///< it may contain host names and keys (F6)
  bool calendar = true;          ///< timestamp and scope, for logs of several processes
  const Scope* scope = nullptr;  ///< absent: the scope of the call's run, else of the process
  bool whole = false;            ///< includes fields that log lines omit
};

namespace detail {

// Sources of fields that are not a single member.
inline std::optional<WallTime> wall_of(const Event& event, const RecordText& text) {
  return text.calendar ? std::optional{event.wall()} : std::nullopt;
}
inline std::string scope_of(const Event& event, const RecordText& text) {
  if (!text.calendar) return {};
  return (text.scope != nullptr ? *text.scope : event.scope()).text();
}
inline std::optional<int> inner_attempts_of(const Event& event) noexcept {
  return event.inner_attempts != 1 ? std::optional{event.inner_attempts} : std::nullopt;
}
inline std::optional<std::int64_t> max_requests_of_event(const Event& event) noexcept {
  return event.inner_attempts != 1 ? event.max_requests() : std::nullopt;
}
inline std::string error_type_of(const Event& event, const RecordText& text) {
  if (!text.whole) return error_type(event);
  return event.thrown != nullptr ? error_type(*event.thrown) : std::string{};
}
inline std::string_view noted_code_of(const Event& event, const RecordText& text) noexcept {
  if (event.notes == nullptr) return {};
  // In a log, a call that succeeded has no error. (G6)
  const auto succeeded = event.reason == StopReason::succeeded && !event.notes->error_result();
  return succeeded && !text.whole ? std::string_view{} : event.notes->error_code();
}
inline std::string message_of(const Event& event, const RecordText& text) {
  const char* const what = text.exception_text && event.thrown != nullptr ? event.thrown->what() : nullptr;
  return what != nullptr ? what : "";
}
inline std::optional<Duration> remaining_of(const Event& event, const RecordText& text) {
  // Logs omit the remaining time of attempts that succeeded.
  if (!text.whole && event.kind == EventKind::attempt_succeeded) return std::nullopt;
  return event.remaining();
}
inline std::string_view outer_id_of(const Event& event) noexcept {
  return event.outer != nullptr ? event.outer->call_id() : std::string_view{};
}
inline int outer_ordinal_of(const Event& event) noexcept {
  return event.outer != nullptr ? event.outer->ordinal : 0;
}

// Conditions under which a line contains a field; `set` says whether the record has it.
constexpr bool is_over(const EventRecord& record) noexcept { return record.kind == EventKind::call_finished; }
constexpr bool failed_for_good(const EventRecord& record) noexcept {
  return record.kind == EventKind::attempt_failed && !record.will_retry;
}
constexpr bool if_set(const EventRecord&, bool set) noexcept { return set; }
constexpr bool always(const EventRecord&, bool) noexcept { return true; }
constexpr bool before_the_end(const EventRecord& record, bool set) noexcept {
  return set && !is_over(record);
}
constexpr bool at_the_end(const EventRecord& record, bool) noexcept { return is_over(record); }
constexpr bool at_the_end_if_set(const EventRecord& record, bool set) noexcept {
  return set && is_over(record);
}
constexpr bool after_a_failure(const EventRecord& record, bool set) noexcept {
  return set || record.kind == EventKind::attempt_failed;
}
constexpr bool before_a_retry(const EventRecord& record, bool) noexcept { return record.will_retry; }
constexpr bool where_none_follows(const EventRecord& record, bool) noexcept {
  return is_over(record) || failed_for_good(record);
}
constexpr bool inside_another(const EventRecord& record, bool) noexcept { return !record.outer_id.empty(); }

template <auto Member, auto From, auto When = if_set>
using CallField = EventField<false, Member, From, When>;
template <auto Member, auto From, auto When = if_set>
using AttemptField = EventField<true, Member, From, When>;

/// The table of all fields, in the order of a line: calls `use` with each. JSON names follow OpenTelemetry's semantic conventions, the
/// Elastic Common Schema for `error.code`, and are otherwise prefixed by `encore.`. Durations are in seconds.
template <class Use>
constexpr void for_each_field(Use&& use) {
  use(CallField<&EventRecord::wall, wall_of>{{"", "timestamp"}, "on "});
  use(CallField<&EventRecord::scope, scope_of>{{"", "encore.scope"}, "scope "});
  use(CallField<&EventRecord::kind, &Event::kind>{{"event", "encore.event"}});
  use(CallField<&EventRecord::call_id, &Event::call_id>{{"call", "gen_ai.tool.call.id"}});
  use(CallField<&EventRecord::call_name, &Event::call_name>{{"tool", "gen_ai.tool.name"}});
  use(CallField<&EventRecord::resolved_name, &Event::resolved_name>{{"resolved", "encore.tool.resolved_name"},
                                                                    "resolved to "});
  use(CallField<&EventRecord::ordinal, &Event::ordinal, always>{
      {"attempt", "encore.attempt"}, nullptr, {"attempts", "encore.attempts"}});
  use(CallField<&EventRecord::max_attempts, &Event::max_attempts>{{"", "encore.max_attempts"}});
  use(CallField<&EventRecord::inner_attempts, inner_attempts_of>{{}, "inner attempts: "});
  use(CallField<&EventRecord::max_requests, max_requests_of_event>{{"max_requests", "encore.max_requests"},
                                                                   "requests at most: "});
  use(AttemptField<&EventRecord::error_type, error_type_of>{{"error", "error.type"}, ""});
  use(CallField<&EventRecord::error_name, &Event::error_name>{{}, "named "});
  use(AttemptField<&EventRecord::error_code, noted_code_of>{{"error_code", "error.code"}, "code "});
  use(AttemptField<&EventRecord::message, message_of>{{"message", "exception.message"}, "message "});
  use(AttemptField<&EventRecord::status, &AttemptNotes::status, before_the_end>{
      {"status", "encore.response.status"}, "status "});
  use(AttemptField<&EventRecord::request_id, &AttemptNotes::request_id, before_the_end>{
      {"request_id", "encore.response.request_id"}, "request "});
  use(AttemptField<&EventRecord::dispatched, &AttemptNotes::dispatched, before_the_end>{
      {"dispatched", "encore.dispatched"}, "dispatched"});
  use(AttemptField<&EventRecord::dispatched_again, &AttemptNotes::dispatched_again, before_the_end>{
      {"dispatched_again", "encore.dispatched_again"}, "dispatched again"});
  use(AttemptField<&EventRecord::answered, &AttemptNotes::answered, before_the_end>{
      {"answered", "encore.answered"}, "answered"});
  use(AttemptField<&EventRecord::not_run, &AttemptNotes::not_run, before_the_end>{
      {"not_run", "encore.not_run"}, "not run"});
  use(AttemptField<&EventRecord::key_used, &AttemptNotes::key_used, before_the_end>{{"", "encore.key_used"},
                                                                                    "key used"});
  use(AttemptField<&EventRecord::error_result, &AttemptNotes::error_result, before_the_end>{
      {"error_result", "encore.error_result"}, "error result"});
  use(AttemptField<&EventRecord::will_retry, &Event::will_retry, after_a_failure>{{"", "encore.will_retry"}});
  use(AttemptField<&EventRecord::wait, &Event::wait, before_a_retry>{{"retry_in", "encore.retry_in"},
                                                                     "wait "});
  use(AttemptField<&EventRecord::hint, &Event::hint>{{"hint", "encore.hint"}, "hint "});
  use(CallField<&EventRecord::reason, &Event::reason, where_none_follows>{{"reason", "encore.reason"}, ""});
  use(CallField<&EventRecord::outcome_unknown, &Event::outcome_unknown>{
      {"outcome_unknown", "encore.outcome_unknown"}, "outcome unknown"});
  use(CallField<&EventRecord::mode, &Event::mode, at_the_end>{{"mode", "encore.mode"}, "mode "});
  use(CallField<&EventRecord::slept, &Event::slept, at_the_end>{{"slept", "encore.slept"}, "slept "});
  use(CallField<&EventRecord::at, &Event::at>{{}, "at "});
  use(CallField<&EventRecord::elapsed, &Event::elapsed>{
      {"", "encore.elapsed"}, "elapsed ", {"elapsed", "encore.elapsed"}});
  use(CallField<&EventRecord::observer_errors, &Event::observer_errors, at_the_end_if_set>{
      {"observer_errors", "encore.observer_errors"}, "observer errors: "});
  use(AttemptField<&EventRecord::took, nullptr, before_the_end>{{"", "encore.took"}, "took "});
  use(AttemptField<&EventRecord::remaining, remaining_of, before_the_end>{{"", "encore.remaining"},
                                                                          "remaining "});
  use(CallField<&EventRecord::outer_id, outer_id_of>{{"outer_call", "encore.outer.call.id"}, "inside "});
  use(CallField<&EventRecord::outer_ordinal, outer_ordinal_of, inside_another>{
      {"outer_attempt", "encore.outer.attempt"}, "its attempt "});
}

/// The number of earlier attempts, in the JSON of retries only.
inline constexpr FieldNames resend_count_names{"", "encore.resend_count"};

/// The names of a member's field, and its names on `call_finished`.
template <auto Member>
inline constexpr std::pair<FieldNames, FieldNames> field_names = [] {
  std::pair<FieldNames, FieldNames> names;
  for_each_field([&](const auto& field) {
    if (field.template is<Member>()) names = {field.names, field.names_at_end};
  });
  return names;
}();

}  // namespace detail

/// Copies an event. Reads its time, so that the call's end has the elapsed time. Valid only inside the observer's callback.
inline EventRecord event_record(const Event& event, const RecordText& text = {}) {
  EventRecord record;
  static_cast<void>(event.at());
  detail::for_each_field([&](const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if (text.whole || (!field.names.json.empty() && Field::may_be_written(record)))
      Field::record(record, event, text);
  });
  return record;
}

/// One short line with every field that is not at its default.
///   call-17 (inventory_lookup) 1 of 3: attempt_failed, TimeoutError, retry after 250ms, at 1.5s
inline std::string to_string(const EventRecord& event) {
  auto text = detail::text_of(event.call_id);
  if (!event.call_name.empty()) text.append(" (").append(detail::text_of(event.call_name)).append(")");
  text.append(1, ' ').append(std::to_string(event.ordinal)).append(" of ");
  text.append(event.max_attempts ? std::to_string(*event.max_attempts) : "unlimited").append(": ");
  text.append(event.kind ? to_string(*event.kind) : "attempt");
  detail::for_each_field([&](const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (Field::template is<&EventRecord::wait>()) {
      if (event.will_retry)
        return void(text.append(", retry after ").append(detail::duration_text(event.wait)));
    }
    if (field.words == nullptr || !Field::is_set(event)) return;
    text.append(", ").append(field.words);
    if constexpr (!std::is_same_v<typename Field::Value, bool>) text.append(Field::value_text(event));
  });
  return text;
}

template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const EventRecord& event) {
  return out << to_string(event);
}

}  // namespace encore ENCORE_BUILD
