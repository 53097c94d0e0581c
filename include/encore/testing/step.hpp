// The steps of a script: what one call does, how long it takes, and what it marks on its attempt.
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

// What a step does before it ends.
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

// How a step ends: `play<T>(attempt, last)` returns a T or throws; `last` is true if it is not played again.
template <class E, class... Args>
struct Throws {
  static_assert(std::constructible_from<E, const Args&...>,
                "throws<E>(arguments...): E cannot be constructed from these arguments");
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
                  "this function of does() returns a coroutine or future that is never awaited: wait for it "
                  "in the function");
    if constexpr (std::is_void_v<T>)
      static_cast<void>(call());
    else
      return call();
  }
};

}  // namespace detail

/// One step of a script. Its members add to it, in any order: `throws<TimeoutError>("slow").takes(300ms)`.
template <class End, bool TakesTime = false, bool Endless = false>
class [[nodiscard]] Step {
 public:
  explicit Step(End end) : end_(std::move(end)) {}

  /// This much fake time passes before it ends; the script then needs the clock: `Scripted<int> tool{clock, …}`.
  Step<End, true, Endless> takes(Span<"takes"> duration) && {
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
  /// Marks the request as dispatched, before the step's time passes. (I3)
  Step&& dispatched() && {
    plan_.dispatched = true;
    return std::move(*this);
  }
  /// Marks the request as answered, after the step's time has passed. (I3)
  Step&& answered() && {
    plan_.answered = true;
    return std::move(*this);
  }
  /// Marks the attempt as not run, after the step's time has passed. (I1)
  Step&& not_run() && {
    plan_.not_run = true;
    return std::move(*this);
  }
  /// Asks for the idempotency key, which is then in the script's `keys()`. (I2)
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

/// A step that throws a new `E`, made of these arguments, each time.
template <class E, class... Args>
Step<detail::Throws<E, std::decay_t<Args>...>> throws(Args&&... arguments) {
  return Step{detail::Throws<E, std::decay_t<Args>...>{{std::forward<Args>(arguments)...}}};
}

/// A step that returns the value; the last time it is played, the value is moved.
template <class V>
Step<detail::Returns<std::decay_t<V>>> returns(V&& value) {
  return Step{detail::Returns<std::decay_t<V>>{std::forward<V>(value)}};
}
/// A step that returns nothing, for a `Scripted<void>`.
inline Step<detail::ReturnsNothing> returns() { return Step{detail::ReturnsNothing{}}; }

/// A step that calls this function, with the attempt if it takes one.
template <class F>
Step<detail::Does<std::decay_t<F>>> does(F&& function) {
  return Step{detail::Does<std::decay_t<F>>{std::forward<F>(function)}};
}

/// The step, played `count` times.
template <class End, bool TakesTime>
Step<End, TakesTime> times(Count<"times"> count, Step<End, TakesTime> step) {
  static_assert(End::repeatable,
                "a step that is played more than once must return a value that can be copied");
  step.plan_.times = count;
  return step;
}
/// The step, played for ever: it must be the last one of a script.
template <class End, bool TakesTime>
Step<End, TakesTime, true> always(Step<End, TakesTime> step) {
  static_assert(End::repeatable,
                "a step that is played more than once must return a value that can be copied");
  return {std::move(step.end_), std::move(step.plan_)};
}

namespace detail {
template <class T>
inline constexpr bool is_step = false;
template <class End, bool TakesTime, bool Endless>
inline constexpr bool is_step<Step<End, TakesTime, Endless>> = true;
template <class T>
inline constexpr bool takes_time = false;
template <class End, bool Endless>
inline constexpr bool takes_time<Step<End, true, Endless>> = true;
template <class T>
inline constexpr bool is_endless = false;
template <class End, bool TakesTime>
inline constexpr bool is_endless<Step<End, TakesTime, true>> = true;
}  // namespace detail

}  // namespace ENCORE_BUILD::testing
