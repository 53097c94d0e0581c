// Observers: any callable that takes an event.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/engine/call_events.hpp>  // notifies observers
#include <encore/engine/deferred.hpp>
#include <encore/event.hpp>
#include <encore/option.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

/// Takes each event of a call, in order, on the thread that runs the call. If it throws, that is only counted. (F3, F4)
template <class O>
concept Observer = std::invocable<O&, const Event&>;

/// Makes an observer from a callable, which it stores as a policy does: a copy, or a reference to what cannot be copied or was
/// passed as `std::ref`. (F4)
template <class F>
class Observe {
 public:
  using role = encore::role::Observer;
  template <class G>
    requires(!std::same_as<std::remove_cvref_t<G>, Observe>)
  constexpr explicit Observe(G&& tell) : tell_{std::in_place, std::forward<G>(tell)} {
    static_assert(detail::says_how_it_is_held<G>());
  }

  ENCORE_FORCE_INLINE void operator()(const Event& event) const
      noexcept(noexcept(std::declval<Callable&>()(event))) {
    tell_.get()(event);
  }

 private:
  using Callable = std::remove_reference_t<decltype(std::declval<const detail::Storage<F>&>().get())>;
  static_assert(std::invocable<Callable&, const Event&>,
                "an observer is called with `const Event&` from a const policy: give a mutable one a name, "
                "and give Observe std::ref(it), so that the policy can refer to it");
  static_assert(
      !detail::Deferred<std::invoke_result_t<Callable&, const Event&>>,
      "this observer returns a coroutine or future that nobody awaits, so it would hear of nothing: "
      "do the work in the call, or hand it to somebody who waits for it");
  detail::Storage<F> tell_;
};
template <class F>
Observe(F&&) -> Observe<shared::StoredOf<F>>;

}  // namespace encore ENCORE_BUILD
