// The retries of a plain call: nobody looks at it, and nothing but their number and its time limits them.
#pragma once
#include <encore/attributes.hpp>
#include <encore/clock.hpp>
#include <encore/failure.hpp>
#include <encore/hint.hpp>
#include <encore/jitter.hpp>
#include <encore/pause.hpp>
#include <encore/random.hpp>
#include <encore/stop.hpp>
#include <encore/stop_reason.hpp>
#include <encore/unretryable.hpp>
#include <encore/verdict.hpp>
#include <encore/waits.hpp>

#include <exception>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace encore::detail {

/// Without observers, guards, a deadline, a seed or a callable that takes its attempt there is nothing to keep but how many
/// retries were made, where the waits stand and, with a time budget, when the call began. Decides as `RetryState` does, in
/// the rules that are left of it. Until the first failure it costs one pointer stored, and the time.
template <class Policy>
class PlainRetries {
 public:
  explicit PlainRetries(const Policy& policy) : unbegun_{&policy} {
    if constexpr (timed) {
      if (policy.time_budget()) time_.started = policy.clock().now();
    }
  }
  PlainRetries(const PlainRetries&) = delete;
  PlainRetries& operator=(const PlainRetries&) = delete;

#if defined(__cpp_exceptions)
  /// In the handler: does another attempt follow? If not, the exception leaves. `error` is what was caught.
  template <class Error>
  ENCORE_COLD bool threw(const Error* error) {
    begin();
    const Thrown thrown{caught_as_exception(error)};
    if (!goes_on(judge_caught<Error>(thrown), thrown)) return false;
    if constexpr (timed)
      ::new (static_cast<void*>(&time_.error))
          std::exception_ptr{policy_->time_budget() ? std::current_exception() : nullptr};
    return true;
  }
  /// When the handler is left: waits, and begins the next attempt; or throws the exception if the wait ended too late. (D3, G1)
  ENCORE_COLD void wait() {
    if constexpr (timed) {
      const auto error = std::move(time_.error);
      time_.error.~exception_ptr();
      if (!begins_next()) std::rethrow_exception(error);
    } else {
      begins_next();
    }
  }
#endif
  /// The attempt returned a failure: waits and begins the next one, or answers false. `verdict` is `none` if the predicate
  /// matched, or `predicate_threw`.
  template <class Value>
  ENCORE_FORCE_INLINE bool waited_after(const Value& value, StopReason verdict) {
    // What fits a register stays in one: its address would put it into memory before every look at it.
    using Passed = std::conditional_t<std::is_scalar_v<Value>, const Value, const Value&>;
    return waited_after_value<Passed>(value, verdict);
  }

 private:
  using Waiting = Waits<typename Policy::BackoffType, typename Policy::JitterType>;
  static constexpr bool draws_at_all = draws<typename Policy::JitterType>;
  static constexpr bool timed = Policy::has_time_budget;
  struct NoTime {};
  struct Time {
    TimePoint started{};
    union {
      std::exception_ptr error;  // from its handler to the end of the wait that follows
    };
    Time() noexcept {}
    ~Time() {}
  };

  ENCORE_FORCE_INLINE void begin() noexcept {
    if (unbegun_ == nullptr) return;
    policy_ = std::exchange(unbegun_, nullptr);
    retries_ = 0;
  }
#if defined(__cpp_exceptions)
  template <class Error>
  ENCORE_FORCE_INLINE StopReason judge_caught(const Thrown& thrown) const {
    if constexpr (std::same_as<typename Policy::PredicateType, RetryOn<Error>>)
      return judge_matched(*policy_, thrown);  // by the handler that caught it (B2)
    else if (thrown.error() == nullptr && std::current_exception() == nullptr)
      return StopReason::cancelled;  // forced unwind
    else
      return judge(*policy_, thrown);
  }
#endif
  template <class Passed>
  ENCORE_NO_INLINE bool waited_after_value(Passed value, StopReason verdict) {
    begin();
    constexpr FailedAttempt nobody_looks{};
    const Returned<std::remove_cvref_t<Passed>> failure{value, nobody_looks};
    if (verdict == StopReason::none && is_never_retried(failure)) verdict = StopReason::never_retry_type;
    return goes_on(verdict, failure) && begins_next();
  }
  template <class Failed>
  ENCORE_FORCE_INLINE bool goes_on(StopReason verdict, const Failed& failure) {
    if (verdict != StopReason::none || retries_ == policy_->max_retries()) return false;
    const auto hint = hint_from(*policy_, failure, Now{policy_->clock()});
    if (hint && *hint > policy_->hint_cap()) return false;
    if (retries_++ == 0) {
      ::new (static_cast<void*>(&waits_)) Waiting{policy_->backoff()};
      if constexpr (draws_at_all) ::new (static_cast<void*>(&random_)) Random{fresh_stream()};
    }
    auto draw = 0.0;
    if constexpr (draws_at_all) draw = random_.draw();
    wait_ = next_wait(*policy_, waits_, hint, draw);
    return in_time(wait_);
  }
  // Waits, and begins the next attempt, if it is not too late by then.
  ENCORE_FORCE_INLINE bool begins_next() {
    auto& clock = policy_->clock();
    if (wait_ > Duration::zero()) clock.sleep_for(wait_, StopView{});
    if (!in_time(Duration::zero())) return false;
    if constexpr (requires { clock.attempt_started(); }) clock.attempt_started();
    return true;
  }
  ENCORE_FORCE_INLINE bool in_time([[maybe_unused]] Duration wait) const {
    if constexpr (timed) {
      const TimeLimits limits{.started = time_.started, .budget = policy_->time_budget()};
      if (limits.bounded()) {
        const auto left = limits.remaining(policy_->clock().now());
        return time_verdict(left, wait, policy_->least_attempt_time()) == StopReason::none;
      }
    }
    return true;
  }

  const Policy* unbegun_;  // until the first failure, by which everything else is begun
  const Policy* policy_;
  int retries_;
  union {
    Duration wait_;
  };
  union {
    Random random_;
  };
  union {
    Waiting waits_;
  };
  [[no_unique_address]] std::conditional_t<timed, Time, NoTime> time_;
};

}  // namespace encore::detail
