// Failures that no policy retries, whatever it was told.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/error_code.hpp>
#include <encore/engine/asked_kinds.hpp>
#include <encore/stop_reason.hpp>
#include <encore/thrown.hpp>

#include <concepts>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <typeinfo>

namespace encore ENCORE_BUILD {

/// A base for exceptions that no policy retries: permanent errors, interrupts, control flow. (B4)
///   struct QuotaSpent : encore::Unretryable { using Unretryable::Unretryable; };
class Unretryable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throw it from a callable to say that it was cancelled: no policy retries it. A `std::system_error` whose code is, or means,
/// `std::errc::operation_canceled` says the same, thrown or returned, with these exceptions, unless the call was asked to stop:
/// the attempt's time has run out, so that it was cancelled by whoever enforces that; the filter names this error, as
/// `RetryOnErrorCode{std::errc::operation_canceled}` does; or a failure that the filter matches wraps it. Then it is a failure
/// like any other. For exceptions of other kinds there is `NeverRetryIf`. (B4)
class Cancelled : public Unretryable {
 public:
  Cancelled() : Unretryable{"cancelled"} {}
};

namespace detail {

/// Is it a `std::errc::operation_canceled`, by whatever library's code?
inline bool carries_cancelled_code(const Thrown& failure) noexcept {
  auto cancelled = false;
  failure.with<std::system_error>(
      [&](const std::system_error& error) { cancelled = says_cancelled(error.code()); });
  return cancelled;
}
/// The failures that no filter can make retryable: an `Unretryable`. (B4)
inline bool is_unretryable(const Thrown& failure) noexcept { return failure.is<Unretryable>(); }
/// Is an `operation_canceled` a cancellation, for all that the attempt knows? Not if its time has run out: whoever enforces a
/// limit does it by cancelling the operation. But whenever the call was asked to stop. (B4; Polly #1584)
inline bool was_cancelled(const FailedAttempt& attempt) {
  return attempt.stop_requested() || !attempt.timed_out();
}

// A class cannot derive from two unrelated exception types and still be caught as one `std::exception`.
template <class E, class Never>
inline constexpr bool unrelated =
    std::derived_from<E, std::exception> && !std::derived_from<E, Never> && !std::derived_from<Never, E>;

/// True if what was caught as a `std::exception` and matched `E` cannot be one of those: then they need not be looked for.
template <class E>
inline constexpr bool never_cannot_match = unrelated<E, Unretryable> && unrelated<E, std::system_error>;

/// Of an exception that is more than what it was caught as: is it also one of those that are never retried?
template <class Error>
ENCORE_COLD bool is_also_never_retried([[maybe_unused]] const Error* error) noexcept {
#if defined(__cpp_rtti)
  return dynamic_cast<const Unretryable*>(error) != nullptr ||
         dynamic_cast<const std::system_error*>(error) != nullptr;
#else
  return false;
#endif
}

/// What was caught as `Error`, as `std::exception`: null where a handler for that would not catch it, or might not, because
/// the exception is more than an `Error` and among those that are never retried.
template <class Error>
ENCORE_FORCE_INLINE const std::exception* caught_as_exception(const Error* error) noexcept {
  if constexpr (!std::derived_from<Error, std::exception>) {
    return nullptr;
  } else {
    if constexpr (never_cannot_match<Error> && !std::is_final_v<Error>) {
      if (!Thrown{error}.is_just<Error>() && is_also_never_retried(error)) return nullptr;
    }
    return error;
  }
}

}  // namespace detail

}  // namespace encore ENCORE_BUILD
