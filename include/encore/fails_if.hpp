// Which returned values are failures, whether they are retried or not.
#pragma once
#include <encore/detail/asked.hpp>
#include <encore/option.hpp>

#include <utility>

namespace encore ENCORE_BUILD {

/// A returned value for which the function returns true is a failure, whether it is retried or not, and is reported as one to
/// observers, guards and counters. If the filter does not retry it, the call ends as `not_retryable`, and the caller gets the
/// value itself. The function takes the value, or `const Returned<V>&` to see the attempt too, or the error of a
/// `std::expected`, as in `RetryIfResult`; a generic function is asked about any value. If it throws, the call ends as if the
/// filter had thrown. Called after the filter, and only if there is an observer, guard or failure strategy. (B7, B8, B9)
///   FailsIf{[](const Response& response) { return response.status >= 400; }}
/// It replaces the default rule: a `std::expected` or an `Outcome` without a value is a failure.
template <class F>
struct FailsIf {
  using role = encore::role::FailureTest;
  static_assert(detail::CanBeAsked<F>,
                "FailsIf calls its function, as const, with one argument: what the call returns");
  static_assert(detail::SaysYesOrNo<F>, "FailsIf's function says yes or no: it must return a bool");
  F test;
  constexpr explicit FailsIf(F f) : test(std::move(f)) {}

  template <class Value>
    requires detail::AskedAbout<F, Value, detail::Generic::about_values>
  bool matches(const Returned<Value>& returned) const {
    return detail::opinion_by<detail::Generic::about_values>(test, returned) == detail::Opinion::yes;
  }

  template <class V>
  static consteval void refuse_misfit() {
    detail::refuse_misfit<F, V, detail::Generic::about_values>();
  }
};

}  // namespace encore ENCORE_BUILD
