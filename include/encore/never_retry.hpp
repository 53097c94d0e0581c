// The policy's own list of what is never retried, whatever the filter says.
#pragma once
#include <encore/failure.hpp>
#include <encore/ingredient.hpp>
#include <encore/retry_if.hpp>

#include <concepts>
#include <exception>
#include <utility>

namespace encore {

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
  static_assert(detail::can_be_asked<F>,
                "NeverRetryIf calls its function, as const, with one argument: `const YourError&`, or what "
                "the call returns");
  F test;
  constexpr explicit NeverRetryIf(F f) : test(std::move(f)) {}

  bool matches(const Thrown& failure) const
    requires(detail::HasOnlyArgument<F> || std::predicate<const F&, const std::exception&>)
  {
    return detail::holds_for(test, failure);
  }
  template <class Value>
    requires detail::TestsValue<F, Value>
  bool matches(const Returned<Value>& failure) const {
    return detail::holds_for(test, failure);
  }
};

}  // namespace encore
