// Catch2 matchers for the events of a recorder. The only header that includes Catch2.
#pragma once
#include <encore/detail/quoted_text.hpp>
#include <encore/error_type.hpp>
#include <encore/event.hpp>
#include <encore/stop_reason.hpp>
#include <encore/testing/durations.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/recording.hpp>

#include <catch2/matchers/catch_matchers.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD::testing {

namespace detail {

/// Matches one call, or every call of a recording, which then must have at least one. Combine with `&&`, `||` and `!`.
class CallMatcher : public Catch::Matchers::MatcherBase<Recording> {
 public:
  bool match(const Recording& recording) const final {
    if (call_id_) return matches(recording.of(*call_id_));
    const auto calls = recording.by_call();
    return !calls.empty() &&
           std::all_of(calls.begin(), calls.end(), [&](const Recording& call) { return matches(call); });
  }

 protected:
  explicit CallMatcher(std::optional<std::string> call_id = {}) : call_id_{std::move(call_id)} {}
  std::string describe() const final {
    return (call_id_ ? encore::detail::shown(*call_id_) : "every call") + " " + expectation();
  }

  /// True if the call with these events is over, and `says` is true for each of its `call_finished`.
  template <class Says>
  static bool ends(const Recording& events, Says&& says) {
    return !events.empty() && events.back().kind == EventKind::call_finished &&
           std::all_of(events.begin(), events.end(), [&](const EventRecord& event) {
             return event.kind != EventKind::call_finished || says(event);
           });
  }

 private:
  virtual bool matches(const Recording& events) const = 0;
  virtual std::string expectation() const = 0;
  std::optional<std::string> call_id_;
};

}  // namespace detail

/// The call made exactly this many attempts: `Attempted("call-17", 3)`. A call without events made none.
class Attempted final : public detail::CallMatcher {
 public:
  Attempted(std::string call_id, int attempts) : CallMatcher{std::move(call_id)}, attempts_{attempts} {}
  explicit Attempted(int attempts) : attempts_{attempts} {}

 private:
  bool matches(const Recording& events) const override {
    return std::count_if(events.begin(), events.end(), [](const EventRecord& event) {
             return event.kind == EventKind::attempt_started;
           }) == attempts_;
  }
  std::string expectation() const override {
    return "makes " + std::to_string(attempts_) + (attempts_ == 1 ? " attempt" : " attempts");
  }
  int attempts_;
};

/// The call is over, for this reason.
class EndedBecause final : public detail::CallMatcher {
 public:
  explicit EndedBecause(StopReason reason) : reason_{reason} {}
  EndedBecause(std::string call_id, StopReason reason) : CallMatcher{std::move(call_id)}, reason_{reason} {}

 private:
  bool matches(const Recording& events) const override {
    return ends(events, [&](const EventRecord& finished) { return finished.reason == reason_; });
  }
  std::string expectation() const override { return "ends because " + std::string{to_string(reason_)}; }
  StopReason reason_;
};

/// The call is over, and this is what the caller got.
class EndedIn final : public detail::CallMatcher {
 public:
  explicit EndedIn(TerminalMode mode) : mode_{mode} {}
  EndedIn(std::string call_id, TerminalMode mode) : CallMatcher{std::move(call_id)}, mode_{mode} {}

 private:
  bool matches(const Recording& events) const override {
    return ends(events, [&](const EventRecord& finished) { return finished.mode == mode_; });
  }
  std::string expectation() const override { return "ends in " + std::string{to_string(mode_)}; }
  TerminalMode mode_;
};

/// The call was refused before its first attempt, for this reason. (G4)
class RefusedOnEntry final : public detail::CallMatcher {
 public:
  explicit RefusedOnEntry(StopReason reason) : reason_{reason} {}
  RefusedOnEntry(std::string call_id, StopReason reason) : CallMatcher{std::move(call_id)}, reason_{reason} {}

 private:
  bool matches(const Recording& events) const override {
    return ends(events, [&](const EventRecord& finished) { return finished.reason == reason_; }) &&
           std::none_of(events.begin(), events.end(),
                        [](const EventRecord& event) { return event.kind == EventKind::attempt_started; });
  }
  std::string expectation() const override {
    return "is refused on entry because " + std::string{to_string(reason_)};
  }
  StopReason reason_;
};

/// The waits that the call chose, one for each retry, including those of zero.
class Waited final : public detail::CallMatcher {
 public:
  explicit Waited(Durations waits) : waits_{std::move(waits)} {}
  Waited(std::string call_id, Durations waits) : CallMatcher{std::move(call_id)}, waits_{std::move(waits)} {}

 private:
  bool matches(const Recording& events) const override {
    Durations waits;
    for (const auto& event : events) {
      if (event.will_retry) waits.push_back(event.wait);
    }
    return waits == waits_;
  }
  std::string expectation() const override { return "waits " + to_string(waits_); }
  Durations waits_;
};

namespace detail {

class LastFailureIs final : public CallMatcher {
 public:
  LastFailureIs(std::optional<std::string> call_id, std::string error_type)
      : CallMatcher{std::move(call_id)},
        error_type_{std::move(error_type)} {}

 private:
  bool matches(const Recording& events) const override {
    const auto last = std::find_if(events.rbegin(), events.rend(), [](const EventRecord& event) {
      return event.kind == EventKind::attempt_failed;
    });
    return last != events.rend() && last->error_type == error_type_;
  }
  std::string expectation() const override { return "fails last with exactly " + error_type_; }
  std::string error_type_;
};

}  // namespace detail

/// The call's last failed attempt threw an object of exactly this type: `FailedWith<TimeoutError>("call-17")`.
template <class E>
detail::LastFailureIs FailedWith(std::optional<std::string> call_id = {}) {
  return {std::move(call_id), encore::detail::type_name(typeid(E))};
}

}  // namespace ENCORE_BUILD::testing
