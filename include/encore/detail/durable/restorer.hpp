// Moves a call between the retry state and its saved form.
#pragma once
#include <encore/backoff.hpp>
#include <encore/decision.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/durable/saved_call.hpp>
#include <encore/duration.hpp>
#include <encore/engine/policy_parts.hpp>
#include <encore/engine/verdict.hpp>
#include <encore/jitter.hpp>
#include <encore/retrying.hpp>
#include <encore/stop_reason.hpp>
#include <encore/thrown.hpp>

#include <optional>

namespace encore ENCORE_BUILD::detail {

/// Gives `DurableCall` access to the state of a call under way.
struct Restorer {
  template <class Policy>
  static void save(const Retrying<Policy>& retrying, const Policy& policy, SavedCall& saved) {
    const auto& state = retrying.state_;
    saved.operation_key = state.frame_.current.idempotency_key();
    saved.attempts = state.attempts();
    saved.key_used = saved.under_way ? state.frame_.notes.key_used() : state.key_was_used_;
    saved.outcome_unknown = state.outcome_.unknown;
    saved.request_id = state.outcome_.request_id.view();
    saved.wait = state.wait_;
    const bool remembered = looks_back<typename PartsOf<Policy>::JitterType> && state.waits_.waits_;
    saved.previous = remembered ? state.waits_.waits_->previous() : delay_of(policy.backoff(), 0);
    saved.slept = state.slept_;
    saved.elapsed = state.elapsed();
    saved.stream = state.waits_.stream_;
  }
  template <class Policy>
  static void restore(Retrying<Policy>& retrying, const Policy& policy, const SavedCall& saved,
                      Duration elapsed) {
    auto& state = retrying.state_;
    state.frame_.attempt.ordinal = saved.attempts;
    state.key_was_used_ = saved.key_used;
    state.outcome_.unknown = saved.outcome_unknown;
    state.outcome_.request_id.assign(saved.request_id);
    state.wait_ = saved.wait;
    using Stage = typename Retrying<Policy>::Stage;
    retrying.stage_ = saved.under_way ? Stage::under_way : Stage::waiting;
    state.slept_ = saved.slept;
    if (state.started_)
      state.frame_.limits.started = state.started_.emplace(later(*state.started_, -elapsed));
    state.waits_.stream_ = saved.stream;
    state.waits_.waits_.emplace(policy.backoff(), saved.attempts - (saved.under_way ? 1 : 0), saved.previous);
    if (!saved.under_way) return;
    state.frame_.attempt.mark_dispatched();
    if (saved.key_used) static_cast<void>(state.frame_.attempt.idempotency_key());
  }
  /// Continues a wait, of which `left` remains, if there may still be an attempt after it: time may have run out, and the policy
  /// may be another one. Guards are asked again, since the permits of the other process are gone. (C6, D3, D4, K1)
  template <class Policy>
  static Decision continue_wait(Retrying<Policy>& retrying, const Policy& policy, Duration left) {
    auto& state = retrying.state_;
    state.wait_began_ = later(policy.clock().now(), left - state.wait_);
    std::optional<Duration> hint;
    Duration wait{};
    auto refused = next_attempt(policy, WaitUnderWay<Policy>{state, left}, hint, wait);
    [[maybe_unused]] auto by_guard = false;
    if constexpr (PartsOf<Policy>::guarded) {
      by_guard = refused == StopReason::none;
      if (by_guard) refused = Guarding<PartsOf<Policy>>::admit(state, state.attempts() + 1, left);
    }
    if (refused == StopReason::none) return {.wait = left};
    state.slept_ = sum_of(state.slept_, shared::larger_of(state.wait_ - left, Duration::zero()));
    if constexpr (PartsOf<Policy>::waits_when_refused) {
      if (by_guard) {
        return Guarding<PartsOf<Policy>>::end_after(state, left, nullptr);
      }
    }
    return state.finish(refused, nullptr);
  }
  template <class Policy>
  static Duration wait_of(const Retrying<Policy>& retrying) noexcept {
    return retrying.state_.wait();
  }
  /// The result of the attempt is unknown: a failure without an exception, with a request that was sent and not answered. (I3)
  template <class Policy>
  static Decision interrupted(Retrying<Policy>& retrying) {
    auto& state = retrying.state_;
    const auto known = state.what_is_known();
    return retrying.ended(state.decide(Thrown{nullptr, known}, nullptr, [] { return StopReason::none; }));
  }

 private:
  // Answers what `next_attempt` asks about a wait that another process chose.
  template <class Policy>
  struct WaitUnderWay {
    const RetryState<PartsOf<Policy>>& state;
    Duration left;
    bool attempts_used_up() const { return state.is_last(); }
    bool stop_requested() const { return state.call().stop.stop_requested(); }
    std::optional<Duration> hint() const { return std::nullopt; }
    Duration wait_after(const std::optional<Duration>&) const { return left; }
    std::optional<Duration> time_left() const { return state.time_left(); }
  };
};

}  // namespace ENCORE_BUILD::detail
