// Events, failures and outcomes as one log line each.
#pragma once
#include <encore/error_type.hpp>
#include <encore/event.hpp>
#include <encore/failure.hpp>
#include <encore/outcome.hpp>
#include <encore/scope.hpp>
#include <encore/telemetry/event_error_type.hpp>
#include <encore/telemetry/event_record.hpp>
#include <encore/telemetry/log_line.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

/// The shape and contents of a line. Exception text is omitted by default: it may contain host names and keys. (F6)
struct LogText {
  LineShape shape = LineShape::logfmt;
  bool exception_text = false;
  const Scope* scope = nullptr;  ///< for JSON; absent: the scope of the call's run, else of the process (I2)
};

namespace detail {

inline void add(LogLine& line, const FieldNames& names, const std::string& value) { line.text(names, value); }
inline void add(LogLine& line, const FieldNames& names, bool value) { line.flag(names, value); }
template <std::integral Number>
void add(LogLine& line, const FieldNames& names, Number value) {
  line.number(names, value);
}
inline void add(LogLine& line, const FieldNames& names, Duration value) { line.seconds(names, value); }
inline void add(LogLine& line, const FieldNames& names, WallTime value) { line.timestamp(names, value); }
template <class Enum>
  requires std::is_enum_v<Enum>
void add(LogLine& line, const FieldNames& names, Enum value) {
  line.text(names, to_string(value));
}
template <class Value>
void add(LogLine& line, const FieldNames& names, const std::optional<Value>& value) {
  add(line, names, *value);
}

/// In logfmt as 1/3, or 1 if unlimited; in JSON as a number.
inline void add_ordinal(LogLine& line, const FieldNames& names, const EventRecord& record) {
  auto text = std::to_string(record.ordinal);
  if (record.max_attempts) text.append(1, '/').append(std::to_string(*record.max_attempts));
  line.text({names.logfmt, {}}, text);
  line.number({{}, names.json}, record.ordinal);
}

/// A line that is not an event describes a finished call, without kind and mode.
inline std::string line_of(const EventRecord& record, LineShape shape, bool is_event) {
  LogLine line{shape};
  for_each_field([&](const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    // Each branch reads the names where it writes them, which keeps the code of omitted fields small.
    if constexpr (Field::template is<&EventRecord::at>()) {
      return;  // not part of a line
    } else if constexpr (Field::template is<&EventRecord::ordinal>()) {
      add_ordinal(line, field.names_if(is_over(record)), record);
    } else {
      const auto whole =
          is_event || !(Field::template is<&EventRecord::kind>() || Field::template is<&EventRecord::mode>());
      if (whole && Field::is_written(record))
        add(line, field.names_if(is_over(record)), Field::value(record));
    }
    if (Field::template is<&EventRecord::max_attempts>() && !is_over(record) && record.ordinal > 1)
      line.number(resend_count_names, record.ordinal - 1);
  });
  return std::move(line).finish();
}

// Logfmt omits the scope, so the process's scope is not created for it.
inline std::string scope_text(const LogText& how) {
  if (how.shape != LineShape::json) return {};
  return (how.scope != nullptr ? *how.scope : Scope::process()).text();
}

}  // namespace detail

/// A record as one line, which `TraceReader` reads back.
inline std::string log_text(const EventRecord& record, LineShape shape) {
  return detail::line_of(record, shape, true);
}

/// An event as one line. Valid only inside the observer's callback.
///   event=attempt_failed call=call-17 tool=inventory_lookup attempt=1/3 error=TimeoutError retry_in=0.25s
inline std::string log_text(const Event& event, const LogText& how = {}) {
  return log_text(event_record(event, {.exception_text = how.exception_text,
                                       .calendar = how.shape == LineShape::json,
                                       .scope = how.scope}),
                  how.shape);
}

/// A failed call as one line.
///   call=call-17 tool=inventory_lookup attempts=3/3 error=TimeoutError reason=retries_exhausted slept=0.75s elapsed=0.9s
inline std::string log_text(const Failure& failure, const LogText& how = {}) {
  EventRecord record{.kind = EventKind::call_finished,
                     .scope = detail::scope_text(how),
                     .call_id = std::string{failure.call_id},
                     .call_name = std::string{failure.call_name},
                     .ordinal = failure.attempts,
                     .max_attempts = failure.max_attempts,
                     .error_type = error_type(failure),
                     .reason = failure.reason,
                     .outcome_unknown = failure.outcome_unknown,
                     .slept = failure.slept,
                     .elapsed = failure.elapsed,
                     .observer_errors = failure.observer_errors};
  if (failure.inner_attempts != 1) record.max_requests = failure.max_requests();
  if (how.exception_text) record.message = error_text(failure.error);
  return detail::line_of(record, how.shape, false);
}

/// An outcome as one line: its failure or its success, but never the value. (F6)
///   attempts=2 reason=succeeded slept=0.25s elapsed=0.3s
template <class T>
std::string log_text(const Outcome<T>& outcome, const LogText& how = {}) {
  if (!outcome.has_value()) return log_text(outcome.failure(), how);
  return detail::line_of({.kind = EventKind::call_finished,
                          .scope = detail::scope_text(how),
                          .ordinal = outcome.attempts(),
                          .reason = outcome.reason(),
                          .slept = outcome.slept(),
                          .elapsed = outcome.elapsed(),
                          .observer_errors = outcome.observer_errors()},
                         how.shape, false);
}

}  // namespace encore ENCORE_BUILD
