// A callable whose result is a future or a coroutine, and meant to be one.
#pragma once
#include <encore/engine/deferred.hpp>
#include <encore/engine/operation.hpp>

#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

/// What `as_value` makes.
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

/// Says that the future or coroutine which `callable` returns is itself the result: `run` then neither waits for it nor looks
/// into it, and a failure is one of making it. Holds the callable by value; a named one is shared by `std::ref`. (A8)
///   std::future<Reply> reply = policy.run(as_value([&] { return connection.send(request); }));
template <class F>
constexpr auto as_value(F&& callable) {
  return AsValue<std::decay_t<F>>{std::forward<F>(callable)};
}

}  // namespace encore ENCORE_BUILD
