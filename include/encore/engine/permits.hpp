// The permits of one call: taken before an attempt, notified how it ended, and always given back.
#pragma once
#include <encore/call.hpp>
#include <encore/clock.hpp>
#include <encore/decision.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/detail/pack.hpp>
#include <encore/engine/options_check.hpp>
#include <encore/guard/guard.hpp>
#include <encore/option.hpp>
#include <encore/refused.hpp>
#include <encore/returned.hpp>
#include <encore/stop_reason.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD::detail {

/// Did a call that made an attempt and did not succeed fail by itself? Else its caller stopped it.
constexpr bool is_failure_of_the_call(StopReason reason) noexcept {
  return reason != StopReason::none && reason != StopReason::succeeded && reason != StopReason::cancelled;
}

/// Of a failure that is never retried: was the attempt stopped before it could show anything about its dependency, by its caller or
/// by the refusal of a policy within?
inline bool says_stopped(const Thrown& failure) {
  return failure.is<Cancelled>() || failure.is<Refused>() ||
         (carries_cancelled_code(failure) && was_cancelled(failure.attempt()));
}
template <class Value>
bool says_stopped(const Returned<Value>& failure) {
  return is_unretryable(failure) || (carries_cancelled_code(failure) && was_cancelled(failure.attempt));
}

/// The permits of one call, one place for each guard. Whatever is left when it is destroyed is returned unspent. (H1)
template <class... G>
class Permits {
 public:
  /// What the guards of a call are asked before one of its attempts.
  ENCORE_FORCE_INLINE static AdmissionRequest request_of(const Call& call, int ordinal, Duration ahead,
                                                         const Now& now) noexcept {
    return {call.id, call.resolved_name.empty() ? call.name : call.resolved_name, ordinal, ahead, now};
  }

  /// Does one of the guards look at such a failure, before the retry that answers it?
  template <class Failed>
  static constexpr bool looks_at = (LooksAt<std::remove_cvref_t<G>, Failed> || ...);
  /// Asks every guard in turn; at the first refusal those before it are released, and its reason is the answer. `failure`: what
  /// the retry answers, if it is known.
  template <class Guards, class... Failed>
  StopReason admit(const Guards& guards, const AdmissionRequest& request, const Failed&... failure) {
    return admit(Indices{}, guards, request, failure...);
  }
  void began(const Now& now) {
    each([&](auto& permit, auto) {
      if constexpr (requires { permit.began(now); }) permit.began(now);
    });
  }
  /// The wait before the next attempt is over: guards are asked again, unless the call ends anyway for `reason`.
  void waited(StopReason& reason, const Now& now) {
    each([&](auto& permit, auto guard) {
      using Asked = typename decltype(guard)::type;
      if constexpr (!is_per_call<Asked> && requires { permit.still_admitted(now); }) {
        if (reason == StopReason::none && !permit.still_admitted(now)) reason = Asked::refusal;
      }
    });
    if (reason != StopReason::none) release_attempt();
  }
  /// The longest time that a guard with this refusal reports until it may admit again.
  template <class Guards>
  static std::optional<Duration> admits_again(const Guards& guards, StopReason refused,
                                              const AdmissionRequest& request) {
    std::optional<Duration> longest;
    [[maybe_unused]] const auto ask = [&]<class Asked>(std::type_identity<Asked>, const auto& guard) {
      if constexpr (requires { guard.admits_again(request); }) {
        if (Asked::refusal != refused) return;
        const auto its = guard.admits_again(request);
        if (its && (!longest || *longest < *its)) longest = its;
      }
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (ask(std::type_identity<std::remove_cvref_t<G>>{}, at<I>(guards).get()), ...);
    }(Indices{});
    return longest;
  }
  /// An attempt that was cancelled, or refused by a policy within, says nothing of the dependency: its permits come back
  /// unspent, and so do the call's. (H1, H3)
  template <class Failed>
  void attempt_failed(const Now& now, StopReason verdict, const Failed& failure) {
    const auto not_retried = verdict == StopReason::not_retryable || verdict == StopReason::never_retry_type;
    if (not_retried && says_stopped(failure)) return release();
    shows_ = verdict == StopReason::none                    ? Shows::trouble
             : not_retried && !std::same_as<Failed, Thrown> ? Shows::that_it_lives
                                                            : Shows::no_more;
    settle<false>([&](auto& permit) { report(permit, now); });
  }
  void succeeded(const Now& now) {
    settle<false>([&](auto& permit) { permit.succeeded(now); });
    settle<true>([&](auto& permit) { permit.succeeded(now); });
  }
  /// The call is over without a success: reported to the guards that are asked once a call, if it failed by itself, whoever
  /// refused the next attempt; what counts is what its last failure showed. (H3)
  void call_failed(const Now& now, StopReason reason) {
    if (is_failure_of_the_call(reason)) settle<true>([&](auto& permit) { report(permit, now); });
  }
  void call_ended(const Now& now, StopReason reason) {
    call_failed(now, reason);
    release();
  }
  /// Returns all of them unspent. Out of line: inlined at -O3, GCC 12 warns that an empty one may be uninitialised.
  ENCORE_COLD void release() {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (at<I>(permits_).reset(), ...); }(Indices{});
  }
  /// Returns what was taken for one attempt and not spent; the call's own permits stay.
  void release_attempt() {
    settle<false>([](auto&) {});
  }

 private:
  /// What a failed attempt shows of its dependency.
  enum class Shows : std::uint8_t {
    trouble,       ///< the policy would retry it; and a restored call waits to be tried again
    no_more,       ///< it would not
    that_it_lives  ///< it would not, and the failure was returned: it is an answer
  };
  using Indices = std::index_sequence_for<G...>;

  template <std::size_t... I, class Guards, class... Failed>
  StopReason admit(std::index_sequence<I...>, const Guards& guards, const AdmissionRequest& request,
                   const Failed&... failure) {
    auto refused = StopReason::none;
    (void)(take<G>(at<I>(permits_), at<I>(guards).get(), refused, request, failure...) && ...);
    if (refused != StopReason::none) release_attempt();
    return refused;
  }
  template <class Asked, class Slot, class Place, class... Failed>
  static bool take(Slot& slot, Place& guard, StopReason& refused, const AdmissionRequest& request,
                   const Failed&... failure) {
    if constexpr (is_per_call<Asked>) {
      if (request.is_retry()) return true;
    }
    if (auto permit = ask(guard, request, failure...))
      slot.emplace(*std::move(permit));
    else
      refused = std::remove_cvref_t<Asked>::refusal;
    return refused == StopReason::none;
  }
  template <class Permit>
  void report(Permit& permit, const Now& now) const {
    if constexpr (requires { permit.answered(now); }) {
      if (shows_ == Shows::that_it_lives) return permit.answered(now);
    }
    permit.failed(now, shows_ == Shows::trouble);
  }
  template <class Place, class... Failed>
  static auto ask(Place& guard, const AdmissionRequest& request, const Failed&... failure) {
    if constexpr ((LooksAt<Place, Failed> && ...))
      return guard.admit(request, failure...);
    else
      return guard.admit(request);
  }
  template <class F>
  void each(F&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((at<I>(permits_) ? f(*at<I>(permits_), std::type_identity<std::remove_cvref_t<G>>{}) : void()), ...);
    }(Indices{});
  }
  template <bool PerCall, class F>
  void settle(F&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (settle_one<PerCall, G>(at<I>(permits_), f), ...);
    }(Indices{});
  }
  template <bool PerCall, class Asked, class Slot, class F>
  static void settle_one(Slot& slot, F& f) {
    if constexpr (is_per_call<Asked> == PerCall) {
      if (!slot) return;
      f(*slot);
      slot.reset();
    }
  }

  Pack<std::optional<typename std::remove_cvref_t<G>::Permit>...> permits_{};
  Shows shows_ = Shows::trouble;
};

template <class... G>
  requires(sizeof...(G) > 0)
struct permits_for<Pack<Storage<G>...>> {
  static_assert((Guard<std::remove_cvref_t<G>> && ...),
                "this guard does not satisfy encore::Guard: it needs a move-only `Permit` with "
                "`succeeded(now)` and `failed(now, "
                "retryable)`, a `refusal`, and `std::optional<Permit> admit(const AdmissionRequest&)`");
  using type = Permits<G...>;
};

template <class Seen>
inline constexpr bool keeps_promise<Seen, role::Guard> = Guard<Seen>;

/// What guards add to a call. `State` is its retry state, `Early` what there is of it before the first failure.
template <class Policy>
struct Guarding {
  using Permits = typename permits_for<typename Policy::Guards>::type;

  /// Asks the guards about an attempt, of which `after` is the failure that it would retry.
  template <class State, class... Failed>
  static StopReason admit(State& state, int ordinal, Duration ahead, const Failed&... after) {
    const auto& guards = state.policy_.guards();
    const auto request = Permits::request_of(state.call(), ordinal, ahead, state.now());
    auto refused = StopReason::none;
    if constexpr ((Permits::template looks_at<Failed> && ...))
      refused = state.permits_.admit(guards, request, after...);
    else
      refused = state.permits_.admit(guards, request);
    if constexpr (Policy::waits_when_refused) state.refused_ = refused;
    return refused;
  }
  /// The first attempt is not admitted.
  template <class State>
  static Decision refuse(State& state, StopReason reason) {
    if constexpr (!Policy::waits_when_refused) {
      return state.refuse(reason);
    } else {
      state.permits_.release();
      state.refused_ = reason;
      const auto wait = state.waits_.next(state.policy_, state.frame_.current, std::nullopt);
      const auto left = state.time_left();
      state.frame_.attempt.ordinal = 0;
      return end_after(state, left ? smaller_of(wait, *left) : wait, nullptr);
    }
  }
  /// The call ends as refused after the wait that it would have had, and its permits are given back before. A driver that may not
  /// resume it ends it with this decision. (H10)
  template <class State>
  static Decision end_after(State& state, Duration wait, const Thrown* thrown) {
    const auto reason = state.refused_;
    if (state.driver_waits_ && wait.count() > 0) {
      state.permits_.call_ended(state.now(), reason);
      state.wait_for(wait);
    } else {
      state.slept_ = sum_of(state.slept_, wait);
      state.finish(reason, thrown);
    }
    return {.stop = reason, .wait = wait};
  }
  /// How long from now the guards that refused the call will refuse another.
  template <class State>
  static std::optional<Duration> admits_again(const State& state) {
    return state.permits_.admits_again(
        state.policy_.guards(), state.reason_,
        Permits::request_of(state.call(), state.attempts() + 1, {}, state.now()));
  }

  template <class Early>
  ENCORE_NO_INLINE static bool begin(Early& early, const Call& call) {
    const Policy& policy = *early.policy_;
    const Now now{policy.clock()};
    const auto refused =
        early.permits_.get().admit(policy.guards(), Permits::request_of(call, 1, Duration::zero(), now));
    if (refused != StopReason::none) {
      early.next_ = refuse(early.made_state(call), refused);
      return false;
    }
    early.permits_.get().began(now);
    return early.begin_first(policy, call);
  }
  template <class Early>
  ENCORE_NO_INLINE static void succeeded(Early& early, const Call& call) {
    if (early.made()) return early.state().succeeded();
    const Policy& policy = *early.policy_;
    early.permits_.get().succeeded(Now{policy.clock()});
    if constexpr (Policy::observed) early.succeeded_first(policy, call);
  }
  ENCORE_NO_INLINE static void release(Permits& permits) { permits.~Permits(); }
};

}  // namespace ENCORE_BUILD::detail
