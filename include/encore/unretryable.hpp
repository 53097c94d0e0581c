// Failures that no policy retries, whatever its options.
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

/// A base class for exceptions that no policy retries: permanent errors, interrupts, control flow. (B4)
///   struct QuotaSpent : encore::Unretryable { using Unretryable::Unretryable; };
class Unretryable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thrown by a callable that was cancelled: no policy retries it. A `std::errc::operation_canceled`, thrown as a
/// `std::system_error` or returned, means the same if the call was asked to stop. Otherwise it is an ordinary failure if the
/// attempt's time has run out (limits are enforced by cancelling the operation), if the filter names it, as
/// `RetryOnErrorCode{std::errc::operation_canceled}` does, or if it is nested in a failure that the filter matches; in all other
/// cases it is a cancellation. For other exception types use `NeverRetryIf`. (B4)
class Cancelled : public Unretryable {
 public:
  Cancelled() : Unretryable{"cancelled"} {}
};

namespace detail {

/// Whether it is a `std::errc::operation_canceled`, or another library's equivalent code.
inline bool carries_cancelled_code(const Thrown& failure) noexcept {
  auto cancelled = false;
  failure.with<std::system_error>(
      [&](const std::system_error& error) { cancelled = says_cancelled(error.code()); });
  return cancelled;
}
/// Whether it is an `Unretryable`, which no filter can make retryable. (B4)
inline bool is_unretryable(const Thrown& failure) noexcept { return failure.is<Unretryable>(); }
/// Whether an `operation_canceled` is a cancellation, as far as the attempt knows: always if the call was asked to stop, else not
/// if the attempt's time has run out, because limits are enforced by cancelling the operation. (B4; Polly #1584)
inline bool was_cancelled(const FailedAttempt& attempt) {
  return attempt.stop_requested() || !attempt.timed_out();
}

// A class cannot derive from two unrelated exception types and still be caught as one `std::exception`.
template <class E, class Never>
inline constexpr bool unrelated =
    std::derived_from<E, std::exception> && !std::derived_from<E, Never> && !std::derived_from<Never, E>;

/// Whether something caught as a `std::exception` that matches `E` can be neither of these, so that no check is needed.
template <class E>
inline constexpr bool never_cannot_match = unrelated<E, Unretryable> && unrelated<E, std::system_error>;

/// Whether an exception whose dynamic type is more derived than the one caught may also never be retried.
template <class Error>
ENCORE_COLD bool is_also_never_retried([[maybe_unused]] const Error* error) noexcept {
#if defined(__cpp_rtti)
  return dynamic_cast<const Unretryable*>(error) != nullptr ||
         dynamic_cast<const std::system_error*>(error) != nullptr;
#else
  return false;
#endif
}

/// The exception caught as `Error`, as a `std::exception`. Null if a handler for `std::exception` would not catch it, or might
/// not because its dynamic type is more derived and may never be retried.
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
