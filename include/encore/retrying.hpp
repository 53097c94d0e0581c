// One call under a policy, driven by whoever has a way to wait.
#pragma once
#include <encore/detail/quoted_text.hpp>
#include <encore/engine/filter_check.hpp>
#include <encore/engine/policy_parts.hpp>
#include <encore/engine/retry_state.hpp>
#include <encore/failure.hpp>
#include <encore/setting.hpp>

#include <cstdint>
#include <exception>
#include <optional>
#include <string_view>
#include <type_traits>

namespace encore ENCORE_BUILD {

namespace detail {
struct Restorer;
}

/// The retry decision for one call, for any driver: a thread that sleeps, a timer queue, a job table. It never calls, sleeps,
/// suspends or allocates. The policy, and what the call's views point to, must outlive it. Not thread-safe: a call is driven
/// by one at a time.
///   Retrying retrying{policy, {.id = "job-7"}};
///   Decision next = retrying.begin();         // may the first attempt start?
///   … run the attempt, with retrying.attempt() …
///   retrying.succeeded();                     // or, inside the handler of its exception:
///   next = retrying.threw(&error);            // again after next.wait, or stop because next.stop
///   next = retrying.resume();                 // after the wait: may the next attempt start?
template <class Policy>
class Retrying {
  using Parts = detail::PartsOf<Policy>;
  using State = detail::RetryState<Parts>;

 public:
  Retrying(const Policy& policy, const Call& call)
      : policy_{policy},
        call_{call},
        started_{detail::start_of(policy_parts(policy), call)},
        frame_{call_, detail::limits_of(policy, call, started_), Now{policy.clock()}},
        state_{policy_parts(policy), frame_, permits_, started_} {}
  Retrying(const Policy&& policy, const Call& call) : Retrying{policy, call} {
    static_assert(
        !std::is_class_v<Policy>,
        "a Retrying only refers to its policy: give the policy a name, so that it outlives the call");
  }
  Retrying(const Retrying&) = delete;
  Retrying& operator=(const Retrying&) = delete;

  /// May the first attempt start? If so it has, for observers and guards: make it. If not, the call is over. (D5, H2, K2)
  /// Throws `std::invalid_argument` for a call that has begun: its attempt would be made twice. (A1)
  [[nodiscard]] Decision begin() {
    if (is_over()) return {.stop = reason()};
    if (stage_ != Stage::not_begun) refuse("cannot begin: it has begun");
    state_.attempt_starts();  // later than the call, if the driver was slow
    return started(state_.begin());
  }

  /// The attempt ended well, and with it the call. Once a call has stopped, what is reported of it changes nothing, and nobody else
  /// hears of it. (F1, H1)
  void succeeded() {
    if (!is_over()) state_.succeeded();
  }

  /// The attempt threw; called inside the handler. `error` is null if a `catch (const std::exception&)` does not catch it.
  /// An attempt fails once: reported again, as by a time limit of the driver's and then by itself, it changes nothing.
  [[nodiscard]] Decision threw(const std::exception* error) {
    if (is_over()) return {.stop = reason()};
    return stage_ == Stage::waiting ? Decision{.wait = state_.wait()} : ended(state_.threw(error));
  }
#if defined(__cpp_exceptions)
  /// The same for whatever is being handled, at the price of a rethrow. A thread's forced unwind ends the call as cancelled,
  /// and has to be rethrown. (B4)
  [[nodiscard]] Decision threw() {
    if (std::current_exception() == nullptr) return is_over() ? Decision{.stop = reason()} : state_.unwound();
    try {
      throw;
    } catch (const std::exception& error) {
      return threw(&error);
    } catch (...) {
      return threw(nullptr);
    }
  }
  /// The same outside a handler, for those who are brought failures as an `exception_ptr`, which must not be null.
  [[nodiscard]] Decision threw(const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& thrown) {
      return threw(&thrown);
    } catch (...) {
      return threw(nullptr);
    }
  }
#endif

  /// The attempt returned a value: a success, which ends the call with `StopReason::succeeded`, or a failure to decide on.
  template <class Value>
  [[nodiscard]] Decision returned(const Value& value) {
    static_assert(detail::filter_fits<Parts, Value>());
    if (is_over()) return {.stop = reason()};
    if constexpr (detail::judges_value<Parts, Value, true>)
      return ended(detail::ReturnedFailures::judge(state_, value, stage_ == Stage::waiting));
    succeeded();
    return {.stop = StopReason::succeeded};
  }

  /// The wait is over, or was ended by a stop request: may the next attempt start? If so it has; make it. A call that has
  /// stopped stays so. (D3, H2, K1) Throws `std::invalid_argument` for a call that does not wait, as where a timer fires twice:
  /// the attempt would be made twice. (A1)
  [[nodiscard]] Decision resume() {
    if (is_over()) return {.stop = reason()};
    if (stage_ != Stage::waiting) refuse("cannot be resumed: it does not wait");
    return started(state_.resume());
  }

  /// The attempt under way: for the callable.
  const Attempt& attempt() const noexcept { return frame_.attempt; }
  const Call& call() const noexcept { return call_; }
  /// How many attempts have been started.
  int attempts() const noexcept { return state_.attempts(); }
  /// Why the call ended; `none` while it goes on.
  StopReason reason() const noexcept { return state_.reason(); }
  Duration slept() const noexcept { return state_.slept(); }
  /// The whole failure, after a stop: for a failure strategy. (G3)
  Failure failure() const { return state_.failure(); }

  /// Does the failure strategy answer for a call that ended so? Else its exception or value leaves as it is. (B3, G7)
  static constexpr bool strategy_handles(StopReason reason) noexcept {
    return State::strategy_handles(reason);
  }

 private:
  friend struct detail::Restorer;

  enum class Stage : std::uint8_t { not_begun, under_way, waiting };  // while it goes on

  bool is_over() const noexcept { return reason() != StopReason::none; }
  Decision started(Decision next) noexcept {
    stage_ = Stage::under_way;
    return next;
  }
  Decision ended(Decision next) noexcept {
    stage_ = Stage::waiting;
    return next;
  }
  [[noreturn]] void refuse(std::string_view why) const {
    refuse_setting("call", detail::shown(attempt().call_id()), why);
  }

  const Policy& policy_;
  Call call_;
  std::optional<TimePoint> started_;
  detail::CallFrame frame_;
  [[no_unique_address]] typename State::Permits permits_{};
  State state_;
  Stage stage_ = Stage::not_begun;
};

}  // namespace encore ENCORE_BUILD
