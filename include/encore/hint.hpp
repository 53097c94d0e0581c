// Reads a server's hint, when to call again, from types that cannot be extended.
#pragma once
#include <encore/detail/asked.hpp>
#include <encore/engine/server_hint.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

namespace detail {

template <class F>
inline constexpr bool reads_wait = true;
template <HasOnlyArgument F>
  requires can_be_asked<F>
inline constexpr bool reads_wait<F> = AsWait<std::invoke_result_t<const F&, const only_argument_of<F>&>>;

}  // namespace detail

/// Reads the hint from a type that cannot be extended: `HintFrom{[](const http::Error& e) { return e.wait; }}`. The type of the
/// function's only parameter decides what it is asked about, as in `RetryIf`: an exception, the callable's result, or the error
/// of a `std::expected`. If it throws, there is no hint. (B9, E5)
template <class F>
struct HintFrom {
  using role = encore::role::HintSource;
  static_assert(detail::CanBeAsked<F>,
                "HintFrom calls its function, as const, with one argument: `const YourError&`, or what the "
                "call returns");
  static_assert(
      detail::reads_wait<F>,
      "the function of HintFrom returns a duration, a `std::chrono::sys_time`, or an optional of either");
  F read;
  constexpr explicit HintFrom(F f) : read(std::move(f)) {}

  std::optional<Duration> hint(const Thrown& failure, const Now& now) const {
    auto found = detail::no_hint;
    detail::ask(read, failure, [&](const auto& hint) { found = detail::as_wait(hint, now); });
    return found;
  }
  template <class Value>
    requires detail::AskedAbout<F, Value>
  std::optional<Duration> hint(const Returned<Value>& failure, const Now& now) const {
    auto found = detail::no_hint;
    detail::ask(read, failure, [&](const auto& hint) { found = detail::as_wait(hint, now); });
    return found;
  }

  template <class V>
  static consteval void refuse_misfit() {
    detail::refuse_misfit<F, V>();
  }
};

}  // namespace encore ENCORE_BUILD
