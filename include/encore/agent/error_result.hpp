// Returned results that are errors.
#pragma once
#include <encore/agent/tool_error.hpp>
#include <encore/agent/tool_result.hpp>
#include <encore/attempt.hpp>
#include <encore/detail/asked.hpp>
#include <encore/engine/deferred_cancellation.hpp>
#include <encore/engine/policy_parts.hpp>
#include <encore/engine/verdict.hpp>
#include <encore/option.hpp>
#include <encore/thrown.hpp>

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

namespace encore::role {
struct ErrorResult {};  ///< of a tool layer: recognises error results
}  // namespace encore::role

namespace encore ENCORE_BUILD {

inline bool is_error_result(const ToolResult& result) noexcept { return result.is_error(); }
/// For `std::expected` and similar types.
template <class Expected>
  requires requires(const Expected& result) {
    { result.has_value() } -> std::convertible_to<bool>;
    result.error();
  }
bool is_error_result(const Expected& result) {
  return !result.has_value();
}

/// The customisation point of error results: a function `is_error_result(const T&)` beside the type returns whether the tool
/// failed. For a type without one nothing is guessed: not for a bool, an empty optional, or JSON with a field "error". For types
/// that you cannot extend use `ErrorResultIf`. (B8)
///   bool is_error_result(const CallToolResult& result) { return result.isError; }
template <class T>
concept SaysIfError = requires(const T& result) {
  { is_error_result(result) } -> std::convertible_to<bool>;
};

/// Recognises error results of any type: `ErrorResultIf{[](bool ok) { return !ok; }}`, `ErrorResultIf{[](const json& r) { return
/// r.value("status", "") == "error"; }}`. It replaces `is_error_result` for the results that it takes without a conversion, like
/// `RetryIfResult`: a test on bool is not asked about a number. If it throws, the result is not an error. For a tool layer, not
/// for a policy. (B9)
template <class F>
struct ErrorResultIf {
  using role = encore::role::ErrorResult;
  F test;
  constexpr explicit ErrorResultIf(F f) : test(std::move(f)) {}

  template <class T>
  static constexpr auto about = detail::subject_of<F, T, detail::Generic::about_values>();
  template <class T>
  static constexpr bool takes = about<T> == detail::Subject::value || about<T> == detail::Subject::error;
  template <class T>
    requires takes<T>
  bool says_error(const T& result) const {
    if constexpr (about<T> == detail::Subject::error)
      return !result.has_value() && test(result.error());
    else
      return test(result);
  }
};

namespace detail {
/// The default: only `is_error_result` is asked.
struct ErrorResultByType {
  using role = encore::role::ErrorResult;
  template <class T>
  static constexpr bool takes = false;
};
}  // namespace detail

/// Retries returned error results. Without it a returned error is reported to the observers, but not retried. (B8)
///   RetryPolicy policy{RetryOn<TimeoutError>{} || RetryIfErrorResult{}};
struct RetryIfErrorResult {
  using role = encore::role::Predicate;
  static constexpr bool looks_at_values = true;
  template <SaysIfError Value>
  bool matches(const Returned<Value>& returned) const {
    return is_error_result(returned.value);
  }
};

namespace detail {

/// True if there is a test for results of this type.
template <class T, class Test>
inline constexpr bool is_classified = Test::template takes<T> || SaysIfError<T>;

/// A compile error for a test that could take such a result only by a conversion.
template <class T, class Test>
consteval void refuse_misfit_error_test() {
  if constexpr (!std::is_void_v<T> && requires { &Test::test; })
    refuse_misfit<std::remove_cvref_t<decltype(std::declval<Test&>().test)>, T, Generic::about_values>();
}

/// True if the result is an error. A test that throws says no: the tool has run, and must not run again because its result could
/// not be examined. (B7)
template <class T, class Test>
  requires is_classified<T, Test>
bool says_error(const Test& errors, const T& result) {
  auto threw = StopReason::predicate_threw;
  return evaluate(
      [&]() -> bool {
        if constexpr (Test::template takes<T>)
          return errors.says_error(result);
        else
          return is_error_result(result);
      },
      threw);
}

/// True if a tool's error is the tool's answer: neither the policy's filter nor a never-list matches it. Called in its handler.
template <class Policy>
bool is_answer(const Policy& policy, const ToolError& error, const Attempt& attempt) {
  const FailedAttempt known{attempt.ordinal, &attempt.current(), &attempt.notes()};
  const Thrown thrown{&error, known};
  auto answers = false;
  deferring_cancellation([&] {
    answers = judge(policy_parts(policy), thrown) == StopReason::not_retryable &&
              never_verdict(policy_parts(policy), thrown) == StopReason::none;
  });
  return answers;
}

/// A tool's error as its answer.
inline ToolResult answer_of(const ToolError& error, const Attempt& attempt) {
  attempt.mark_error_result();
  return {ToolStatus::error, error.what(), std::string{attempt.call_name()}, std::string{attempt.call_id()}};
}

}  // namespace detail

}  // namespace encore ENCORE_BUILD
