// What a coroutine type yields, and the same type for another value.
#pragma once
#include <encore/detail/attributes.hpp>

namespace encore ENCORE_BUILD {

/// The one thing that `co_run` has to know of a coroutine type. `Task<T, …>` needs nothing: its value is `T`, and rebound it is
/// `Task<U, …>`. Specialise it for a type of another shape.
template <class Awaitable>
struct awaitable_traits;

template <template <class...> class Task, class T, class... Rest>
struct awaitable_traits<Task<T, Rest...>> {
  using value_type = T;
  template <class U>
  using rebind = Task<U, Rest...>;
};

}  // namespace encore ENCORE_BUILD
