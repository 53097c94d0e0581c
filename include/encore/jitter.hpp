// How waits are randomised, so that callers that failed together do not retry together.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/duration.hpp>
#include <encore/option.hpp>
#include <encore/setting.hpp>

#include <chrono>
#include <concepts>

namespace encore ENCORE_BUILD {

/// The input of a jitter. All durations lie in [0, max_wait]. (C2, C9)
struct JitterInput {
  Duration delay{};     ///< the backoff's delay, at most the cap
  Duration previous{};  ///< the wait chosen before the previous retry; for the first retry, `initial`
  Duration initial{};   ///< the backoff's delay for the first retry, at most the cap
  Duration cap{};       ///< the maximum wait
  double draw = 0.0;    ///< uniform in [0, 1)
};

/// Computes a wait from a delay and a random draw: a pure function. The result is clamped to floor and cap. (C2, C9) Like a
/// backoff, it must not throw.
///   struct Coin {
///     using role = encore::role::Jitter;
///     constexpr Duration operator()(const JitterInput& in) const { return in.draw < 0.5 ? in.delay / 2 : in.delay; }
///   };
/// It may declare inputs that it does not use, so that they are not computed, as in `static constexpr bool draws = false`:
/// `draws`; `looks_back`, for `previous` (previews then skip the earlier waits); `looks_at_initial`; `looks_at_delay`. It may
/// also have a `hint_share()`.
template <class J>
concept Jitter = shared::HasRole<J, role::Jitter> && requires(const J& jitter, const JitterInput& input) {
  { jitter(input) } -> std::convertible_to<Duration>;
};

/// False for a jitter that needs no random draw; then no generator is seeded.
template <class J>
inline constexpr bool draws = !requires { requires !J::draws; };

/// True for a jitter whose wait depends on the previous wait.
template <class J>
inline constexpr bool looks_back = !requires { requires !J::looks_back; };

/// True for a jitter whose wait depends on the backoff's first delay.
template <class J>
inline constexpr bool looks_at_initial = !requires { requires !J::looks_at_initial; };

/// True for a jitter whose wait depends on the backoff's delay for this retry, not only on the first delay.
template <class J>
inline constexpr bool looks_at_delay = !requires { requires !J::looks_at_delay; };

namespace detail {
constexpr double count(Duration duration) noexcept { return static_cast<double>(duration.count()); }
constexpr Duration between(double least, double most, double draw) noexcept {
  return nearest_duration(least + (most - least) * draw);
}
}  // namespace detail

/// No jitter: the delay itself.
struct NoJitter {
  using role = encore::role::Jitter;
  static constexpr bool draws = false;
  static constexpr bool looks_back = false;
  static constexpr bool looks_at_initial = false;

  constexpr Duration operator()(const JitterInput& input) const noexcept { return input.delay; }
  constexpr double hint_share() const noexcept { return 0.0; }
};
static_assert(Jitter<NoJitter>);

/// Uniform between `at_least` (or the delay, if shorter) and the delay. (AWS Architecture Blog, 2015: full jitter)
struct FullJitter {
  using role = encore::role::Jitter;
  static constexpr bool looks_back = false;
  static constexpr bool looks_at_initial = false;
  Span<"at_least"> at_least = Duration::zero();

  constexpr Duration operator()(const JitterInput& input) const noexcept {
    const double delay = detail::count(input.delay);
    return detail::between(shared::smaller_of(detail::count(at_least), delay), delay, input.draw);
  }
};
static_assert(Jitter<FullJitter>);

/// Uniform between `1 - ratio` and `1 + ratio` times the delay, which is first limited to cap / (1 + ratio). So waits still
/// differ at the cap; otherwise half of them would equal it. (C2)
struct ProportionalJitter {
  using role = encore::role::Jitter;
  static constexpr bool looks_back = false;
  static constexpr bool looks_at_initial = false;
  Share<"ratio"> ratio = 0.25;

  constexpr Duration operator()(const JitterInput& input) const noexcept {
    const double delay =
        shared::smaller_of(detail::count(input.cap) / (1.0 + ratio), detail::count(input.delay));
    return nearest_duration(delay * ((1.0 - ratio) + (ratio + ratio) * input.draw));
  }
  constexpr double hint_share() const noexcept { return ratio; }
};
static_assert(Jitter<ProportionalJitter>);

/// The jitter's wait, clamped to floor and cap, for any jitter; the floor is not negative. (C2)
template <Jitter J>
constexpr Duration jittered(const J& jitter, const JitterInput& input, Duration floor) {
  return clamp(to_duration(jitter(input)), floor, input.cap);
}

/// The maximum share by which jitter may lengthen a server's hint: the jitter's `hint_share()`, else 0.25. (E1)
template <Jitter J>
constexpr double hint_share_of(const J& jitter) {
  if constexpr (requires { static_cast<double>(jitter.hint_share()); })
    return static_cast<double>(jitter.hint_share());
  else
    return 0.25;
}

/// `hint * (1 + share * draw)`, rounded up, and at most `Duration::max()`: never shorter than the hint. If the share is 0,
/// exactly the hint; a hint of 0 stays 0. (E1)
template <std::same_as<double> Share>
constexpr Duration lengthened(Duration hint, Share share, double draw) noexcept {
  if (hint <= Duration::zero() || !(share > 0.0)) return hint;
  return sum_of(hint,
                to_duration(std::chrono::duration<Share, std::nano>{detail::count(hint) * share * draw}));
}

}  // namespace encore ENCORE_BUILD
