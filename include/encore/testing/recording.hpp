// Recorded events: compared as a whole, and printed when a test fails.
#pragma once
#include <encore/event.hpp>
#include <encore/telemetry/event_record.hpp>

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace encore ENCORE_BUILD::testing {

/// An owning copy of an event with all its fields. Reads the clock.
inline EventRecord record(const Event& event) {
  return event_record(event, {.calendar = false, .whole = true});
}

/// The events of some calls, in order: a vector that is compared as a whole and printed one event a line.
///   CHECK(trace.events().without_times() == Recording{{.kind = …}, {.kind = …}});
class Recording : public std::vector<EventRecord> {
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
  /// The same events without times: neither `at` nor `elapsed`, nor the remaining time of the call.
  Recording without_times() const {
    auto facts = *this;
    for (auto& event : facts) event.at.reset(), event.elapsed.reset(), event.remaining.reset();
    return facts;
  }
  /// The ids of the calls, in the order of their first events.
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

template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const Recording& recording) {
  return out << to_string(recording);
}

}  // namespace ENCORE_BUILD::testing
