// The waits of a call, one after another: how long each is, and how it is slept through.
#pragma once
#include <encore/backoff.hpp>
#include <encore/call.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/detail/random.hpp>
#include <encore/duration.hpp>
#include <encore/jitter.hpp>

#include <cstdint>
#include <optional>
#include <type_traits>

namespace encore ENCORE_BUILD {

/// One call's computed waits in turn, from any retry on: at most 24 bytes beside the 8 of its draws, and a few dozen
/// instructions a wait, with the shapes of this library. It is handed the same backoff and jitter each time. (P9)
template <Backoff B, Jitter J>
class WaitGenerator {
 public:
  constexpr explicit WaitGenerator(const B& backoff, int retry = 0)
      : WaitGenerator{backoff, retry, looks_back<J> ? delay_of(backoff, 0) : Duration{}} {}

  /// The same where the wait before that retry is known, which some jitter looks back on.
  constexpr WaitGenerator(const B& backoff, int retry, Duration previous)
      : delays_{backoff, retry},
        previous_{previous} {}

  /// What the jitter looks back on; nothing unless `looks_back<J>`.
  constexpr Duration previous() const noexcept { return previous_; }
  /// The wait before the next retry; `draw` is in [0, 1), and not looked at unless `draws<J>`. (C2, C8)
  constexpr Duration next(const B& backoff, const J& jitter, double draw) {
    const int retry = delays_.retry();
    const Duration delay = delays_.next(backoff);
    const JitterInput input{.delay = delay,
                            .previous = previous_,
                            .initial = !looks_at_delay<J>    ? delay
                                       : looks_at_initial<J> ? delay_of(backoff, 0)
                                                             : Duration{},
                            .cap = cap_of(backoff, retry),
                            .draw = draw};
    const Duration wait = jittered(jitter, input, floor_of(backoff, retry));
    if constexpr (looks_back<J>) previous_ = wait;
    return wait;
  }
  /// A server's hint takes the place of this wait: the backoff goes on, and what jitter looks back on stays. (E1)
  constexpr void skip(const B& backoff) { delays_.next(backoff); }

 private:
  DelayGenerator<B,
                 std::conditional_t<looks_at_delay<J>, detail::GeneratorOf<B>, detail::GeneratorInPlace<B>>>
      delays_;
  Duration previous_;
};

}  // namespace encore ENCORE_BUILD

namespace encore ENCORE_BUILD::detail {

/// The next of a call's waits. A hint replaces the backoff's delay, but counts as one of its steps. (E1)
template <class Policy, class Waiting>
ENCORE_FORCE_INLINE Duration next_wait(const Policy& policy, Waiting& waits,
                                       const std::optional<Duration>& hint, double draw) {
  if (!hint) return waits.next(policy.backoff(), policy.jitter(), draw);
  waits.skip(policy.backoff());
  return shared::smaller_of(lengthened(*hint, hint_share_of(policy.jitter()), draw), max_wait);
}

/// How long the next wait of a call is. Its backoff and its stream of draws are begun by the first wait, not before.
template <class Policy, class Bits = std::uint64_t>
class CallWaits {
 public:
  Duration next(const Policy& policy, const CurrentCall& current, const std::optional<Duration>& hint) {
    if (!waits_) waits_.emplace(policy.backoff());
    auto draw = 0.0;
    if constexpr (draws<typename Policy::JitterType>) {
      if (!stream_) stream_ = policy.seed() ? stream_of(*policy.seed(), current.id()) : fresh_stream();
      Random random{*stream_};
      draw = random.draw();
      stream_ = random.state();
    }
    return next_wait(policy, *waits_, hint, draw);
  }

 private:
  friend struct Restorer;         // saves a call and brings it back
  std::optional<Bits> stream_{};  // where the draws stand, once there was one
  std::optional<WaitGenerator<typename Policy::BackoffType, typename Policy::JitterType>> waits_{};
};

/// Sleeps through a wait of this call. If an exception ends the sleep, as a thread's forced unwind does, it ends the call
/// too: permits are given back, and observers are notified. (B4, F1, H1)
template <class Policy, class State>
void sleep_through(const Policy& policy, [[maybe_unused]] State& state, Duration wait) {
  if (wait.count() <= 0) return;
#if defined(__cpp_exceptions)
  try {
    policy.clock().sleep_for(wait, state.call().stop);
  } catch (...) {
    state.abandoned();
    throw;
  }
#else
  policy.clock().sleep_for(wait, state.call().stop);
#endif
}

}  // namespace ENCORE_BUILD::detail
