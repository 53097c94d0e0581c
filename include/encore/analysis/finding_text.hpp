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

/// The ids of the first calls, and how many more there are: call-17, call-18 and 3 more.
inline std::string ids_text(const Finding& finding) {
  std::string text;
  for (std::size_t i = 0; i < finding.ids.size(); ++i) {
    const auto last = i + 1 == finding.ids.size() && finding.ids.size() == finding.calls;
    text.append(i == 0 ? "" : last ? " and " : ", ").append(detail::shown(finding.ids[i]));
  }
  if (const auto more = finding.calls - finding.ids.size(); more > 0 && !finding.ids.empty())
    text.append(" and ").append(std::to_string(more)).append(" more");
  return text;
}

namespace detail {

inline std::string counted(std::uint64_t count, std::string_view noun) {
  auto text = std::to_string(count).append(1, ' ').append(noun);
  return count == 1 ? text : text.append(1, 's');
}
/// To three digits after the point: whoever reads has no use for more.
inline std::string short_seconds(Duration duration) {
  std::string text;
  append_seconds(text, duration > std::chrono::milliseconds{1}
                           ? std::chrono::floor<std::chrono::milliseconds>(duration)
                           : duration);
  return text.append(" s");
}

/// How many attempts: 3 attempts; 3 attempts each; 1 to 3 attempts each.
inline std::string attempts_each(const Finding& finding) {
  const auto each = finding.calls == 1 ? "" : " each";
  if (finding.fewest_attempts == finding.most_attempts)
    return counted(static_cast<std::uint64_t>(finding.most_attempts), "attempt").append(each);
  return std::to_string(finding.fewest_attempts)
      .append(" to ")
      .append(counted(static_cast<std::uint64_t>(finding.most_attempts), "attempt"))
      .append(each);
}
inline std::string with_error(const Finding& finding, std::string_view before) {
  return finding.detail.empty() ? std::string{} : std::string{before}.append(shown(finding.detail));
}

/// 3 calls in a row; where there are several rows, their number and the sum.
inline std::string in_rows(const Finding& finding) {
  const auto calls = counted(finding.calls, "call");
  return finding.rows <= 1 ? calls + " in a row" : calls + " in " + std::to_string(finding.rows) + " rows";
}

}  // namespace detail

/// What was found, as a sentence without the tool's name and without its end. Names and ids from the log are quoted where they
/// hold anything but plain words.
///   call-17 spent its budget: 3 attempts of at most 3, the last failure TimeoutError
inline std::string what_happened(const Finding& finding) {
  using detail::attempts_each;
  using detail::counted;
  const auto ids = ids_text(finding);
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
                  ? " or more, because what sends a request sent it again before there was an answer"
                  : ", because a layer below the policy repeated them");
    case FindingKind::never_reached_policy:
      return ids + " never reached a policy: " + attempts_each(finding) + ", and no policy told of " +
             (one ? "it" : "them");
    case FindingKind::repeated_without_retries:
      return detail::in_rows(finding) + " made " + (finding.fewest_attempts == 0 ? "at most " : "") +
             "one attempt each (" + ids +
             "): nothing retried them, and each began after the one before had failed";
    case FindingKind::repeated_after_unknown_outcome:
      return ids + ": an attempt was sent and never answered, and another followed, " +
             (finding.with_key ? "with an idempotency key" : "and nothing tells of an idempotency key") +
             ": the action may have been done twice";
    case FindingKind::wait_past_deadline:
      return ids + ": a wait ended, or an attempt began, up to " + detail::short_seconds(finding.longest) +
             " after the call's time was over";
    case FindingKind::ordinal_missing: return ids + ": numbers of attempts are missing";
    case FindingKind::ordinal_repeated: return ids + ": several attempts have the same number";
    case FindingKind::id_reused: return calls + " took the id of a call that had ended: " + ids;
    case FindingKind::without_id:
      return counted(finding.attempts, "attempt") +
             " without a call's id: one call over its ceiling and several calls look the same";
    case FindingKind::no_end:
      return ids + ": " + attempts_each(finding) +
             ", the last one failed, and neither an exception nor an error result left";
    case FindingKind::outcome_unknown:
      return ids + ": sent and never answered, so the action may have been done";
    case FindingKind::not_retried:
      return ids + " failed on the only attempt" + detail::with_error(finding, " with ") +
             ", and no retry followed";
    case FindingKind::not_retryable:
      return finding.most_attempts <= 1
                 ? ids + " failed at once: the filter does not match " + detail::shown(finding.detail)
                 : ids + " stopped after " + attempts_each(finding) + ": the filter does not match " +
                       detail::shown(finding.detail);
    case FindingKind::ran_once:
      return ids + " failed and ran once: " +
             (finding.detail == "excluded_tool" ? "the retry filter does not name this tool"
                                                : "the tool is declared to run once") +
             (finding.resolved_name.empty()
                  ? ""
                  : ", which was resolved to " + detail::shown(finding.resolved_name));
    case FindingKind::exhausted:
      return ids + (one ? " spent its budget: " : " spent their budgets: ") + attempts_each(finding) +
             (finding.ceiling ? " of at most " + std::to_string(*finding.ceiling) : "") +
             detail::with_error(finding, ", the last failure ");
    case FindingKind::repeated_after_exhaustion:
      return detail::in_rows(finding) + ", " + attempts_each(finding) + ", " +
             std::to_string(finding.attempts) + " in all (" + ids +
             "): separate calls with a budget of their own, not one call over its ceiling";
    case FindingKind::out_of_time:
      return ids + " stopped after " + attempts_each(finding) +
             " for want of time: " + detail::shown(finding.detail);
    case FindingKind::refused:
      if (finding.detail == to_string(StopReason::unknown_tool))
        return ids + " called a tool that does not exist";
      return ids + (one ? " was" : " were") + " refused by a guard after " + attempts_each(finding) + ": " +
             detail::shown(finding.detail);
    case FindingKind::cancelled:
      return ids + (one ? " was" : " were") + " cancelled after " + attempts_each(finding);
    case FindingKind::error_result:
      return ids + " returned a result that says the tool failed, and counted as a success";
    case FindingKind::mostly_waiting:
      return calls + " slept " + detail::short_seconds(finding.slept) + " and worked " +
             detail::short_seconds(finding.worked);
    case FindingKind::unfinished: return ids + ": the log tells no end";
    case FindingKind::recovered: return ids + " succeeded after retries, in " + attempts_each(finding);
  }
  return ids;
}

/// What to look at next, as a sentence with its end.
inline std::string_view what_next(const Finding& finding) noexcept {
  switch (finding.kind) {
    case FindingKind::over_ceiling:
      return "Look for a second layer that retries, and for a number of retries that was taken for one of "
             "attempts.";
    case FindingKind::layers_multiplied:
      return finding.detail == "policy"
                 ? "Let one layer retry: give the inner policy WhenNested{Nested::make_single}, or remove it."
             : finding.detail == "transport"
                 ? "Look for doubles in the dependency's records, and keep the transport from repeating what "
                   "has an effect: libcurl repeats a request on a reused connection."
                 : "Let one layer retry: switch off the client's own retries, or tell the policy of them "
                   "with "
                   "AlreadyRetries.";
    case FindingKind::never_reached_policy:
      return "Compare the tool's name where it is called with the names that the policy is applied to: a "
             "renamed "
             "tool, a wrapper or a typo goes around it. If the policy's log is not complete, read all of it.";
    case FindingKind::repeated_without_retries:
      return "If they ask for the same, the model repeats what no policy did: find out why no attempt was "
             "retried (the "
             "error's type, the tool's name in the filter), and what the model was told that made it ask "
             "again.";
    case FindingKind::repeated_after_unknown_outcome:
      return finding.with_key
                 ? "Ask the dependency whether it took the key for one action or for two."
                 : "Look for doubles in the dependency's records, and repeat this tool only with a key "
                   "that the dependency enforces.";
    case FindingKind::wait_past_deadline:
      return "Give the policy the request's own limit (TimeBudget, or the call's deadline): it then begins "
             "no such "
             "wait.";
    case FindingKind::ordinal_missing:
      return "Either lines are missing from the log, or the id changed between attempts: number the attempts "
             "where "
             "they are made, and pass the same id on.";
    case FindingKind::ordinal_repeated:
      return "Either several calls share this id, or another layer repeats attempts under the same number.";
    case FindingKind::id_reused:
      return "Models use their ids again: give each run a scope of its own, and key nothing by the id alone.";
    case FindingKind::without_id:
      return "Log the call's id and the attempt's number where the request is made; then read the log again.";
    case FindingKind::no_end:
      return "A layer around the policy may swallow the outcome: reproduce it with the policy alone, and put "
             "the "
             "others back one at a time. If the log was cut there, read the rest.";
    case FindingKind::outcome_unknown:
      return "Reconcile it: ask the dependency by operation key before anybody repeats the action.";
    case FindingKind::not_retried:
      return finding.looks_passing
                 ? "It reads like a failure that passes: check that the filter names the type which reaches "
                   "it, and "
                   "that the policy is applied to this tool."
                 : "Check whether one attempt is what is meant for this failure: for bad input it is.";
    case FindingKind::not_retryable:
      return finding.looks_passing ? "It reads like a failure that passes: if an adapter translates "
                                     "exceptions, name this type in the "
                                     "filter, or let the original one out."
                                   : "One attempt is right for bad input and for missing rights; if this "
                                     "failure passes, name its type "
                                     "in the filter.";
    case FindingKind::ran_once:
      return finding.detail == "excluded_tool"
                 ? "If the tool may be repeated, name it in the filter, by the name that it has there."
                 : "That is as declared: repeat it only with a key that the dependency enforces.";
    case FindingKind::exhausted:
      return "The limit worked: look at the dependency at that time, and at how many calls recover, which is "
             "what "
             "retries are for.";
    case FindingKind::repeated_after_exhaustion:
      return "Leave the retries as they are: look at what the error result told the model, and limit its "
             "calls "
             "(CallLimit, LoopDetector).";
    case FindingKind::out_of_time:
      return "The clock ends these calls before the count does: compare the time of one attempt, and the "
             "waits, with "
             "the limit.";
    case FindingKind::refused:
      if (finding.detail == to_string(StopReason::unknown_tool))
        return "Compare the names that the model is given with those of the catalog, or give the tool an "
               "alias.";
      return "Look at what the guard protects: an open circuit or a spent budget has a cause.";
    case FindingKind::cancelled: return "Look at who asked them to stop.";
    case FindingKind::error_result:
      return "Do not count it as a success; if such a result should be retried, name it with RetryIfResult.";
    case FindingKind::mostly_waiting:
      return "Compare the waits with how soon the dependency recovers, and the number of retries with how "
             "many calls "
             "they save.";
    case FindingKind::unfinished:
      return "The log ends there, or the process did; read the logs to their end before judging these calls.";
    case FindingKind::recovered: return "Nothing: this is what retries are for.";
  }
  return "";
}

}  // namespace encore ENCORE_BUILD
