// What is kept of one call while it runs, and from when on.
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

/// Stands for a call that brings no limits and that nobody looks at.
inline constexpr Call unseen_call{};

/// Is the predicate nothing but a list of exception types, and `E` one of them?
template <class P, class E>
inline constexpr bool lists = false;
template <class... Listed, class E>
inline constexpr bool lists<RetryOn<Listed...>, E> = (std::is_same_v<Listed, E> || ...);

/// One call under way. Its retry state is made by the first failure: until then it costs a pointer, a frame if somebody can see
/// the attempt (`Framed`), the permits of guards, and the clock reads that were asked for. For a call with limits of its own, or
/// with an id that is still to be made and shown, it is made at once. (P1)
/// The state is not destroyed at the end, unless a backoff asks for it: so an exception that passes meets nothing to clean up, if
/// there are no permits. The last exception is let go of by whoever ends the call: `give_up`, or the wait.
/// `Resumed`: by a coroutine, whose waits may be cancelled in ways that are not known beforehand, and which may be destroyed in
/// one. If anybody can see its call, the state is made at once, and hears of that.
template <class Policy, bool Framed, bool Resumed = false>
class CallState {
  using State = RetryState<Policy>;
  static constexpr bool observed = Policy::observed;
  static constexpr bool guarded = Policy::guarded;
  static constexpr bool sees_call = Framed || Policy::reads_call;  // else it need not be in memory
  static constexpr bool has_limit = Policy::has_time_budget || Policy::has_attempt_timeout;
  static constexpr bool timed = observed || has_limit || Policy::reports_time;
  static constexpr bool owns_waits =
      !std::is_trivially_destructible_v<CallWaits<Policy>>;  // a user's backoff
  static constexpr bool cleans_up = Resumed || owns_waits || guarded;

 public:
  ENCORE_FORCE_INLINE CallState(const Policy& policy, [[maybe_unused]] const Call& call)
      : unmade_{&policy},
        start_{start_of_first(policy)} {
    if constexpr (guarded) permits_.make();
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
    if constexpr (guarded) release();
  }

  /// Is there something about the call itself to be asked before its first attempt? Looked at before anything else: later, for
  /// all that a compiler knows, a clock read might have changed the call.
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
      return begin_guarded(call);
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
      succeeded_guarded(call);
    else if constexpr (observed)
      made() ? found_here(*this).succeeded_late() : succeeded_first(policy, call);
    else if constexpr (!Policy::rethrows)  // its outcome tells of it
      if (made()) succeeded_late();
  }
  /// What an outcome with a value tells of its call.
  ENCORE_FORCE_INLINE CallFigures figures(const Policy& policy) const {
    if (made()) return figures_late();
    const auto elapsed = started() ? time_between(*started(), policy.clock().now()) : Duration::zero();
    return {StopReason::succeeded, 1, elapsed, Duration::zero(), errors()};
  }

#if defined(__cpp_exceptions)
  /// In the handler: does the exception stay here? Then `waited` says whether another attempt follows.
  template <class Error>
  ENCORE_FORCE_INLINE bool threw(const Error* error, [[maybe_unused]] const Call& call) {
    if constexpr (sees_call)
      return judged_thrown(error, found_here(call));
    else
      return judged_thrown(error);
  }
#endif
  /// The attempt returned a failure: waits, and begins the next attempt. Answers false if there is none. `verdict` as in
  /// `RetryState::returned_failure`.
  template <class Value>
  ENCORE_FORCE_INLINE bool waited_after(const Value& value, StopReason verdict,
                                        [[maybe_unused]] const Call& call) {
    // What fits a register stays in one: its address would put it into memory before every look at it.
    using Passed = std::conditional_t<std::is_scalar_v<Value>, const Value, const Value&>;
    if constexpr (sees_call)
      return judged_value<Passed>(value, verdict, call);
    else
      return judged_value<Passed>(value, verdict);
  }

  /// The same without the wait.
  template <class Value>
  void decide_on_value(const Value& value, StopReason verdict, const Call& call = unseen_call) {
    make_if_needed(call);
    next_ = state().returned_failure(value, verdict);
  }

  /// Waits, if there is a wait, and begins the next attempt. Answers false if the call is over.
  ENCORE_NO_INLINE bool waited() {
    if (!State::waits_after(next_)) return false;
    sleep_through(state().policy(), state(), next_.wait);
#if defined(__cpp_exceptions)
    try {
      return resume();
    } catch (...) {  // from a clock or a guard that breaks: the call is over, and nothing of it stays behind
      state().abandoned();
      throw;
    }
#else
    return resume();
#endif
  }
  const Decision& next() const noexcept { return next_; }
  /// The wait is over: begins the next attempt, or answers false if the call is over.
  bool resume(bool cancelled = false) { return state().resume(cancelled).goes_on(); }

  State& state() noexcept { return state_.get(); }

 private:
  struct Start {
    std::optional<TimePoint> at{};
  };
  struct Errors {
    int count = 0;
  };
  struct NotKept {};
  static_assert(std::is_trivially_destructible_v<CallFrame>);

  auto& permits() noexcept {
    if constexpr (guarded)
      return permits_.get();
    else
      return permits_;
  }
  ENCORE_NO_INLINE void release() {
    using Permits = typename State::Permits;
    permits().~Permits();
  }

  using KeptStart = std::conditional_t<timed, Start, NotKept>;
  ENCORE_FORCE_INLINE static KeptStart start_of_first([[maybe_unused]] const Policy& policy) {
    if constexpr (has_limit || Policy::reports_time) {
      if (Policy::reports_time || policy.time_budget() || policy.attempt_timeout())
        return {policy.clock().now()};
    }
    return {};
  }
  /// The mark of the attempt in which this call is made, for its key. A coroutine, or a fiber, is told by `Call::outer`. (J2)
  ENCORE_FORCE_INLINE static const MarkedAttempt* around([[maybe_unused]] const Policy& policy) noexcept {
    if constexpr (Resumed)
      return nullptr;
    else
      return policy.on_fibers() ? nullptr : innermost_mark;
  }
  bool made() const noexcept { return unmade_ == nullptr; }
  ENCORE_FORCE_INLINE const std::optional<TimePoint>& started() const noexcept {
    if constexpr (timed)
      return start_.at;
    else
      return never_;
  }
  ENCORE_FORCE_INLINE int errors() const noexcept {
    if constexpr (observed)
      return errors_.count;
    else
      return 0;
  }
  ENCORE_FORCE_INLINE static bool is_spent([[maybe_unused]] const Policy& policy) noexcept {
    if constexpr (Policy::has_time_budget)
      return policy.time_budget() == Duration::zero();
    else
      return false;
  }

  ENCORE_FORCE_INLINE bool begin_first(const Policy& policy, [[maybe_unused]] const Call& call) {
    if constexpr (observed && Framed)
      State::tell_first_started(policy, call, start_.at, errors_.count, frame_.get());
    else if constexpr (observed)
      State::tell_first_started(policy, call, start_.at, errors_.count);
    if constexpr (requires { policy.clock().attempt_started(); }) policy.clock().attempt_started();
    return true;
  }
  ENCORE_FORCE_INLINE void succeeded_first(const Policy& policy, const Call& call) {
    if constexpr (Framed)
      State::tell_first_succeeded(policy, call, start_.at, errors_.count, frame_.get());
    else
      State::tell_first_succeeded(policy, call, start_.at, errors_.count);
  }
  ENCORE_NO_INLINE bool begin_guarded(const Call& call) {
    const auto& policy = *unmade_;
    const Now now{policy.clock()};
    const auto refused =
        permits().admit(policy.guards(), State::Permits::request_of(call, 1, Duration::zero(), now));
    if (refused != StopReason::none) {
      make_if_needed(call);
      next_ = state().refused_by_guard(refused);
      return false;
    }
    permits().began(now);
    return begin_first(policy, call);
  }
  ENCORE_NO_INLINE void succeeded_guarded(const Call& call) {
    if (made()) return state().succeeded();
    const auto& policy = *unmade_;
    permits().succeeded(Now{policy.clock()});
    if constexpr (observed) succeeded_first(policy, call);
  }

  ENCORE_NO_INLINE bool begin_now(const Call& call) {
    const auto at = started() ? started() : start_of(*unmade_, call);
    if constexpr (!Framed) frame_.make(*unmade_, call, at, around(*unmade_));
    make(at);
    const auto next = state().begin();
    if constexpr (Policy::waits_when_refused) next_ = next;
    return next.goes_on();
  }
  void make(const std::optional<TimePoint>& started) {
    state_.make(*unmade_, frame_.get(), permits(), started, errors());
    if constexpr (Resumed) state().may_be_cancelled();
    if constexpr (Policy::waits_when_refused) state().driver_waits();
    unmade_ = nullptr;
  }
  void make_if_needed([[maybe_unused]] const Call& call = unseen_call) {
    if (made()) return;
    if constexpr (!Framed) frame_.make(*unmade_, call, started(), around(*unmade_));
    make(started());
  }

  ENCORE_NO_INLINE void succeeded_late() { state().succeeded(); }
  ENCORE_COLD CallFigures figures_late() const { return state_.get().figures(); }
#if defined(__cpp_exceptions)
  template <class Error, class... C>
  ENCORE_COLD bool judged_thrown(const Error* error, const C&... call) {
    make_if_needed(call...);
    const auto matched = lists<typename Policy::PredicateType, Error> && error != nullptr;
    const auto* const known = caught_as_exception(error);
    if (!matched && known == nullptr && std::current_exception() == nullptr) {
      static_cast<void>(state().unwound());
      return false;
    }
    next_ = state().threw(known, matched);
    return State::waits_after(next_) || (!Policy::rethrows && State::strategy_handles(next_.stop));
  }
#endif
  template <class Passed, class... C>
  ENCORE_NO_INLINE bool judged_value(Passed value, StopReason verdict, const C&... call) {
    decide_on_value(value, verdict, call...);
    return waited();
  }

  static constexpr std::optional<TimePoint> never_{};
  const Policy* unmade_;  // until there is a state, which has a reference of its own
  [[no_unique_address]] KeptStart start_;
  [[no_unique_address]] std::conditional_t<observed, Errors, NotKept> errors_;
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
