// Findings in words: what happened, and what to look at next.
#pragma once
#include <encore/analysis/finding.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/detail/seconds_text.hpp>
#include <encore/duration.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

namespace detail {

/// The stored ids and the number of others: call-17, call-18 and 3 more.
inline std::string ids_text(const Finding& finding) {
  std::string text;
  for (std::size_t i = 0; i < finding.ids.size(); ++i) {
    const auto last = i + 1 == finding.ids.size() && finding.ids.size() == finding.calls;
    text.append(i == 0 ? "" : last ? " and " : ", ").append(shown(finding.ids[i]));
  }
  if (const auto more = finding.calls - finding.ids.size(); more > 0 && !finding.ids.empty())
    text.append(" and ").append(std::to_string(more)).append(" more");
  return text;
}
inline std::string counted(std::uint64_t count, std::string_view noun) {
  auto text = std::to_string(count).append(1, ' ').append(noun);
  return count == 1 ? text : text.append(1, 's');
}
/// Seconds, rounded down to milliseconds.
inline std::string short_seconds(Duration duration) {
  std::string text;
  append_seconds(text, duration > std::chrono::milliseconds{1}
                           ? std::chrono::floor<std::chrono::milliseconds>(duration)
                           : duration);
  return text.append(" s");
}

/// 3 attempts; 3 attempts each; 1 to 3 attempts each.
inline std::string attempts_each(const Finding& finding) {
  const auto each = finding.calls == 1 ? "" : " each";
  if (finding.min_attempts_per_call == finding.max_attempts_per_call)
    return counted(static_cast<std::uint64_t>(finding.max_attempts_per_call), "attempt").append(each);
  return std::to_string(finding.min_attempts_per_call)
      .append(" to ")
      .append(counted(static_cast<std::uint64_t>(finding.max_attempts_per_call), "attempt"))
      .append(each);
}
inline std::string with_error(const Finding& finding, std::string_view before) {
  return finding.detail.empty() ? std::string{} : std::string{before}.append(shown(finding.detail));
}

/// 3 calls in a row; 7 calls in 2 rows.
inline std::string in_rows(const Finding& finding) {
  const auto calls = counted(finding.calls, "call");
  return finding.rows <= 1 ? calls + " in a row" : calls + " in " + std::to_string(finding.rows) + " rows";
}

}  // namespace detail

/// What happened, as a sentence without the tool's name and the full stop. Names and ids from the log are quoted unless they are
/// plain words.
///   call-17 used all its attempts: 3 attempts of at most 3, the last failure TimeoutError
inline std::string what_happened(const Finding& finding) {
  using detail::attempts_each;
  using detail::counted;
  const auto ids = detail::ids_text(finding);
  const auto one = finding.calls == 1;
  const auto calls = counted(finding.calls, "call");
  switch (finding.kind) {
    case FindingKind::over_ceiling:
      return ids + " made " + attempts_each(finding) + " where at most " +
             std::to_string(finding.ceiling.value_or(0)) + " are allowed";
    case FindingKind::layers_multiplied:
      return ids + ": " + counted(finding.attempts, "attempt") + " became " +
             counted(finding.requests, "request") +
             (finding.detail == "policy" ? ", because a policy inside each attempt retried too"
              : finding.detail == "transport"
                  ? " or more, because the transport sent a request again before it got an answer"
                  : ", because a layer below the policy repeated them");
    case FindingKind::never_reached_policy:
      return ids + " never reached a policy: " + attempts_each(finding) + ", and no policy reported " +
             (one ? "it" : "them");
    case FindingKind::repeated_without_retries:
      return detail::in_rows(finding) + " made " + (finding.min_attempts_per_call == 0 ? "at most " : "") +
             "one attempt each (" + ids +
             "): nothing retried them, and each began after the previous one had failed";
    case FindingKind::repeated_after_unknown_outcome:
      return ids + ": an attempt was sent and never answered, and another followed " +
             (finding.with_key ? "with an idempotency key" : "without a known idempotency key") +
             ": the action may have been done twice";
    case FindingKind::wait_past_deadline:
      return ids + ": a wait ended, or an attempt began, up to " +
             detail::short_seconds(finding.max_overrun) + " after the call's deadline";
    case FindingKind::ordinal_missing: return ids + ": attempt numbers are missing";
    case FindingKind::ordinal_repeated: return ids + ": several attempts have the same number";
    case FindingKind::id_reused: return calls + " reused the id of a call that had ended: " + ids;
    case FindingKind::without_id:
      return counted(finding.attempts, "attempt") +
             " without a call id: one call over its limit and several calls look the same";
    case FindingKind::no_end:
      return ids + ": " + attempts_each(finding) +
             ", the last one failed, and the call reported neither an exception nor an error result";
    case FindingKind::outcome_unknown:
      return ids + ": sent and never answered, so the action may have been done";
    case FindingKind::not_retried:
      return ids + " failed on the only attempt" + detail::with_error(finding, " with ") +
             ", and no retry followed";
    case FindingKind::not_retryable:
      return finding.max_attempts_per_call <= 1
                 ? ids + " failed at once: the filter does not match " + detail::shown(finding.detail)
                 : ids + " stopped after " + attempts_each(finding) + ": the filter does not match " +
                       detail::shown(finding.detail);
    case FindingKind::ran_once:
      return ids + " ran once and failed: " +
             (finding.detail == "excluded_tool" ? "the retry filter does not name this tool"
                                                : "the tool is declared to run once") +
             (finding.resolved_name.empty() ? ""
                                            : ", which resolves to " + detail::shown(finding.resolved_name));
    case FindingKind::exhausted:
      return ids + (one ? " used all its attempts: " : " used all their attempts: ") +
             attempts_each(finding) +
             (finding.ceiling ? " of at most " + std::to_string(*finding.ceiling) : "") +
             detail::with_error(finding, ", the last failure ");
    case FindingKind::repeated_after_exhaustion:
      return detail::in_rows(finding) + ", " + attempts_each(finding) + ", " +
             std::to_string(finding.attempts) + " in all (" + ids +
             "): separate calls with their own retries, not one call over its limit";
    case FindingKind::out_of_time:
      return ids + " stopped after " + attempts_each(finding) +
             " because time ran out: " + detail::shown(finding.detail);
    case FindingKind::refused:
      if (finding.detail == to_string(StopReason::unknown_tool))
        return ids + " called a tool that does not exist";
      return ids + (one ? " was" : " were") + " refused by a guard after " + attempts_each(finding) + ": " +
             detail::shown(finding.detail);
    case FindingKind::cancelled:
      return ids + (one ? " was" : " were") + " cancelled after " + attempts_each(finding);
    case FindingKind::error_result:
      return ids + " returned a result that says that the tool failed, but counted as a success";
    case FindingKind::mostly_waiting:
      return calls + " slept " + detail::short_seconds(finding.slept) + " and worked " +
             detail::short_seconds(finding.worked);
    case FindingKind::unfinished: return ids + ": the log has no end of the call";
    case FindingKind::recovered: return ids + " succeeded after retries, in " + attempts_each(finding);
  }
  return ids;
}

/// What to do next, as whole sentences.
inline std::string_view what_next(const Finding& finding) noexcept {
  switch (finding.kind) {
    case FindingKind::over_ceiling:
      return "Look for a second layer that retries, or for a number of retries used as a number of attempts.";
    case FindingKind::layers_multiplied:
      return finding.detail == "policy"
                 ? "Let one layer retry: give the inner policy WhenNested{Nested::make_single}, or remove it."
             : finding.detail == "transport"
                 ? "Look for duplicates in the dependency's records, and stop the transport from repeating "
                   "requests with side effects: libcurl repeats a request on a reused connection."
                 : "Let one layer retry: switch off the client's own retries, or declare them to the policy "
                   "with AlreadyRetries.";
    case FindingKind::never_reached_policy:
      return "Compare the tool's name at the call with the names that the policy is applied to: a renamed "
             "tool, a wrapper or a typo bypasses it. If the policy's log is incomplete, read all of it.";
    case FindingKind::repeated_without_retries:
      return "If the calls ask for the same thing, the model repeats what no policy repeated: find out why "
             "no "
             "attempt was retried (the error's type, the tool's name in the filter), and which message made "
             "the model ask again.";
    case FindingKind::repeated_after_unknown_outcome:
      return finding.with_key
                 ? "Check with the dependency whether it treated the key as one action or as two."
                 : "Look for duplicates in the dependency's records, and repeat this tool only with a key "
                   "that the dependency enforces.";
    case FindingKind::wait_past_deadline:
      return "Give the policy the request's own limit (TimeBudget, or the call's deadline): it then starts "
             "no "
             "such wait.";
    case FindingKind::ordinal_missing:
      return "Either the log lacks lines, or the id changed between attempts: number the attempts where they "
             "are made, and pass the same id on.";
    case FindingKind::ordinal_repeated:
      return "Either several calls share this id, or another layer repeats attempts under the same number.";
    case FindingKind::id_reused:
      return "Models reuse their ids: give each run a scope of its own, and use no id alone as a key.";
    case FindingKind::without_id:
      return "Log the call's id and the attempt's number where the request is made, then read the log again.";
    case FindingKind::no_end:
      return "A layer around the policy may swallow the outcome: reproduce it with the policy alone, then "
             "add the other layers one at a time. If the log is cut off there, read the rest.";
    case FindingKind::outcome_unknown:
      return "Reconcile it: look the action up at the dependency by its operation key before you repeat it.";
    case FindingKind::not_retried:
      return finding.looks_transient
                 ? "The failure looks transient: check that the filter names the type that reaches it, and "
                   "that "
                   "the policy is applied to this tool."
                 : "Check whether this failure should get one attempt only: for bad input that is right.";
    case FindingKind::not_retryable:
      return finding.looks_transient
                 ? "The failure looks transient: if an adapter translates exceptions, name this type in the "
                   "filter, or let the original exception through."
                 : "One attempt is right for bad input and for missing permissions; if this failure is "
                   "transient, name its type in the filter.";
    case FindingKind::ran_once:
      return finding.detail == "excluded_tool"
                 ? "If the tool may be repeated, add its name, as resolved, to the filter."
                 : "This is as declared: repeat it only with a key that the dependency enforces.";
    case FindingKind::exhausted:
      return "The limit worked: look at the state of the dependency at that time, and at how many calls "
             "recover thanks to retries.";
    case FindingKind::repeated_after_exhaustion:
      return "Leave the retries as they are: look at the error result that the model got, and limit its "
             "calls "
             "(CallLimit, LoopDetector).";
    case FindingKind::out_of_time:
      return "The time limit stops these calls before the attempt limit does: compare the duration of an "
             "attempt, and the waits, with the time limit.";
    case FindingKind::refused:
      if (finding.detail == to_string(StopReason::unknown_tool))
        return "Compare the names that the model gets with those in the catalog, or give the tool an alias.";
      return "Look at what the guard protects: an open circuit or a spent budget has a cause.";
    case FindingKind::cancelled: return "Find out what cancelled them.";
    case FindingKind::error_result:
      return "Do not count it as a success; if such a result should be retried, name it with RetryIfResult.";
    case FindingKind::mostly_waiting:
      return "Compare the waits with how soon the dependency recovers, and the number of retries with how "
             "many calls they save.";
    case FindingKind::unfinished:
      return "The log or the process ended there: read the rest of the log before you judge these calls.";
    case FindingKind::recovered: return "Nothing: this is what retries are for.";
  }
  return "";
}

}  // namespace encore ENCORE_BUILD
