// The findings of one call.
#pragma once
#include <encore/analysis/finding.hpp>
#include <encore/analysis/traced_call.hpp>
#include <encore/detail/analysis/call_row.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/duration.hpp>
#include <encore/http/status.hpp>
#include <encore/stop_reason.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

namespace detail {

/// Does the text contain the lower-case word, in any case?
constexpr bool mentions(std::string_view text, std::string_view word) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (std::size_t at = 0; at + word.size() <= text.size(); ++at) {
    std::size_t same = 0;
    while (same < word.size() && lower(text[at + same]) == word[same]) ++same;
    if (same == word.size()) return true;
  }
  return false;
}
static_assert(mentions("ReadTimeout", "timeout") && !mentions("Time", "timeout"));

/// Does the failure look transient, by the words in its type, code or text, or by its status (`http::is_transient`)?
constexpr bool looks_transient(const TracedAttempt& attempt) noexcept {
  for (const std::string_view word : {"timeout", "timed out", "timed_out", "connection", "unavailable",
                                      "temporar", "too many requests", "too_many_requests", "toomanyrequests",
                                      "rate limit", "rate_limit", "ratelimit", "throttl", "overloaded"})
    for (const std::string_view text : {attempt.error_type, attempt.error_code, attempt.message})
      if (mentions(text, word)) return true;
  return attempt.status && http::is_transient(*attempt.status);
}

}  // namespace detail

/// Counts one call in the findings that apply to it.
class CallFindings {
 public:
  /// The limits apply where the log has none for the call. The deadline counts from the call's start.
  CallFindings(const TracedCall& call, std::optional<int> max_attempts, std::optional<Duration> deadline)
      : call_{call},
        ceiling_{call.max_attempts ? call.max_attempts : max_attempts},
        deadline_{call.deadline} {
    if (!deadline_ && deadline && call.began_at) deadline_ = later(*call.began_at, *deadline);
  }

  /// `finding_of(FindingKind, std::string_view detail)` returns a reference to the finding to update.
  template <class FindingOf>
  void report(FindingOf&& finding_of) const {
    if (call_.is_partial()) return;
    const auto count = [&](FindingKind kind, std::string_view detail = {}) -> Finding& {
      auto& found = finding_of(kind, detail);
      detail::count_in(found, call_);
      if (!found.ceiling) found.ceiling = ceiling_;
      return found;
    };
    if (call_.id.empty()) {
      count(FindingKind::without_id);
      return;
    }
    report_layers(count);
    if (call_.reported_by_policy)
      report_end(count);
    else if (call_.request_count > 0)
      report_requests(count);
    else
      return;
    const auto& ordinals = call_.reported_by_policy ? call_.ordinals : call_.request_ordinals;
    if (ceiling_ && own_attempts() > *ceiling_) count(FindingKind::over_ceiling);
    if (ordinals.missing() > 0 && !call_.continued) count(FindingKind::ordinal_missing);
    if (ordinals.repeated > 0) count(FindingKind::ordinal_repeated);
    if (call_.id_reused) count(FindingKind::id_reused);
    report_time(count);
    report_unknown_outcomes(count);
  }

 private:
  int own_attempts() const noexcept {
    return call_.reported_by_policy ? call_.attempt_count : call_.request_count;
  }
  const TracedAttempt* last() const noexcept {
    return call_.reported_attempts().empty() ? nullptr : &call_.reported_attempts().back();
  }

  template <class Count>
  void report_layers(Count& count) const {
    const auto attempts = static_cast<std::int64_t>(call_.reported_attempt_count());
    if (call_.inner_attempts > attempts)
      count(FindingKind::layers_multiplied, "policy").requests +=
          static_cast<std::uint64_t>(call_.inner_attempts);
    if (call_.reported_by_policy && call_.request_count > attempts)
      count(FindingKind::layers_multiplied, "client").requests +=
          static_cast<std::uint64_t>(call_.request_count);
    auto repeated_below = std::int64_t{0};
    for (const auto& attempt : call_.reported_attempts()) repeated_below += attempt.dispatched_again ? 1 : 0;
    if (repeated_below > 0)
      count(FindingKind::layers_multiplied, "transport").requests +=
          static_cast<std::uint64_t>(attempts + repeated_below);
  }

  /// For a call that no policy reported.
  template <class Count>
  void report_requests(Count& count) const {
    if (!call_.evicted) count(FindingKind::never_reached_policy);
    const auto bad = call_.failed();
    const auto error = last() != nullptr ? failure_name(*last()) : std::string{};
    if (bad && call_.request_count == 1)
      count_failure(count, FindingKind::not_retried, error);
    else if (bad)
      count_failure(count, FindingKind::exhausted, error);
    else if (call_.request_count > 1)
      count(FindingKind::recovered);
  }

  template <class Count>
  void report_end(Count& count) const {
    if (!call_.finished) {
      const auto stopped = last() != nullptr && last()->end == AttemptEnd::failed && !last()->will_retry;
      count(stopped ? FindingKind::no_end : FindingKind::unfinished);
      return;
    }
    const auto reason = to_string(call_.reason);
    if (call_.outcome_unknown) count(FindingKind::outcome_unknown);
    if (call_.error_type.empty() && last() != nullptr && last()->error_result)
      count(FindingKind::error_result);
    switch (category(call_.reason)) {
      case StopCategory::unfinished:
      case StopCategory::single: return;
      case StopCategory::success:
        if (call_.reported_attempt_count() > 1) count(FindingKind::recovered);
        return;
      case StopCategory::ran_once:
        if (!call_.error_type.empty()) count_failure(count, FindingKind::ran_once, reason);
        return;
      case StopCategory::not_matched:
        count_failure(count, FindingKind::not_retryable, call_.error_type);
        return;
      case StopCategory::exhausted: count_failure(count, FindingKind::exhausted, call_.error_type); return;
      case StopCategory::out_of_time: count(FindingKind::out_of_time, reason); return;
      case StopCategory::cancelled: count(FindingKind::cancelled, reason); return;
      case StopCategory::refused: count(FindingKind::refused, reason); return;
    }
  }
  template <class Count>
  void count_failure(Count& count, FindingKind kind, std::string_view detail) const {
    auto& found = count(kind, detail);
    if (last() != nullptr && detail::looks_transient(*last())) found.looks_transient = true;
  }

  template <class Count>
  void report_time(Count& count) const {
    Duration past{};
    const TracedAttempt* before = nullptr;
    for (const auto& attempt : call_.reported_attempts()) {
      // Without a start time of its own, it began no earlier than the previous attempt ended.
      const auto began = attempt.started ? attempt.started : before != nullptr ? before->ended : std::nullopt;
      if (before != nullptr && began && deadline_)
        past = shared::larger_of(past, time_between(*deadline_, *began));
      if (attempt.will_retry && attempt.remaining && attempt.wait > *attempt.remaining)
        past = shared::larger_of(past, attempt.wait - *attempt.remaining);
      before = &attempt;
    }
    if (past == Duration::zero()) return;
    auto& found = count(FindingKind::wait_past_deadline);
    found.max_overrun = shared::larger_of(found.max_overrun, past);
  }

  template <class Count>
  void report_unknown_outcomes(Count& count) const {
    const auto& attempts = call_.reported_attempts();
    auto repeated = false;
    auto with_key = true;
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      repeated = repeated || (i + 1 < attempts.size() && attempts[i].outcome_unknown());
      with_key = with_key && attempts[i].key_used;
    }
    if (!repeated) return;
    auto& found = count(FindingKind::repeated_after_unknown_outcome);
    found.with_key = with_key && (found.calls == 1 || found.with_key);
  }

  const TracedCall& call_;
  std::optional<int> ceiling_;
  std::optional<WallTime> deadline_;
};

}  // namespace encore ENCORE_BUILD
