// Events as regular values: to keep, to compare whole, and to read when a test fails.
#pragma once
#include <encore/detail/quoted_text.hpp>
#include <encore/error_type.hpp>
#include <encore/event.hpp>
#include <encore/testing/durations.hpp>

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace encore ENCORE_BUILD::testing {

/// An owning copy of an event. Everything has a default, so a test names what it expects: (F5)
///   Recorded{.kind = EventKind::attempt_failed, .call_id = "call-17", .ordinal = 1, .max_attempts = 3, .will_retry = true,
///            .wait = 250ms, .error_type = "TimeoutError"}
struct Recorded {
  EventKind kind = EventKind::attempt_started;
  std::string call_id{};
  std::string call_name{};
  std::string resolved_name{};
  int ordinal = 0;  ///< on `call_finished` the number of attempts made
  std::optional<int> max_attempts{};
  int inner_attempts = 1;
  bool will_retry = false;
  Duration wait{};
  std::optional<Duration> hint{};
  StopReason reason = StopReason::none;
  TerminalMode mode = TerminalMode::none;
  std::string error_type{};  ///< the exception's own type, readable; empty if the failure is a value
  std::string error_name{};  ///< the name that was registered for it
  std::optional<int> status{};
  std::string request_id{};
  bool dispatched = false;
  bool answered = false;
  bool not_run = false;
  bool dispatched_again = false;
  bool error_result = false;
  Duration slept{};
  int observer_errors = 0;
  bool outcome_unknown = false;
  std::string outer_id{};  ///< the call inside whose attempt this one runs (J1)
  std::optional<TimePoint> at{};
  std::optional<Duration> elapsed{};

  friend bool operator==(const Recorded&, const Recorded&) = default;
};

/// Copies an event, and reads the clock for it.
inline Recorded record(const Event& event) {
  Recorded copy{.kind = event.kind,
                .call_id = std::string{event.call_id()},
                .call_name = std::string{event.call_name},
                .resolved_name = std::string{event.resolved_name},
                .ordinal = event.ordinal,
                .max_attempts = event.max_attempts(),
                .inner_attempts = event.inner_attempts,
                .will_retry = event.will_retry,
                .wait = event.wait,
                .hint = event.hint,
                .reason = event.reason,
                .mode = event.mode,
                .error_name = std::string{event.error_name},
                .slept = event.slept,
                .observer_errors = event.observer_errors,
                .outcome_unknown = event.outcome_unknown,
                .at = event.at(),
                .elapsed = event.elapsed()};
  if (event.thrown != nullptr) copy.error_type = error_type(*event.thrown);
  if (event.notes != nullptr) {
    copy.status = event.notes->status();
    copy.request_id = event.notes->request_id();
    copy.dispatched = event.notes->dispatched();
    copy.answered = event.notes->answered();
    copy.not_run = event.notes->not_run();
    copy.dispatched_again = event.notes->dispatched_again();
    copy.error_result = event.notes->error_result();
  }
  if (event.outer != nullptr) copy.outer_id = event.outer->call_id();
  return copy;
}

/// One short line that holds every field which is not at its default.
///   call-17 (inventory_lookup) 1 of 3: attempt_failed, TimeoutError, retry after 250ms, at 1.5s
inline std::string to_string(const Recorded& event) {
  const auto shown = [](std::string_view name) { return encore::detail::shown(name, name.npos); };
  auto text = shown(event.call_id);
  if (!event.call_name.empty()) text.append(" (").append(shown(event.call_name)).append(")");
  text.append(1, ' ').append(std::to_string(event.ordinal)).append(" of ");
  text.append(event.max_attempts ? std::to_string(*event.max_attempts) : "unlimited").append(": ");
  text.append(to_string(event.kind));
  const auto add = [&](std::string_view words, std::string_view value) {
    text.append(", ").append(words).append(value);
  };
  const auto add_duration = [&](std::string_view words, Duration value) {
    add(words, detail::text_of(value));
  };
  if (event.reason != StopReason::none) add("", to_string(event.reason));
  if (event.mode != TerminalMode::none) add("mode ", to_string(event.mode));
  if (!event.error_type.empty()) add("", event.error_type);
  if (!event.error_name.empty()) add("named ", event.error_name);
  if (event.will_retry)
    add_duration("retry after ", event.wait);
  else if (event.wait != Duration::zero())
    add_duration("wait ", event.wait);
  if (event.hint) add_duration("hint ", *event.hint);
  if (event.status) add("status ", std::to_string(*event.status));
  if (!event.request_id.empty()) add("request ", shown(event.request_id));
  if (event.dispatched) add("", "dispatched");
  if (event.dispatched_again) add("", "dispatched again");
  if (event.answered) add("", "answered");
  if (event.not_run) add("", "not run");
  if (event.error_result) add("", "error result");
  if (event.slept != Duration::zero()) add_duration("slept ", event.slept);
  if (event.observer_errors != 0) add("observer errors: ", std::to_string(event.observer_errors));
  if (event.outcome_unknown) add("", "outcome unknown");
  if (!event.resolved_name.empty()) add("resolved to ", shown(event.resolved_name));
  if (event.inner_attempts != 1) add("inner attempts: ", std::to_string(event.inner_attempts));
  if (!event.outer_id.empty()) add("inside ", shown(event.outer_id));
  if (event.at) add_duration("at ", event.at->time_since_epoch());
  if (event.elapsed) add_duration("elapsed ", *event.elapsed);
  return text;
}

/// The events of some calls, in order. A vector that is compared whole and printed one line an event.
///   CHECK(trace.events().without_times() == Recording{{.kind = …}, {.kind = …}});
class Recording : public std::vector<Recorded> {
 public:
  using vector::vector;

  /// The events of one call.
  Recording of(std::string_view call_id) const {
    Recording found;
    for (const auto& event : *this) {
      if (event.call_id == call_id) found.push_back(event);
    }
    return found;
  }
  /// The same facts without when they happened: neither `at` nor `elapsed`.
  Recording without_times() const {
    auto facts = *this;
    for (auto& event : facts) event.at.reset(), event.elapsed.reset();
    return facts;
  }
  /// The ids of the calls, in the order in which they were first heard of.
  std::vector<std::string> call_ids() const {
    std::vector<std::string> ids;
    for (const auto& call : by_call()) ids.push_back(call.front().call_id);
    return ids;
  }
  /// The events of each call, in the same order.
  std::vector<Recording> by_call() const {
    std::vector<Recording> calls;
    std::unordered_map<std::string_view, std::size_t> places;
    for (const auto& event : *this) {
      const auto [place, is_new] = places.try_emplace(event.call_id, calls.size());
      if (is_new) calls.emplace_back();
      calls[place->second].push_back(event);
    }
    return calls;
  }

  friend std::string to_string(const Recording& recording) {
    if (recording.empty()) return "(no events)";
    std::string text;
    for (const auto& event : recording) text.append(text.empty() ? "" : "\n").append(to_string(event));
    return text;
  }
};

/// Prints a recorded event or a recording where a test fails.
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const Recorded& event) {
  return out << to_string(event);
}
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const Recording& recording) {
  return out << to_string(recording);
}

}  // namespace ENCORE_BUILD::testing
