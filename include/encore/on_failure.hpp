// The failure strategy that returns what a function makes of the failure, in place of the exception. For outcomes see
// <encore/outcome.hpp>.
#pragma once
#include <encore/detail/address_of.hpp>
#include <encore/engine/deferred.hpp>
#include <encore/engine/erased_operation.hpp>
#include <encore/engine/failure_strategy.hpp>
#include <encore/failure.hpp>
#include <encore/option.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

namespace detail {

template <class F, class V>
concept FormatsValue = std::invocable<const F&, const Failure&, const V&>;
template <class F, class V>
concept FormatsPointer = std::invocable<const F&, const Failure&, const V*> && !FormatsValue<F, V>;
// Whether a function that is not a template can be called this way follows from its signature, for any value.
template <class F>
inline constexpr bool takes_failure_first = false;
template <class R, class C, class A, class B>
inline constexpr bool takes_failure_first<R (C::*)(A, B) const> = std::is_convertible_v<const Failure&, A>;
template <class R, class C, class A, class B>
inline constexpr bool takes_failure_first<R (C::*)(A, B) const noexcept> =
    std::is_convertible_v<const Failure&, A>;
template <class F>
inline constexpr bool may_format = true;
template <class F>
  requires requires { &F::operator(); }
inline constexpr bool may_format<F> =
    takes_failure_first<decltype(&F::operator())> || std::is_invocable_v<const F&, const Failure&>;
template <class F>
concept MayFormat = may_format<F>;
template <class F, class V>
concept Formats = FormatsPointer<F, V> || std::invocable<const F&, const Failure&>;

/// Calls a formatter with the failure and, if it takes that, the last failed value: as a reference, if there is one, or as a
/// pointer, which is null if there is none. (G3, G8)
template <class V, class F>
decltype(auto) formatted(const F& format, const Failure& failure) {
  static_assert(
      Formats<F, V>,
      "a formatter is called, as const, with `const Failure&`; where the last failure is a value, with that "
      "beside it, if it takes it; but not every call ends with a value, so it takes the failure alone too, "
      "or a pointer to the value");
  if constexpr (FormatsPointer<F, V>)
    return format(failure, static_cast<const V*>(nullptr));
  else if constexpr (Formats<F, V>)
    return format(failure);
  else
    return NoResult{};
}
template <class V, class F>
decltype(auto) formatted(const F& format, Failure& failure, const V& last) {
  failure.last.look_at(last);
  if constexpr (FormatsValue<F, V>)
    return format(std::as_const(failure), last);
  else if constexpr (FormatsPointer<F, V>)
    return format(std::as_const(failure), detail::address_of(last));
  else
    return formatted<V>(format, std::as_const(failure));
}

}  // namespace detail

/// Returns what a function makes of the failure. The function takes `const Failure&` and, optionally, the last failed value: as
/// a `const V&`, used if there is one, or a `const V*`. Its result must convert to the callable's. If it throws, its own
/// exception propagates. (G3, G8)
template <class F>
struct FormatFailure {
  using role = encore::role::OnFailure;
  static constexpr auto mode = TerminalMode::formatted;
  static constexpr bool reports_time = true;
  template <class R>
  using result = R;
  static_assert(detail::MayFormat<F>,
                "FormatFailure calls its function, as const, with `const encore::Failure&`, and, if it takes "
                "that, with the last failed value or a pointer to it beside it");
  F format;
  constexpr explicit FormatFailure(F f) : format(std::move(f)) {}

  template <class R>
  R failed(Failure&& failure) const {
    return fitting<R>([&]() -> decltype(auto) {
      return detail::formatted<std::remove_cvref_t<R>>(format, std::as_const(failure));
    });
  }
  template <class R, class Last>
  R failed(Failure&& failure, Last&& last) const {
    return fitting<R>([&]() -> decltype(auto) { return detail::formatted(format, failure, last); });
  }

 private:
  template <class R, class Make>
  static R fitting(Make&& make) {
    using Made = decltype(make());
    static_assert(detail::can_be_returned_as<Made, R>,
                  "FormatFailure must return what the call returns, or something that converts to it; use "
                  "ReturnOutcome to get the failure itself");
    static_assert(!std::is_void_v<R> || !detail::Deferred<Made>,
                  "this formatter returns a coroutine or future, and the call nothing, so nobody awaits it: "
                  "wait for it in the formatter");
    if constexpr (std::is_void_v<R>)
      static_cast<void>(make());
    else
      return make();
  }
};

}  // namespace encore ENCORE_BUILD
