// What is never retried, whatever the filter says.
#pragma once
#include <encore/failure.hpp>
#include <encore/ingredient.hpp>
#include <encore/retry_if.hpp>

#include <exception>
#include <system_error>
#include <utility>

namespace encore {

/// A base for exceptions that no policy retries: permanent errors, interrupts, control flow. (B4)
class Unretryable {
 public:
  virtual ~Unretryable() = default;

 protected:
  Unretryable() = default;
  Unretryable(const Unretryable&) = default;
  Unretryable& operator=(const Unretryable&) = default;
};

/// Throw it from a callable to say that it was cancelled: no policy retries it. (B4)
class Cancelled : public std::exception, public Unretryable {
 public:
  const char* what() const noexcept override { return "cancelled"; }
};

/// Never retries these exception types; stronger than any filter.
template <class... E>
struct NeverRetry {
  using role = encore::role::Never;
  static constexpr bool types_only = true;
  bool matches([[maybe_unused]] const Thrown& failure) const noexcept { return (failure.is<E>() || ...); }
};

/// Never retries the exceptions, or the returned values, for which a function says yes; its argument as in `RetryIf` and
/// `RetryIfResult`. A 429 that means "no quota left" is refused by it where a 429 that means "slower" is retried. (B8)
template <class F>
struct NeverRetryIf {
  using role = encore::role::Never;
  F test;
  constexpr explicit NeverRetryIf(F f) : test(std::move(f)) {}

  bool matches(const Thrown& failure) const
    requires(std::predicate<const F&, const Thrown&> || detail::HasOnlyArgument<F> ||
             std::predicate<const F&, const std::exception&>)
  {
    return detail::holds_for(test, failure);
  }
  template <class Value>
    requires detail::TestsValue<F, Value>
  bool matches(const Returned<Value>& failure) const {
    return detail::holds_for(test, failure);
  }
};

namespace detail {

/// The failures that no filter can make retryable: `Unretryable` and `std::errc::operation_canceled`. (B4)
inline bool is_never_retried(const Thrown& failure) noexcept {
  if (failure.is<Unretryable>()) return true;
  auto cancelled = false;
  failure.with<std::system_error>(
      [&](const std::system_error& error) { cancelled = error.code() == std::errc::operation_canceled; });
  return cancelled;
}

}  // namespace detail

}  // namespace encore
