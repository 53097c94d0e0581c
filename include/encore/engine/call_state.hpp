// The lazily constructed state of one call.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/room_for.hpp>
#include <encore/engine/call_frame.hpp>
#include <encore/engine/nested.hpp>
#include <encore/engine/retry_state.hpp>
#include <encore/unretryable.hpp>

#include <exception>
#include <optional>
#include <type_traits>

namespace encore ENCORE_BUILD::detail {

/// Is the predicate nothing but a list of exception types, and `E` one of them?
template <class P, class E>
inline constexpr bool lists = false;
template <class... Listed, class E>
inline constexpr bool lists<RetryOn<Listed...>, E> = (std::is_same_v<Listed, E> || ...);

/// One call under way. Its retry state is constructed by the first failure: until then there are a pointer, a frame if the attempt
/// can be seen (`Framed`), the guards' permits, and the clock reads that were asked for. A call with limits of its own, or whose id
/// has to be made and shown, has its state from the beginning. (P1)
/// The state is not destroyed, unless a user's backoff needs it: so an exception that propagates has nothing to clean up, if there
/// are no permits. `give_up`, or the wait, releases the last exception.
/// `Resumed`: by a coroutine, which may be destroyed in a wait, or have it cancelled in ways of its own. If its call can be seen, the
/// state is constructed at the beginning.
template <class Policy, bool Framed, bool Resumed = false>
class CallState {
  using State = RetryState<Policy>;
  static constexpr bool observed = Policy::observed;
  static constexpr bool guarded = Policy::guarded;
  static constexpr bool has_limit = Policy::has_time_budget || Policy::has_attempt_timeout;
  static constexpr bool timed = observed || has_limit || Policy::reports_time;
  static constexpr bool owns_waits =
      !std::is_trivially_destructible_v<CallWaits<Policy>>;  // a user's backoff
  static constexpr bool cleans_up = Resumed || owns_waits || guarded;

 public:
  static constexpr bool sees_call = Framed || Policy::reads_call;  // else it need not be in memory

  ENCORE_FORCE_INLINE CallState(const Policy& policy, [[maybe_unused]] const Call& call)
      : policy_{&policy},
        start_{start_of_first(policy)} {
    permits_.make();
    if constexpr (Framed) {
      frame_.make(policy, call, started(), around(policy));
      if (frame_.get().current.is_inside()) [[unlikely]]
        frame_.get().current.take_number();
    }
  }
  CallState(const CallState&) = delete;
  CallState& operator=(const CallState&) = delete;
  ~CallState()
    requires(!cleans_up)
  = default;
  ENCORE_FORCE_INLINE ~CallState() {
    if constexpr (Resumed) {
      if (made()) state().abandoned();
    }
    if constexpr (owns_waits) {
      if (made()) state().~State();
    }
    if constexpr (guarded) Guarding<Policy>::release(permits_.get());
  }

  /// True if the call itself must be checked before its first attempt. Asked before anything else: a compiler must assume that a
  /// clock read changes the call.
  ENCORE_FORCE_INLINE static bool asks_first(const Policy& policy, const Call& call) noexcept {
    return call.limits_itself() || is_spent(policy) || (observed && !Framed && call.id.empty());
  }
  /// May the first attempt start?
  ENCORE_FORCE_INLINE bool begin(const Policy& policy, const Call& call, bool asks_first) {
    if constexpr (Resumed && Framed) return begin_now(call);
    if (asks_first) [[unlikely]] {
      if constexpr (sees_call)
        return begin_now(call);
      else  // of a copy, so that the caller's own need not be in memory
        return begin_now(limited_.make(call));
    }
    if constexpr (guarded)
      return Guarding<Policy>::begin(*this, call);
    else
      return begin_first(policy, call);
  }

  const Attempt& attempt() const noexcept
    requires Framed
  {
    return frame_.get().attempt;
  }
  FailedAttempt what_is_known() const noexcept {
    if constexpr (Framed)
      return {attempt().ordinal, &frame_.get().current, &frame_.get().notes, &attempt()};
    else
      return {};
  }
  ENCORE_FORCE_INLINE bool retries() const noexcept { return made() && state_.get().attempts() > 1; }

  ENCORE_FORCE_INLINE void succeeded(const Policy& policy, [[maybe_unused]] const Call& call) {
    if constexpr (guarded)
      Guarding<Policy>::succeeded(*this, call);
    else if constexpr (observed)
      made() ? found_here(*this).succeeded_late() : succeeded_first(policy, call);
    else if constexpr (!Policy::rethrows)  // its outcome has the figures
      if (made()) succeeded_late();
  }
#if defined(__cpp_exceptions)
  /// In the handler. False if the exception propagates; otherwise `waited` says whether another attempt follows.
  template <class Error>
  ENCORE_FORCE_INLINE bool threw(const Error* error, [[maybe_unused]] const Call& call) {
    if constexpr (sees_call)
      return judged_thrown(error, found_here(call));
    else
      return judged_thrown(error);
  }
#endif
  /// Waits, if there is a wait, and begins the next attempt. False if the call is over.
  ENCORE_NO_INLINE bool waited() {
    if (!State::waits_after(next_)) return false;
    sleep_through(state().policy(), state(), next_.wait);
    return resume();
  }
  const Decision& next() const noexcept { return next_; }
  /// After the wait: begins the next attempt. False if the call is over.
  bool resume(bool cancelled = false) { return state().resume(cancelled).goes_on(); }

  /// True once there is a retry state, as after a failure. Until then there are only these.
  bool made() const noexcept { return policy_ == nullptr; }
  ENCORE_FORCE_INLINE const std::optional<TimePoint>& started() const noexcept {
    if constexpr (timed)
      return start_;
    else
      return never_;
  }
  ENCORE_FORCE_INLINE int errors() const noexcept {
    if constexpr (observed)
      return errors_;
    else
      return 0;
  }

  State& state() noexcept { return state_.get(); }
  const State& state() const noexcept { return state_.get(); }
  /// The same, constructed if it was not yet.
  State& made_state([[maybe_unused]] const Call& call = unseen_call) {
    if (!made()) {
      if constexpr (!Framed) frame_.make(*policy_, call, started(), around(*policy_));
      make(started());
    }
    return state();
  }
  /// The decision about a failed value.
  ENCORE_FORCE_INLINE void goes_on_with(const Decision& next) noexcept { next_ = next; }

 private:
  friend struct Guarding<Policy>;  // what guards add, in <encore/guard/guard.hpp>
  struct NotKept {};
  static_assert(std::is_trivially_destructible_v<CallFrame>);

  using Start = std::conditional_t<timed, std::optional<TimePoint>, NotKept>;
  ENCORE_FORCE_INLINE static Start start_of_first([[maybe_unused]] const Policy& policy) {
    if constexpr (has_limit || Policy::reports_time) {
      if (Policy::reports_time || policy.time_budget() || policy.attempt_timeout())
        return policy.clock().now();
    }
    return {};
  }
  /// The mark of the attempt in which this call is made, for its key. A coroutine or a fiber has `Call::outer` instead. (J2)
  ENCORE_FORCE_INLINE static const MarkedAttempt* around([[maybe_unused]] const Policy& policy) noexcept {
    if constexpr (Resumed)
      return nullptr;
    else
      return policy.on_fibers() ? nullptr : innermost_mark;
  }
  ENCORE_FORCE_INLINE static bool is_spent([[maybe_unused]] const Policy& policy) noexcept {
    if constexpr (Policy::has_time_budget)
      return policy.time_budget() == Duration::zero();
    else
      return false;
  }

  ENCORE_FORCE_INLINE bool begin_first(const Policy& policy, [[maybe_unused]] const Call& call) {
    if constexpr (observed && Framed)
      State::notify_first_started(policy, call, start_, errors_, frame_.get());
    else if constexpr (observed)
      State::notify_first_started(policy, call, start_, errors_);
    if constexpr (requires { policy.clock().attempt_started(); }) policy.clock().attempt_started();
    return true;
  }
  ENCORE_FORCE_INLINE void succeeded_first(const Policy& policy, const Call& call) {
    if constexpr (Framed)
      State::notify_first_succeeded(policy, call, start_, errors_, frame_.get());
    else
      State::notify_first_succeeded(policy, call, start_, errors_);
  }
  ENCORE_NO_INLINE bool begin_now(const Call& call) {
    const auto at = started() ? started() : start_of(*policy_, call);
    if constexpr (!Framed) frame_.make(*policy_, call, at, around(*policy_));
    make(at);
    next_ = state().begin();
    return next_.goes_on();
  }
  void make(const std::optional<TimePoint>& started) {
    state_.make(*policy_, frame_.get(), permits_.get(), started, errors());
    if constexpr (Resumed) state().may_be_cancelled();
    if constexpr (Policy::waits_when_refused) state().driver_waits();
    policy_ = nullptr;
  }

  ENCORE_NO_INLINE void succeeded_late() { state().succeeded(); }
#if defined(__cpp_exceptions)
  template <class Error, class... C>
  ENCORE_COLD bool judged_thrown(const Error* error, const C&... call) {
    auto& state = made_state(call...);
    const auto matched = lists<typename Policy::PredicateType, Error> && error != nullptr;
    const auto* const known = caught_as_exception(error);
    if (!matched && known == nullptr && std::current_exception() == nullptr) {
      static_cast<void>(state.unwound());
      return false;
    }
    next_ = state.threw(known, matched);
    return State::waits_after(next_) || (!Policy::rethrows && State::strategy_handles(next_.stop));
  }
#endif
  static constexpr std::optional<TimePoint> never_{};
  const Policy* policy_;  // until there is a state, which has a reference of its own
  [[no_unique_address]] Start start_;
  [[no_unique_address]] std::conditional_t<observed, int, NotKept> errors_{};
  [[no_unique_address]] std::conditional_t<guarded, RoomFor<typename State::Permits>, typename State::Permits>
      permits_;
  RoomFor<Call> limited_;
  RoomFor<CallFrame> frame_;
  RoomFor<State> state_;
  union {
    Decision next_;  // what was said of the last failure, once there was one
  };
};

}  // namespace ENCORE_BUILD::detail
