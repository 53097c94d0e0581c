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

/// Its address identifies a type. Not constant, because a linker may merge equal constants.
template <class V>
ENCORE_ONE_PER_PROCESS inline char type_mark = 0;

/// Points to the last failed value, of any type, while the failure is used where that value lives. A copy of the failure may
/// outlive the value, so a copy points to nothing.
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

/// A call that did not succeed: all that a failure strategy can report. Owns its contents, except the last value. (G2, G3)
struct Failure {
  std::string call_id{};
  std::string call_name{};
  StopReason reason = StopReason::none;
  int attempts = 0;
  std::optional<int> max_attempts{};  ///< empty: unlimited
  Duration elapsed{};
  Duration slept{};
  std::exception_ptr error{};  ///< null if the last failure is a value, or if there was no attempt (G4)
  int observer_errors = 0;     ///< how many times an observer threw so far (F3)
  /// True if a request was sent and never answered, in that attempt or a later one, and repeating it is not harmless: it may
  /// have taken effect, whatever `reason` says. (I3)
  bool outcome_unknown = false;
  /// The earliest time for another call, counted from the end of this one, as given by the server's last hint or the guard that
  /// refused; empty if neither gave one. (G5)
  std::optional<Duration> retry_after{};
  int inner_attempts = 1;        ///< the maximum that the callable makes in each attempt (J1)
  detail::LastValueView last{};  // read through `last_value`

  /// Calls `use(e)` with the last exception if a `catch (const E& e)` would catch it, and returns whether it did; false if there
  /// was no exception. Exceptions of `use` propagate. (G8)
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
  /// The value that the last failed attempt returned, if it returned one of exactly this type; else null. Available in the
  /// failure given to a formatter and in an outcome's own failure; a copy has none. (G8)
  template <class V>
  const V* last_value() const noexcept {
    return last.get<V>();
  }

  /// The maximum number of requests that may have reached the dependency; empty: unlimited.
  template <class Requests = std::int64_t>
  std::optional<Requests> max_requests() const noexcept {
    return max_requests_of<Requests>(max_attempts, inner_attempts);
  }
  /// True if a limit, a stop request or a guard refused the call before its first attempt. (G4)
  bool refused_on_entry() const noexcept { return attempts == 0; }
};

namespace detail {

/// The counts of an ended call, for an outcome with a value.
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
/// The same for a call that succeeded, of which `early` may be all that exists.
template <class Early, class Policy>
ENCORE_FORCE_INLINE CallFigures figures_of(const Early& early, const Policy& policy) {
  if (early.made()) return figures_of(early.state());
  const auto elapsed =
      early.started() ? time_between(*early.started(), policy.clock().now()) : Duration::zero();
  return {StopReason::succeeded, 1, elapsed, Duration::zero(), early.errors()};
}

template <class Policy>
struct Guarding;

/// The time given by the server or by the guard that refused; the later of both.
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

/// The failure with which a call ended, for its strategy. (G3)
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
