// Results that are not there yet: a future, a coroutine. They fail later, when nobody looks, unless they are the result meant.
#pragma once
#include <encore/detail/attributes.hpp>

#include <concepts>
#include <type_traits>

namespace encore ENCORE_BUILD::detail {

template <class R>
concept HasAwaiterMembers = requires(R& result) {
  { result.await_ready() } -> std::convertible_to<bool>;
  result.await_resume();
};
template <class R>
concept HasCoAwait = requires(R&& result) { static_cast<R&&>(result).operator co_await(); } ||
                     requires(R&& result) { operator co_await(static_cast<R&&>(result)); };
template <class R>
concept HasWaitAndGet = requires(R& result) {
  requires std::is_void_v<decltype(result.wait())> || std::same_as<decltype(result.wait()), R&>;
  result.get();
};
template <class R>
concept SaysIfItHasAValue = requires(const R& result) { result.has_value(); };

/// Can it be awaited in any coroutine?
template <class R>
concept CanBeAwaited = HasAwaiterMembers<std::remove_cvref_t<R>> || HasCoAwait<R>;
/// Is it there to be awaited? Not what says whether it `has_value()` is there already, whatever else it can.
template <class R>
concept Awaitable = std::is_class_v<std::remove_cvref_t<R>> && !SaysIfItHasAValue<std::remove_cvref_t<R>> &&
                    CanBeAwaited<std::remove_cvref_t<R>>;

/// Does what is returned fail, if it fails, only later: an awaitable, what a coroutine returns, or a future? (A8)
template <class R>
concept Deferred =
    Awaitable<R> ||
    (std::is_class_v<std::remove_cvref_t<R>> && !SaysIfItHasAValue<std::remove_cvref_t<R>> &&
     (HasWaitAndGet<std::remove_cvref_t<R>> || requires { typename std::remove_cvref_t<R>::promise_type; }));

template <class F>
inline constexpr bool result_is_the_value =
    requires { requires std::remove_cvref_t<F>::result_is_the_value; };

/// Refuses a callable whose success would be none. Always true: the compile error is inside.
template <class F, class R>
consteval bool knows_its_result() {
  static_assert(
      !Deferred<R> || result_is_the_value<F>,
      "this callable returns a coroutine or future, which fails later, if it fails, when nobody looks: "
      "retry it with co_run, or wait for it in the callable; if it is itself the result that you "
      "mean, say as_value(callable), of <encore/as_value.hpp>");
  return true;
}

}  // namespace ENCORE_BUILD::detail
