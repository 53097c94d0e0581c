// The waits of a call, one after another as they come.
#pragma once
#include <encore/backoff.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>
#include <encore/jitter.hpp>

#include <type_traits>

namespace encore ENCORE_BUILD {

/// One call's computed waits in turn, from any retry on: at most 24 bytes beside the 8 of its draws, and a few dozen
/// instructions a wait, with the shapes of this library. It is handed the same backoff and jitter each time. (P9)
template <Backoff B, Jitter J>
class Waits {
 public:
  constexpr explicit Waits(const B& backoff, int retry = 0)
      : Waits{backoff, retry, looks_back<J> ? delay_of(backoff, 0) : Duration{}} {}

  /// The same where the wait before that retry is known, which some jitter looks back on.
  constexpr Waits(const B& backoff, int retry, Duration previous)
      : progression_{backoff, retry},
        previous_{previous} {}

  /// What the jitter looks back on; nothing unless `looks_back<J>`.
  constexpr Duration previous() const noexcept { return previous_; }
  /// The wait before the next retry; `draw` is in [0, 1), and not looked at unless `draws<J>`. (C2, C8)
  constexpr Duration next(const B& backoff, const J& jitter, double draw) {
    const int retry = progression_.retry();
    const Duration delay = progression_.next(backoff);
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
  constexpr void skip(const B& backoff) { progression_.next(backoff); }

 private:
  Progression<B, std::conditional_t<looks_at_delay<J>, detail::Running<B>, detail::RunningInPlace<B>>>
      progression_;
  Duration previous_;
};

}  // namespace encore ENCORE_BUILD
