// What the caller gets when the policy gives up: the exception, or whatever a function makes of it. For an outcome there is
// <encore/outcome.hpp>.
#pragma once
#include <encore/as_value.hpp>
#include <encore/event.hpp>
#include <encore/failure.hpp>
#include <encore/ingredient.hpp>
#include <encore/operation.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

/// Answers for a call that failed. `result<R>` is what `run` returns for a callable that returns `R`; `failed<R>` makes it of
/// the failure and of the value that the last attempt returned, if it returned one. `mode` names it in events. (A7)
template <class S>
concept FailureStrategy = Plays<S, role::OnFailure> && requires {
  { S::mode } -> std::convertible_to<TerminalMode>;
  typename S::template result<int>;
};

/// The last exception, the same object; if the last failure is a value, that value. If there was no attempt, `Refused`. (G1, G4)
struct Rethrow {
  using role = encore::role::OnFailure;
  static constexpr auto mode = TerminalMode::exception;
  template <class R>
  using result = R;
};

/// What a function makes of the failure. It gets the whole `const Failure&`, and its result must convert to the callable's.
/// If it throws, its own exception leaves. (G3)
template <class F>
struct FormatFailure {
  using role = encore::role::OnFailure;
  static constexpr auto mode = TerminalMode::formatted;
  static constexpr bool reports_time = true;
  template <class R>
  using result = R;
  F format;
  constexpr explicit FormatFailure(F f) : format(std::move(f)) {}

  template <class R>
  R failed(Failure&& failure) const {
    static_assert(std::invocable<const F&, const Failure&>, "a formatter is called with `const Failure&`");
    static_assert(detail::can_be_returned_as<std::invoke_result_t<const F&, const Failure&>, R>,
                  "FormatFailure must return what the call returns, or something that converts to it; use "
                  "ReturnOutcome to get the failure itself");
    static_assert(!std::is_void_v<R> || !detail::Deferred<std::invoke_result_t<const F&, const Failure&>>,
                  "this formatter returns a coroutine or future, and the call nothing, so nobody awaits it: "
                  "wait for it in the formatter");
    if constexpr (std::is_void_v<R>)
      static_cast<void>(format(std::as_const(failure)));
    else
      return format(std::as_const(failure));
  }
  template <class R, class Last>
  R failed(Failure&& failure, Last&&) const {
    return failed<R>(std::move(failure));
  }
};

static_assert(FailureStrategy<Rethrow>);

/// Hands the failures that the predicate did not match to the failure strategy as well, instead of letting them out. What
/// is never retried still leaves. (B3)
struct HandleUnmatched {
  using role = encore::role::Unmatched;
};
struct UnmatchedLeave {
  using role = encore::role::Unmatched;
};

}  // namespace encore ENCORE_BUILD
