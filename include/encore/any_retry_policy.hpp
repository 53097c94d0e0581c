// A type-erased policy: for a map of policies, or for the interface between two libraries.
#pragma once
#include <encore/as_value.hpp>
#include <encore/call.hpp>
#include <encore/engine/erased_operation.hpp>
#include <encore/engine/repeated_callable.hpp>
#include <encore/outcome.hpp>

#include <concepts>
#include <cstdlib>
#include <memory>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

namespace detail {

// What a callable must return under a policy that yields `Result`: the value type of an outcome, else the result itself.
template <class Result>
struct raw_of_result : std::type_identity<Result> {};
template <class T>
struct raw_of_result<Outcome<T>> : std::type_identity<T> {};

}  // namespace detail

/// Holds any policy whose `run` returns `Result` for callables that return `Result`; or, if that is an `Outcome<T>`, for
/// callables that return `T`. Copies share the policy. Construction allocates once; a run costs two indirect calls. Never
/// empty, except when moved from. Thread-safe.
///   std::map<std::string, AnyRetryPolicy<Response>> policies;
template <class Result>
class AnyRetryPolicy {
  using Raw = typename detail::raw_of_result<Result>::type;
  using Operation = detail::Operation<Raw>;

 public:
  template <class Policy>
    requires(!std::same_as<Policy, AnyRetryPolicy> &&
             std::same_as<decltype(std::declval<const Policy&>().run(std::declval<const Call&>(),
                                                                     std::declval<Operation&>())),
                          Result>)
  AnyRetryPolicy(Policy policy)
      : policy_{std::make_shared<const Policy>(std::move(policy))},
        run_{[](const void* erased, const Call& call, Operation operation) -> Result {
          return static_cast<const Policy*>(erased)->run(call, operation);
        }} {}

  /// As `RetryPolicy::run`. What the callable returns must convert to the stored policy's result.
  template <class F, class... A>
  Result run(const Call& call, F&& callable, A&&... args) const {
    using Callable = std::remove_reference_t<F>;
    constexpr auto fits = detail::can_be_returned_as<detail::raw_t<F, A...>, Raw>;
    static_assert(fits, "this callable's result does not convert to what the AnyRetryPolicy returns");
    if constexpr (!detail::can_be_repeated<Callable, std::remove_reference_t<A>...>) {
      static_assert(sizeof(detail::RepeatedCallable<Callable, std::remove_reference_t<A>...>) != 0);
      std::abort();
    } else if constexpr (fits) {
      static_assert(detail::knows_its_result<F, detail::raw_t<F, A...>>());
      auto attempt = [&](const Attempt& now) -> Raw {
        if constexpr (std::is_void_v<Raw>)
          static_cast<void>(detail::invoke_attempt(callable, now, args...));
        else
          return detail::invoke_attempt(callable, now, args...);
      };
      return run_(policy_.get(), call, detail::operation_of<Raw>(attempt));
    }
  }
  template <class F, class... A>
    requires(!std::same_as<std::remove_cvref_t<F>, Call>)
  Result run(F&& callable, A&&... args) const {
    return run(Call{}, callable, args...);
  }

 private:
  std::shared_ptr<const void> policy_;
  Result (*run_)(const void*, const Call&, Operation);
};

}  // namespace encore ENCORE_BUILD
