// One call under a policy, for drivers that wait in their own way.
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

/// The retry decisions of one call, for any driver: a thread that sleeps, a timer queue, a job table. It never calls, sleeps,
/// suspends or allocates. The policy, and what the call's views point to, must outlive it. Not thread-safe: use it from one
/// thread at a time.
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

  /// May the first attempt start? If so, observers and guards count it as started: make it. If not, the call is over.
  /// (D5, H2, K2) Throws `std::invalid_argument` if the call has already begun, because the attempt would be made twice. (A1)
  [[nodiscard]] Decision begin() {
    if (is_over()) return {.stop = reason()};
    if (stage_ != Stage::not_begun) refuse("cannot begin: it has begun");
    state_.attempt_starts();  // may be later than the call's start, if the driver was slow
    return started(state_.begin());
  }

  /// The attempt succeeded, which ends the call. After the end of the call, this and the other reports change nothing and are not
  /// passed on to anyone. (F1, H1)
  void succeeded() {
    if (!is_over()) state_.succeeded();
  }

  /// The attempt threw; call this inside the handler. `error` is null if `catch (const std::exception&)` does not catch it.
  /// An attempt fails only once: a second report, for example after the driver's own time limit, changes nothing.
  [[nodiscard]] Decision threw(const std::exception* error) {
    if (is_over()) return {.stop = reason()};
    return stage_ == Stage::waiting ? Decision{.wait = state_.wait()} : ended(state_.threw(error));
  }
#if defined(__cpp_exceptions)
  /// The same for any exception being handled, at the cost of a rethrow. A thread's forced unwind ends the call as cancelled, and
  /// must be rethrown. (B4)
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
  /// The same outside a handler, for a failure that arrives as an `exception_ptr`, which must not be null.
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

  /// The attempt returned a value: a success, which ends the call with `StopReason::succeeded`, or a failure.
  template <class Value>
  [[nodiscard]] Decision returned(const Value& value) {
    static_assert(detail::filter_fits<Parts, Value>());
    if (is_over()) return {.stop = reason()};
    if constexpr (detail::judges_value<Parts, Value, true>)
      return ended(detail::ReturnedFailures::judge(state_, value, stage_ == Stage::waiting));
    succeeded();
    return {.stop = StopReason::succeeded};
  }

  /// The wait is over, or a stop request ended it: may the next attempt start? If so, it counts as started: make it. A call
  /// that has ended stays ended. (D3, H2, K1) Throws `std::invalid_argument` if the call is not waiting, as when a timer fires
  /// twice, because the attempt would be made twice. (A1)
  [[nodiscard]] Decision resume() {
    if (is_over()) return {.stop = reason()};
    if (stage_ != Stage::waiting) refuse("cannot be resumed: it does not wait");
    return started(state_.resume());
  }

  /// The current attempt, to pass to the callable.
  const Attempt& attempt() const noexcept { return frame_.attempt; }
  const Call& call() const noexcept { return call_; }
  /// The number of attempts started.
  int attempts() const noexcept { return state_.attempts(); }
  /// Why the call ended; `none` while it is in progress.
  StopReason reason() const noexcept { return state_.reason(); }
  Duration slept() const noexcept { return state_.slept(); }
  /// The whole failure, for a failure strategy. Only after the call has stopped. (G3)
  Failure failure() const { return state_.failure(); }

  /// Whether the failure strategy handles a call that ended this way. If not, its exception or value propagates unchanged.
  /// (B3, G7)
  static constexpr bool strategy_handles(StopReason reason) noexcept {
    return State::strategy_handles(reason);
  }

 private:
  friend struct detail::Restorer;

  enum class Stage : std::uint8_t { not_begun, under_way, waiting };  // while the call is in progress

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
