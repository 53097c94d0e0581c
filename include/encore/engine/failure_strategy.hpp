// Who answers for a call that failed, and how: the promise of failure strategies, and the one that every policy begins with.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/ingredient.hpp>

#include <concepts>
#include <cstdint>

namespace encore ENCORE_BUILD {

/// What the caller gets at the end.
enum class TerminalMode : std::uint8_t {
  none,          ///< the call goes on, or was abandoned, and nobody gets anything
  result,        ///< the callable's own result
  exception,     ///< the last exception, or a refusal
  error_result,  ///< an outcome that holds the failure
  formatted,     ///< what a formatter made of the failure
};
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
