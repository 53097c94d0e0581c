// The steps that scripts are made of: what one call does, how long it takes, and what it notes on its attempt.
#pragma once
#include <encore/as_value.hpp>
#include <encore/attempt.hpp>
#include <encore/duration.hpp>
#include <encore/setting.hpp>

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD::testing {

template <class T>
class Scripted;

namespace detail {

// What a step does beside its end.
struct StepPlan {
  Duration takes{};
  std::optional<int> status{};
  std::string request_id{};
  bool dispatched = false;
  bool answered = false;
  bool not_run = false;
  bool uses_key = false;
  int times = 1;
};

// How a step ends: `play<T>(attempt, last)` returns a T or throws; `last` says that it is not played again.
template <class E, class... Args>
struct Throws {
  static_assert(std::constructible_from<E, const Args&...>,
                "throws<E>(arguments...): no E can be made of these arguments");
  static constexpr bool repeatable = true;
  std::tuple<Args...> arguments;

  template <class T>
  [[noreturn]] T play(const Attempt&, bool) const {
    throw std::apply([](const Args&... argument) { return E(argument...); }, arguments);
  }
};

template <class V>
struct Returns {
  static constexpr bool repeatable = std::copy_constructible<V>;
  V value;

  template <class T>
  T play(const Attempt&, [[maybe_unused]] bool last) {
    if constexpr (std::is_void_v<T>) {
      static_assert(!std::is_void_v<T>, "a step of a Scripted<void> ends with returns(), without a value");
    } else if constexpr (std::is_reference_v<T>) {
      static_assert(std::convertible_to<V&, T>,
                    "returns(value): a Scripted<T&> returns a reference, as in returns(std::ref(object))");
      return value;
    } else {
      static_assert(std::convertible_to<V, T>, "returns(value): the value must convert to the script's type");
      if constexpr (std::convertible_to<V&, T>) {
        if (!last) return value;
      }
      return std::move(value);
    }
  }
};

struct ReturnsNothing {
  static constexpr bool repeatable = true;
  template <class T>
  T play(const Attempt&, bool) const {
    static_assert(std::is_void_v<T>, "returns() without a value is for a Scripted<void>");
  }
};

template <class F>
struct Does {
  static constexpr bool repeatable = true;
  F function;

  template <class T>
  T play(const Attempt& attempt, bool) {
    const auto call = [&]() -> decltype(auto) {
      if constexpr (std::is_invocable_v<F&, const Attempt&>)
        return std::invoke(function, attempt);
      else
        return std::invoke(function);
    };
    static_assert(!std::is_void_v<T> || !encore::detail::Deferred<decltype(call())>,
                  "this function of does() returns a coroutine or future that nobody awaits: wait for it in "
                  "the function");
    if constexpr (std::is_void_v<T>)
      static_cast<void>(call());
    else
      return call();
  }
};

}  // namespace detail

/// One step of a script. Its members say more about it, in any order: `throws<TimeoutError>("slow").takes(300ms)`.
template <class End, bool TakesTime = false, bool ForEver = false>
class [[nodiscard]] Step {
 public:
  explicit Step(End end) : end_(std::move(end)) {}

  /// So much fake time passes before it ends; the script is given the clock: `Scripted<int> tool{clock, …}`.
  Step<End, true, ForEver> takes(Span<"takes"> duration) && {
    plan_.takes = duration;
    return {std::move(end_), std::move(plan_)};
  }
  /// Notes the response's status on the attempt. (F6)
  Step&& notes(int status) && {
    plan_.status = status;
    return std::move(*this);
  }
  /// Notes the dependency's id for the request on the attempt. (F6)
  Step&& notes(std::string_view request_id) && {
    plan_.request_id = request_id;
    return std::move(*this);
  }
  /// The request leaves, and its time passes after that. (I3)
  Step&& dispatched() && {
    plan_.dispatched = true;
    return std::move(*this);
  }
  /// An answer comes, after the step's time has passed. (I3)
  Step&& answered() && {
    plan_.answered = true;
    return std::move(*this);
  }
  /// The step says, after its time has passed, that nothing was done. (I1)
  Step&& not_run() && {
    plan_.not_run = true;
    return std::move(*this);
  }
  /// Asks for the idempotency key; the script's `keys()` has it. (I2)
  Step&& uses_key() && {
    plan_.uses_key = true;
    return std::move(*this);
  }

 private:
  template <class, bool, bool>
  friend class Step;
  template <class>
  friend class Scripted;
  template <class E, bool Timed>
  friend Step<E, Timed> times(Count<"times"> count, Step<E, Timed> step);
  template <class E, bool Timed>
  friend Step<E, Timed, true> always(Step<E, Timed> step);

  Step(End&& end, detail::StepPlan&& plan) : end_(std::move(end)), plan_{std::move(plan)} {}

  End end_;
  detail::StepPlan plan_{};
};

/// The call throws an `E` made of these arguments, a new one each time.
template <class E, class... Args>
Step<detail::Throws<E, std::decay_t<Args>...>> throws(Args&&... arguments) {
  return Step{detail::Throws<E, std::decay_t<Args>...>{{std::forward<Args>(arguments)...}}};
}

/// The call returns the value: moved out if this is its only time.
template <class V>
Step<detail::Returns<std::decay_t<V>>> returns(V&& value) {
  return Step{detail::Returns<std::decay_t<V>>{std::forward<V>(value)}};
}
inline Step<detail::ReturnsNothing> returns() { return Step{detail::ReturnsNothing{}}; }

/// The call is a call of this function, with the attempt if it takes one.
template <class F>
Step<detail::Does<std::decay_t<F>>> does(F&& function) {
  return Step{detail::Does<std::decay_t<F>>{std::forward<F>(function)}};
}

/// The step, so many times over.
template <class End, bool TakesTime>
Step<End, TakesTime> times(Count<"times"> count, Step<End, TakesTime> step) {
  static_assert(End::repeatable, "a step that is played more than once returns a value that can be copied");
  step.plan_.times = count;
  return step;
}
/// The step for ever: the last one of a script.
template <class End, bool TakesTime>
Step<End, TakesTime, true> always(Step<End, TakesTime> step) {
  static_assert(End::repeatable, "a step that is played more than once returns a value that can be copied");
  return {std::move(step.end_), std::move(step.plan_)};
}

namespace detail {
template <class T>
inline constexpr bool is_step = false;
template <class End, bool TakesTime, bool ForEver>
inline constexpr bool is_step<Step<End, TakesTime, ForEver>> = true;
template <class T>
inline constexpr bool takes_time = false;
template <class End, bool ForEver>
inline constexpr bool takes_time<Step<End, true, ForEver>> = true;
template <class T>
inline constexpr bool is_for_ever = false;
template <class End, bool TakesTime>
inline constexpr bool is_for_ever<Step<End, TakesTime, true>> = true;
}  // namespace detail

}  // namespace ENCORE_BUILD::testing
