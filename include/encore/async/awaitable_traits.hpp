// The value type of a coroutine type, and the same coroutine type for another value.
#pragma once
#include <encore/detail/attributes.hpp>

namespace encore ENCORE_BUILD {

/// What `co_run` needs to know about a coroutine type. `Task<T, …>` needs no specialisation: its value is `T`, and rebound it is
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
