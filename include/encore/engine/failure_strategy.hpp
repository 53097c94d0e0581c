// What a caller gets for a failed call: the concept of failure strategies, and the default one.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>
#include <encore/option.hpp>
#include <encore/stop_reason.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace encore ENCORE_BUILD {

/// What the caller gets at the end.
enum class TerminalMode : std::uint8_t {
  none,          ///< the call goes on, or was abandoned: there is no result
  result,        ///< the callable's own result
  exception,     ///< the last exception, or a refusal
  error_result,  ///< an outcome that holds the failure
  formatted,     ///< what a formatter made of the failure
};
/// Handles a failed call. `result<R>` is what `run` returns for a callable that returns `R`; `failed<R>` makes it of
/// the failure and of the value that the last attempt returned, if it returned one. `mode` names it in events. (A7)
template <class S>
concept FailureStrategy = shared::HasRole<S, role::OnFailure> && requires {
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

struct Failure;
template <class T>
class Outcome;

namespace detail {
// Is the header of outcomes included? It is asked about `void`, which costs nothing.
template <class R>
concept OutcomeIsKnown = requires { sizeof(Outcome<std::conditional_t<std::is_void_v<R>, R, void>>); };
/// Stands for an outcome where a policy was refused for want of that header, so that no more errors follow.
struct NoOutcome {
  template <class... A>
  NoOutcome(A&&...);
};
template <class... A>
NoOutcome figures_of(const A&...);
}  // namespace detail

/// An `Outcome`: the value, or why there is none. Never throws for a failure that the policy handles. Needs
/// `<encore/outcome.hpp>`. (G2)
struct ReturnOutcome {
  using role = encore::role::OnFailure;
  static constexpr auto mode = TerminalMode::error_result;
  static constexpr bool reports_time = true;
  template <class R>
  using result = std::conditional_t<detail::OutcomeIsKnown<R>, Outcome<R>, detail::NoOutcome>;

  template <class R, class... Last>
  result<R> failed(Failure&& failure, Last&&... last) const {
    return result<R>{static_cast<Failure&&>(failure), static_cast<Last&&>(last)...};
  }
};

/// Hands the failures that the predicate did not match to the failure strategy as well, instead of letting them propagate. What
/// is never retried still propagates. (B3)
struct HandleUnmatched {
  using role = encore::role::Unmatched;
};
struct UnmatchedPropagate {
  using role = encore::role::Unmatched;
};

}  // namespace encore ENCORE_BUILD
