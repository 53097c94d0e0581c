// A failed call, as the failure strategy sees it.
#pragma once
#include <encore/already_retries.hpp>
#include <encore/detail/address_of.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/duration.hpp>
#include <encore/returned.hpp>
#include <encore/stop_reason.hpp>
#include <encore/thrown.hpp>

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

namespace encore ENCORE_BUILD {

namespace detail {

/// Its address stands for a type. Not constant, since a linker may fold constants that are equal.
template <class V>
ENCORE_ONE_PER_PROCESS inline char type_mark = 0;

/// Points to the last failed value, whatever its type, from a failure that is looked at where that value is. A copy of the failure
/// may outlive the value, so it points to nothing.
class LastValueView {
 public:
  constexpr LastValueView() noexcept = default;
  template <class V>
  constexpr explicit LastValueView(const V& value) noexcept
      : value_{detail::address_of(value)},
        type_{&type_mark<V>} {}
  constexpr LastValueView(const LastValueView&) noexcept {}
  constexpr LastValueView& operator=(const LastValueView& other) noexcept {
    if (this != &other) look_at_nothing();
    return *this;
  }
  template <class V>
  constexpr void look_at(const V& value) noexcept {
    value_ = detail::address_of(value);
    type_ = &type_mark<V>;
  }
  constexpr void look_at_nothing() noexcept { value_ = nullptr, type_ = nullptr; }
  template <class V>
  constexpr const V* get() const noexcept {
    return type_ == &type_mark<V> ? static_cast<const V*>(value_) : nullptr;
  }

 private:
  const void* value_ = nullptr;
  const char* type_ = nullptr;
};

}  // namespace detail

/// A call that did not succeed: everything a failure strategy may say about it. Owns what it holds, but for the last value. (G2, G3)
struct Failure {
  std::string call_id{};
  std::string call_name{};
  StopReason reason = StopReason::none;
  int attempts = 0;
  std::optional<int> max_attempts{};  ///< empty: unlimited
  Duration elapsed{};
  Duration slept{};
  std::exception_ptr error{};  ///< null if the last failure is a value, or if there was no attempt (G4)
  int observer_errors = 0;     ///< events that an observer answered with an exception, so far (F3)
  /// An attempt's request left without an answer, none came to a later attempt, and repeating it is not harmless: it may
  /// have had its effect, whatever `reason` says. (I3)
  bool outcome_unknown = false;
  /// The earliest time of another call that the server's last hint, or the guard that refused, named, from the end of this one;
  /// empty if nobody did. (G5)
  std::optional<Duration> retry_after{};
  int inner_attempts = 1;        ///< that what was called made of each attempt by itself, at most (J1)
  detail::LastValueView last{};  // read through `last_value`

  /// Calls `use(e)` with what a `catch (const E& e)` would bind of the last exception, and tells whether it did; no, if there was no
  /// exception. What `use` throws leaves. (G8)
  template <class E, class Use>
  bool with([[maybe_unused]] Use&& use) const {
#if defined(__cpp_exceptions)
    if (error == nullptr) return false;
    try {
      std::rethrow_exception(error);
    } catch (const E& caught) {
      static_cast<void>(use(caught));
      return true;
    } catch (...) {}
#endif
    return false;
  }
  /// The value that the last failed attempt returned, if it returned one and it is of just this type; else null. In the failure
  /// that a formatter is given, and in an outcome's own; a copy has none. (G8)
  template <class V>
  const V* last_value() const noexcept {
    return last.get<V>();
  }

  /// The most requests that may have reached the dependency; empty: unlimited.
  template <class Requests = std::int64_t>
  std::optional<Requests> max_requests() const noexcept {
    return max_requests_of<Requests>(max_attempts, inner_attempts);
  }
  /// True if a limit, a stop request or a guard refused the call before its first attempt. (G4)
  bool refused_on_entry() const noexcept { return attempts == 0; }
};

namespace detail {

/// The figures of a call that ended, of which an outcome with a value tells.
struct CallFigures {
  StopReason reason;
  int attempts;
  Duration elapsed;
  Duration slept;
  int observer_errors;
};
template <class State>
ENCORE_COLD CallFigures figures_of(const State& state) {
  return {state.reason(), state.attempts(), state.elapsed(), state.slept(), state.observer_errors()};
}
/// Of a call that succeeded, of which there may be no more than `early`.
template <class Early, class Policy>
ENCORE_FORCE_INLINE CallFigures figures_of(const Early& early, const Policy& policy) {
  if (early.made()) return figures_of(early.state());
  const auto elapsed =
      early.started() ? time_between(*early.started(), policy.clock().now()) : Duration::zero();
  return {StopReason::succeeded, 1, elapsed, Duration::zero(), early.errors()};
}

template <class Policy>
struct Guarding;

/// What the server, or the guard that refused, named; the later of both.
template <class State>
std::optional<Duration> retry_after_of(const State& state) {
  auto earliest = state.last_hint();
  using Policy = typename State::PolicyType;
  if constexpr (Policy::guarded) {
    const auto guards = Guarding<Policy>::admits_again(state);
    if (guards && (!earliest || *earliest < *guards)) earliest = guards;
  }
  return earliest;
}

/// The failure in which a call has ended, for its strategy. (G3)
template <class State>
Failure failure_of(const State& state) {
  const auto& policy = state.policy();
  return {.call_id = std::string{state.current().id()},
          .call_name = std::string{state.current().name()},
          .reason = state.reason(),
          .attempts = state.attempts(),
          .max_attempts =
              state.call().runs_once() ? shared::larger_of(state.attempts(), 1) : policy.max_attempts(),
          .elapsed = state.elapsed(),
          .slept = state.slept(),
          .error = state.error(),
          .observer_errors = state.observer_errors(),
          .outcome_unknown = state.outcome_unknown(),
          .retry_after = retry_after_of(state),
          .inner_attempts = policy.inner_attempts()};
}

}  // namespace detail
}  // namespace encore ENCORE_BUILD
