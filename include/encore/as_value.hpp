// Marks a callable whose result is itself a future or a coroutine.
#pragma once
#include <encore/engine/deferred.hpp>
#include <encore/engine/operation.hpp>

#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

/// The result of `as_value`.
template <class F>
class AsValue {
 public:
  static constexpr bool result_is_the_value = true;

  constexpr explicit AsValue(F callable) : callable_(std::move(callable)) {}

  template <class... A>
    requires std::is_invocable_v<F&, A&...>
  constexpr decltype(auto) operator()(A&... args) {
    return detail::invoke(callable_, args...);
  }
  template <class... A>
    requires std::is_invocable_v<const F&, A&...>
  constexpr decltype(auto) operator()(A&... args) const {
    return detail::invoke(callable_, args...);
  }

 private:
  F callable_;
};

/// Declares that the future or coroutine returned by `callable` is itself the result: `run` neither waits for it nor looks
/// into it, so only a failure to create it is retried. Stores a copy of the callable; pass `std::ref(callable)` to share it. (A8)
///   std::future<Reply> reply = policy.run(as_value([&] { return connection.send(request); }));
template <class F>
constexpr auto as_value(F&& callable) {
  return AsValue<std::decay_t<F>>{std::forward<F>(callable)};
}

}  // namespace encore ENCORE_BUILD
