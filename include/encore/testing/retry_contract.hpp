// What a team expects of the retries of one tool, and checks that a policy keeps it.
#pragma once
#include <encore/attempt.hpp>
#include <encore/call.hpp>
#include <encore/error_type.hpp>
#include <encore/event.hpp>
#include <encore/jitter.hpp>
#include <encore/outcome.hpp>
#include <encore/setting.hpp>
#include <encore/stop_reason.hpp>
#include <encore/testing/contract_check.hpp>
#include <encore/testing/durations.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/recording.hpp>
#include <encore/testing/scripted.hpp>
#include <encore/testing/step.hpp>

#include <algorithm>
#include <concepts>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD::testing {

/// The agreed retries of one tool; `success` is any value that the tool may return. The checks below test a `RetryPolicy` or a
/// `ToolRetry` against it: on a fake clock, without jitter, with everything else as in production, including guards. Each check
/// ends, whatever the policy does: the tool succeeds a few attempts after the agreed ones. (N1)
///   const RetryContract<int> contract{.name = "inventory_lookup", .attempts = 3, .waits = Durations{250ms, 500ms}, .success = 17};
///   CHECK(exhausts(lookup_policy, contract, throws<TimeoutError>("slow")));
///   CHECK(recovers_on_the_last_attempt(lookup_policy, contract, throws<TimeoutError>("slow")));
///   CHECK(recovers_too_late(lookup_policy, contract, throws<TimeoutError>("slow")));
///   CHECK(is_not_retried(lookup_policy, contract, throws<InvalidSku>("")));
template <class R>
struct RetryContract {
  std::string name{};                           ///< of the tool
  std::string call_id = "call-17";              ///< any
  Count<"attempts", 1> attempts = 3;            ///< the maximum, including the first
  std::optional<Durations> waits{};             ///< before each retry; if absent, any longer than zero
  bool any_wait = false;                        ///< if `waits` is absent, a wait of zero is fine too
  TerminalMode mode = TerminalMode::exception;  ///< what the caller gets when the attempts are used up
  std::string arguments = "{}";                 ///< of a tool call
  R success;
};

namespace detail {

/// What happened in one call of a script under a policy or a tool.
template <class R>
struct Trial {
  Recording events{};
  std::vector<std::string> ids{};
  std::vector<int> ordinals{};
  std::optional<R> value{};
  std::string thrown{};  // the type of what was thrown; empty if nothing was

  int attempts() const { return static_cast<int>(ordinals.size()); }
  StopReason reason() const { return events.empty() ? StopReason::none : events.back().reason; }
  TerminalMode mode() const { return events.empty() ? TerminalMode::none : events.back().mode; }
  /// True if a retry did not wait, although the server did not ask for that. (N4)
  bool has_empty_wait() const {
    return std::any_of(events.begin(), events.end(), [](const auto& event) {
      return event.will_retry && !event.hint && event.wait == encore::Duration::zero();
    });
  }
  Durations waits() const {
    Durations all;
    for (const auto& event : events) {
      if (event.will_retry) all.push_back(event.wait);
    }
    return all;
  }
};

template <class R, class Given>
void store_value(Trial<R>& trial, Given&& given) {
  if constexpr (requires { given.has_value() && given.reason() == StopReason::none; }) {
    if (given.has_value()) trial.value.emplace(*std::forward<Given>(given));
  } else {
    trial.value.emplace(std::forward<Given>(given));
  }
}

// A tool call for a `ToolRetry`: its members are what the tool layer reads.
struct ContractCall {
  std::string id, name, arguments;
};

template <class R, class Subject>
Trial<R> run_trial(const Subject& subject, const RetryContract<R>& contract, const std::string& name,
                   Scripted<R>& script) {
  FakeClock clock;
  Recorder trace;
  Trial<R> trial;
  const auto under_test = subject.with(clock, trace, NoJitter{});
  const ContractCall call{contract.call_id, name, contract.arguments};
  try {
    if constexpr (requires { under_test.safety_of({}); })
      store_value(trial, under_test.handle(call, [&](const ContractCall&, const Attempt& attempt) {
        return script(attempt);
      }));
    else
      store_value(trial, under_test.run({.id = call.id, .name = call.name}, script));
  } catch (...) {
    trial.thrown = error_type(std::current_exception());
  }
  trial.events = trace.of(contract.call_id);
  trial.ids = script.ids();
  trial.ordinals = script.ordinals();
  return trial;
}

inline std::string in_words(int attempts) {
  return std::to_string(attempts) + (attempts == 1 ? " attempt" : " attempts");
}

/// How many attempts after the agreed ones the tool keeps failing, before it succeeds.
inline constexpr int extra_attempts = 3;

/// A tool that fails this many times, and then succeeds as often as any policy with a limit calls it. (N1)
template <class R, class Failure>
Scripted<R> recovering_after(int failures, const Failure& failure, const R& success) {
  return Scripted<R>{times(failures, failure), times(extra_attempts + 1, returns(success))};
}

template <class R>
ContractCheck make_check(const RetryContract<R>& contract, const std::string& name, const Trial<R>& trial,
                         std::string_view shape, std::string_view error, int expected) {
  auto about = name;
  about.append(", ").append(contract.call_id).append(": ").append(shape).append(" with ").append(error);
  about.append("\n  expected ")
      .append(in_words(expected))
      .append(", observed ")
      .append(in_words(trial.attempts()));
  about.append("; ended in ").append(to_string(trial.mode()));
  about.append(" because ").append(to_string(trial.reason()));
  if (!trial.thrown.empty()) about.append(", threw ").append(trial.thrown);
  ContractCheck check{std::move(about)};
  check.expect(trial.attempts() == expected,
               in_words(trial.attempts())
                   .append(" instead of ")
                   .append(std::to_string(expected))
                   .append(trial.attempts() > expected + extra_attempts
                               ? ": it continued until the tool succeeded, so nothing limits it"
                               : ""));
  for (int i = 0; i < trial.attempts(); ++i) {
    const auto& id = trial.ids[static_cast<std::size_t>(i)];
    const auto ordinal = trial.ordinals[static_cast<std::size_t>(i)];
    check.expect(id == contract.call_id, "attempt " + std::to_string(i + 1) + " has the call id " + id);
    check.expect(ordinal == i + 1,
                 "attempt " + std::to_string(i + 1) + " has the ordinal " + std::to_string(ordinal));
  }
  check.expect(!trial.events.empty(), "the call has no events");
  return check;
}

template <class R>
void expect_waits(ContractCheck& check, const RetryContract<R>& contract, const Trial<R>& trial) {
  if (contract.waits)
    check.expect(trial.waits() == *contract.waits,
                 "waits " + to_string(trial.waits()) + " instead of " + to_string(*contract.waits));
  else if (!contract.any_wait)
    check.expect(!trial.has_empty_wait(),
                 "waits " + to_string(trial.waits()) +
                     ": a retry without a wait adds load to a service that has just failed (if any wait is "
                     "fine, say so in the contract: .any_wait = true)");
}
template <class R>
void expect_thrown(ContractCheck& check, const Trial<R>& trial, const std::string& error) {
  check.expect(trial.thrown == error, trial.thrown.empty()
                                          ? "nothing was thrown"
                                          : "threw " + trial.thrown + " instead of " + error);
}
template <class R>
void expect_exhaustion(ContractCheck& check, const RetryContract<R>& contract, const Trial<R>& trial,
                       const std::string& error) {
  expect_waits(check, contract, trial);
  check.expect(trial.mode() == contract.mode, "ended in " + std::string{to_string(trial.mode())} +
                                                  " instead of " + std::string{to_string(contract.mode)});
  if (contract.mode == TerminalMode::exception)
    expect_thrown(check, trial, error);
  else
    check.expect(trial.thrown.empty(), "threw " + trial.thrown);
  if constexpr (std::equality_comparable<R>)
    check.expect(!trial.value || !(*trial.value == contract.success), "the success was reached");
}

template <class Subject, class R, class E, class... A>
ContractCheck runs_once(const Subject& subject, const RetryContract<R>& contract, const std::string& name,
                        std::string_view shape, const Step<Throws<E, A...>>& failure) {
  const auto error = encore::detail::type_name(typeid(E));
  auto script = recovering_after(1 + extra_attempts, failure, contract.success);
  const auto trial = run_trial(subject, contract, name, script);
  auto check = make_check(contract, name, trial, shape, error, 1);
  expect_thrown(check, trial, error);
  return check;
}

}  // namespace detail

/// A tool that always fails like this: it is tried as often as agreed, with the agreed waits, as one call, and then the caller
/// gets what was agreed; if `answer` is given, exactly this value.
template <class Subject, class R, class E, class... A>
ContractCheck exhausts(const Subject& subject, const RetryContract<R>& contract,
                       const Step<detail::Throws<E, A...>>& failure, const std::optional<R>& answer = {}) {
  const auto error = encore::detail::type_name(typeid(E));
  auto script =
      detail::recovering_after(contract.attempts + detail::extra_attempts, failure, contract.success);
  const auto trial = detail::run_trial(subject, contract, contract.name, script);
  auto check = detail::make_check(contract, contract.name, trial, "always fails", error, contract.attempts);
  detail::expect_exhaustion(check, contract, trial, error);
  if (answer) check.expect(trial.value == answer, "the answer is not the agreed one");
  return check;
}

/// A tool that recovers on the last allowed attempt: its success is the result.
template <class Subject, class R, class E, class... A>
ContractCheck recovers_on_the_last_attempt(const Subject& subject, const RetryContract<R>& contract,
                                           const Step<detail::Throws<E, A...>>& failure) {
  auto script = detail::recovering_after(contract.attempts - 1, failure, contract.success);
  const auto trial = detail::run_trial(subject, contract, contract.name, script);
  auto check = detail::make_check(contract, contract.name, trial, "recovers on the last allowed attempt",
                                  encore::detail::type_name(typeid(E)), contract.attempts);
  detail::expect_waits(check, contract, trial);
  check.expect(trial.mode() == TerminalMode::result && trial.value && *trial.value == contract.success,
               "the success is not the result");
  return check;
}

/// A tool that would recover one attempt too late: its success is never reached.
template <class Subject, class R, class E, class... A>
ContractCheck recovers_too_late(const Subject& subject, const RetryContract<R>& contract,
                                const Step<detail::Throws<E, A...>>& failure) {
  const auto error = encore::detail::type_name(typeid(E));
  auto script = detail::recovering_after(contract.attempts, failure, contract.success);
  const auto trial = detail::run_trial(subject, contract, contract.name, script);
  auto check = detail::make_check(contract, contract.name, trial, "recovers one attempt too late", error,
                                  contract.attempts);
  detail::expect_exhaustion(check, contract, trial, error);
  return check;
}

/// A tool that fails in a way that a retry cannot help: it is tried once, and the exception propagates unchanged.
template <class Subject, class R, class E, class... A>
ContractCheck is_not_retried(const Subject& subject, const RetryContract<R>& contract,
                             const Step<detail::Throws<E, A...>>& failure) {
  return detail::runs_once(subject, contract, contract.name, "fails", failure);
}

/// Another tool, which was not declared: it runs once, however it fails, and the exception propagates unchanged.
template <class Subject, class R, class E, class... A>
ContractCheck is_excluded(const Subject& tools, const RetryContract<R>& contract,
                          const std::string& other_tool, const Step<detail::Throws<E, A...>>& failure) {
  return detail::runs_once(tools, contract, other_tool, "is excluded, and fails", failure);
}

}  // namespace ENCORE_BUILD::testing
