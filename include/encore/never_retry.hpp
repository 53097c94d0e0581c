// The policy's own never-lists: failures that are not retried, whatever the filter says.
#pragma once
#include <encore/detail/asked.hpp>
#include <encore/option.hpp>
#include <encore/thrown.hpp>

#include <utility>

namespace encore ENCORE_BUILD {

/// Never retries these exception types; takes precedence over any filter.
template <class... E>
struct NeverRetry {
  using role = encore::role::Never;
  static_assert((detail::NamedOnce<E, E...> && ...),
                "NeverRetry names a type that another one in its list covers already, as a catch clause of "
                "its base does: leave "
                "one of them out");
  template <class Thrown>
  static constexpr bool covers = (detail::catches<E, Thrown> || ...);

  bool matches([[maybe_unused]] const Thrown& failure) const noexcept { return (failure.is<E>() || ...); }
};

/// Never retries the failures for which the function returns true; its parameter's type decides what it is asked about, as in
/// `RetryIf`. Example: a 429 that means "no quota left" is not retried, while one that means "slow down" is. (B8, B9)
template <class F>
struct NeverRetryIf {
  using role = encore::role::Never;
  static_assert(detail::CanBeAskedOfExceptions<F>,
                "NeverRetryIf calls its function, as const, with one argument: `const YourError&`, or what "
                "the call returns");
  static_assert(detail::SaysYesOrNoOfExceptions<F>,
                "NeverRetryIf's function says yes or no: it must return a bool");
  F test;
  constexpr explicit NeverRetryIf(F f) : test(std::move(f)) {}

  template <class Failed>
    requires detail::CanAsk<F, Failed>
  bool matches(const Failed& failure) const {
    return detail::opinion_by(test, failure) == detail::Opinion::yes;
  }

  template <class V>
  static consteval void refuse_misfit() {
    detail::refuse_misfit<F, V>();
  }
};

}  // namespace encore ENCORE_BUILD
