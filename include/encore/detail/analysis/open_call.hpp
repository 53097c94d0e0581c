// A call whose records are still being collected.
#pragma once
#include <encore/analysis/traced_call.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/duration.hpp>
#include <encore/telemetry/event_record.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace encore ENCORE_BUILD::detail {

/// Builds a call from its records. A regular value; not thread-safe.
class OpenCall {
 public:
  const TracedCall& call() const noexcept { return call_; }

  /// Adds a record. `number` is its position in the log, from 1.
  void note(const EventRecord& record, std::uint64_t number) {
    if (call_.first_record == 0) {
      call_.scope = record.scope;
      call_.id = record.call_id;
      call_.first_record = number;
    }
    if (!call_.finished) call_.last_record = number;
    set_if_empty(call_.tool, record.call_name);
    set_if_empty(call_.resolved_name, record.resolved_name);
    if (record.max_attempts) call_.max_attempts = record.max_attempts;
    if (record.max_requests) call_.max_requests = record.max_requests;
    if (!record.outer_id.empty())
      call_.outer_id = record.outer_id, call_.outer_ordinal = record.outer_ordinal;
    if (record.wall) {
      if (!call_.began_at || *record.wall < *call_.began_at) call_.began_at = record.wall;
      if (!call_.ended_at || *record.wall > *call_.ended_at) call_.ended_at = record.wall;
      if (record.remaining) call_.deadline = later(*record.wall, *record.remaining);
    }
    if (!record.kind) return note_request(record);
    call_.reported_by_policy = true;
    if (call_.continued) call_.attempts_made = shared::larger_of(call_.attempts_made, record.ordinal);
    switch (*record.kind) {
      case EventKind::attempt_started: return note_start(record);
      case EventKind::attempt_failed: return note_end(record, AttemptEnd::failed);
      case EventKind::attempt_succeeded: return note_end(record, AttemptEnd::succeeded);
      case EventKind::call_finished: return note_finish(record);
    }
  }

  /// Adds an inner call that ended: it ran inside attempt `ordinal` of this call and made `attempts` of its own.
  void note_inner(std::string_view scope, std::string_view id, int ordinal, std::int64_t attempts) {
    call_.scope = scope;
    call_.id = id;
    ++call_.inner_calls;
    call_.inner_attempts += attempts;
    if (!call_.reported_by_policy) call_.attempts_made = shared::larger_of(call_.attempts_made, ordinal);
  }

  void mark_id_reused() noexcept { call_.id_reused = true; }
  void follows(std::uint64_t record) noexcept { call_.previous_record = record; }
  void mark_not_alone() noexcept { call_.alone = false; }
  void mark_evicted() noexcept { call_.evicted = true; }
  void mark_continued() noexcept { call_.continued = true; }

  /// The name under which it is counted as an active call; empty if it is not counted.
  const std::optional<std::string>& counted_as() const noexcept { return counted_as_; }
  void stop_counting() noexcept { counted_as_.reset(); }
  const std::string& count_as() { return counted_as_.emplace(call_.scope + '\n' + call_.tool); }

 private:
  static void set_if_empty(std::string& to, const std::string& from) {
    if (to.empty()) to = from;
  }
  static void note_facts(TracedAttempt& attempt, const EventRecord& record) {
    const auto remaining = attempt.remaining;
    for_each_field([&](const auto& field) {
      using Field = std::remove_cvref_t<decltype(field)>;
      if constexpr (Field::of_attempt) attempt.*Field::member = Field::value(record);
    });
    if (!attempt.remaining) attempt.remaining = remaining;
  }
  static TracedAttempt* store(std::vector<TracedAttempt>& attempts, int ordinal) {
    if (attempts.size() >= TracedCall::max_stored_attempts) return nullptr;
    attempts.emplace_back().ordinal = ordinal;
    return &attempts.back();
  }

  /// A client's line about a whole attempt, written at its end.
  void note_request(const EventRecord& record) {
    ++call_.request_count;
    call_.request_ordinals.add(record.ordinal);
    auto* const request = store(call_.requests, record.ordinal);
    if (request == nullptr) return;
    note_facts(*request, record);
    const auto failed = !record.error_type.empty() || record.status.value_or(0) >= 400;
    request->end = failed ? AttemptEnd::failed : AttemptEnd::succeeded;
    if (failed && record.error_type.empty()) request->error_type = std::to_string(*record.status);
    request->ended = record.wall;
    if (!record.wall || !record.took) return;
    request->started = later(*record.wall, -*record.took);
    if (*request->started < *call_.began_at) call_.began_at = request->started;
  }

  void note_start(const EventRecord& record) {
    ++call_.attempt_count;
    call_.ordinals.add(record.ordinal);
    began_after_ = record.elapsed;
    latest_ = record.ordinal;
    auto* const attempt = store(call_.attempts, record.ordinal);
    if (attempt == nullptr) return;
    attempt->started = record.wall;
    attempt->remaining = record.remaining;
  }

  void note_end(const EventRecord& record, AttemptEnd end) {
    auto* attempt = running(record.ordinal);
    if (attempt == nullptr) {
      if (record.ordinal == latest_) {  // it has already ended, or is not stored
        if (call_.attempts.size() < TracedCall::max_stored_attempts) ++call_.ordinals.repeated;
        return;
      }
      note_start({.ordinal = record.ordinal});  // the log lacks its start
      attempt = running(record.ordinal);
      if (attempt == nullptr) return;
    }
    note_facts(*attempt, record);
    attempt->end = end;
    attempt->ended = record.wall;
    if (record.elapsed && began_after_)
      attempt->took = shared::larger_of(*record.elapsed - *began_after_, Duration::zero());
    else if (attempt->started && attempt->ended)
      attempt->took = time_between(*attempt->started, *attempt->ended);
    if (end == AttemptEnd::failed) call_.error_type = failure_name(*attempt);
  }
  TracedAttempt* running(int ordinal) {
    const auto last = std::find_if(call_.attempts.rbegin(), call_.attempts.rend(), [&](const auto& attempt) {
      return attempt.ordinal == ordinal && attempt.end == AttemptEnd::unknown;
    });
    return last != call_.attempts.rend() ? &*last : nullptr;
  }

  void note_finish(const EventRecord& record) {
    call_.finished = true;
    call_.reason = record.reason;
    call_.mode = record.mode;
    call_.attempts_made = record.ordinal;
    call_.slept = record.slept;
    call_.elapsed = record.elapsed;
    call_.error_type = failure_name(record);
    call_.outcome_unknown = record.outcome_unknown;
    call_.observer_errors = record.observer_errors;
  }

  TracedCall call_{};
  std::optional<std::string> counted_as_{};
  std::optional<Duration> began_after_{};  // from the start of the call to that of the latest attempt
  int latest_ = 0;                         // the ordinal of the latest attempt
};

}  // namespace ENCORE_BUILD::detail
