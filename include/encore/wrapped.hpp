// A callable with a retry policy built in.
#pragma once
#include <encore/attempt.hpp>
#include <encore/call.hpp>
#include <encore/engine/operation.hpp>
#include <encore/engine/repeated_callable.hpp>

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

/// The result of `RetryPolicy::wrap`: a copy of the policy, the name and the callable, invoked like the callable; each invocation
/// is a separate call. Const if the callable is. A callable that takes its attempt gets one from this policy, so a wrapped
/// callable can also run inside another policy's attempt. As thread-safe as the callable.
template <class Policy, class F>
class Wrapped {
  // Also accepts a callable that runs only once, so that a readable error message rejects it.
  template <class Callable, class... A>
  static constexpr bool takes = !(std::same_as<std::remove_cvref_t<A>, Attempt> || ...) &&
                                (detail::can_be_repeated<Callable, std::remove_reference_t<A>...> ||
                                 detail::runs_only_once<Callable, std::remove_reference_t<A>...>);

 public:
  template <class G>
  constexpr Wrapped(const Policy& policy, std::string name, G&& callable)
      : policy_{policy},
        name_{std::move(name)},
        callable_(std::forward<G>(callable)) {}

  template <class... A>
    requires takes<F, A...>
  decltype(auto) operator()(A&&... args) {
    return policy_.conduct(Call{.name = name_}, callable_, args...);
  }
  template <class... A>
    requires takes<const F, A...>
  decltype(auto) operator()(A&&... args) const {
    return policy_.conduct(Call{.name = name_}, callable_, args...);
  }

 private:
  Policy policy_;
  std::string name_;
  F callable_;
};

}  // namespace encore ENCORE_BUILD
