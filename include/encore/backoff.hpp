// How long to wait before a retry, without jitter: the Backoff concept, and the two most common backoffs.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/duration.hpp>
#include <encore/option.hpp>
#include <encore/setting.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>

namespace encore ENCORE_BUILD {

/// Returns how long to wait before retry `retry`, counted from 0, without jitter: a pure function, the same for every call and
/// thread. The policy clamps the result to the backoff's floor and cap. (C2, C9) It must not throw: the exception would
/// propagate in place of the failure, and observers would not get the end of the call.
///   struct Patient {
///     using role = encore::role::Backoff;
///     constexpr Duration operator()(int retry) const { return retry * 1s; }
///   };
template <class B>
concept Backoff = shared::HasRole<B, role::Backoff> && requires(const B& backoff, int retry) {
  { backoff(retry) } -> std::convertible_to<Duration>;
};

/// A wait as a setting: values over `max_wait` are lowered to it before any arithmetic. (C7)
template <FieldName Field>
class WaitSpan : public Span<Field> {
 public:
  template <class Rep, class Period>
  constexpr WaitSpan(std::chrono::duration<Rep, Period> value)
      : Span<Field>{shared::smaller_of<Duration>(Span<Field>{value}, max_wait)} {}
  template <class Number>
    requires std::is_arithmetic_v<Number>
  constexpr WaitSpan(Number value) : Span<Field>{value} {}  // invalid: reported by Span
};

namespace detail {
template <class W>
  requires requires(const W& wait) { to_duration(wait); }
constexpr Duration possible_wait(const W& wait) noexcept {
  return clamp(to_duration(wait), Duration::zero(), max_wait);
}
template <FieldName Field>
constexpr Duration possible_wait(const WaitSpan<Field>& wait) noexcept {
  return wait;
}
}  // namespace detail

/// The maximum wait, jitter included: the backoff's `cap()`, else its `max_delay`, both at most `max_wait`; else `max_wait`.
/// (C2, C7)
template <Backoff B>
constexpr Duration cap_of(const B& backoff) {
  if constexpr (requires { detail::possible_wait(backoff.cap()); })
    return detail::possible_wait(backoff.cap());
  else if constexpr (requires { detail::possible_wait(backoff.max_delay); })
    return detail::possible_wait(backoff.max_delay);
  else
    return max_wait;
}
/// The minimum wait, jitter included: the backoff's `floor()`, else its `min_delay`, else 0. A cap below the floor wins. (C2)
template <Backoff B>
constexpr Duration floor_of(const B& backoff) {
  if constexpr (requires { detail::possible_wait(backoff.floor()); })
    return detail::possible_wait(backoff.floor());
  else if constexpr (requires { detail::possible_wait(backoff.min_delay); })
    return detail::possible_wait(backoff.min_delay);
  else
    return Duration::zero();
}

/// Cap and floor at one retry, for a backoff whose limits change from retry to retry: it has `cap_at` and `floor_at`.
template <Backoff B>
constexpr Duration cap_of(const B& backoff, int retry) {
  if constexpr (requires { detail::possible_wait(backoff.cap_at(retry)); })
    return detail::possible_wait(backoff.cap_at(retry));
  else
    return cap_of(backoff);
}
template <Backoff B>
constexpr Duration floor_of(const B& backoff, int retry) {
  if constexpr (requires { detail::possible_wait(backoff.floor_at(retry)); })
    return detail::possible_wait(backoff.floor_at(retry));
  else
    return floor_of(backoff);
}

/// The wait before one retry, clamped to floor and cap: the wait of a policy without jitter. (C1, C2)
template <Backoff B>
constexpr Duration delay_of(const B& backoff, int retry) {
  return clamp(detail::possible_wait(backoff(retry)), floor_of(backoff, retry), cap_of(backoff, retry));
}

namespace detail {
template <class B>
struct GeneratorByNumber {
  constexpr GeneratorByNumber(const B&, int) noexcept {}
  constexpr Duration next(const B& backoff, int retry) const { return delay_of(backoff, retry); }
};
// For a backoff whose result already lies between its floor and cap.
template <class B>
struct StatelessGenerator {
  constexpr StatelessGenerator(const B&, int) noexcept {}
  constexpr Duration next(const B& backoff, int retry) const noexcept { return backoff(retry); }
};
template <class B>
GeneratorByNumber<B> generator_form();
template <class B>
  requires requires { typename B::Generator; }
typename B::Generator generator_form();
template <class B>
using GeneratorOf = decltype(generator_form<B>());
// Always the first delay. Stored, because computing it at each draw was a third of the cost of decorrelated jitter.
template <class B>
struct GeneratorInPlace {
  Duration first;
  constexpr GeneratorInPlace(const B& backoff, int) : first{delay_of(backoff, 0)} {}
  constexpr Duration next(const B&, int) const noexcept { return first; }
};
}  // namespace detail

/// A backoff's delays one after another, starting at any retry; at most 16 bytes of state with the backoffs below. (P9)
/// A backoff that can compute the next delay from the one before has a nested type `Generator`, constructed from (backoff,
/// retry). Its `next(backoff, retry)` is called for each retry in turn and returns what `delay_of` would.
template <Backoff B, class Generator = detail::GeneratorOf<B>>
class DelayGenerator {
 public:
  constexpr explicit DelayGenerator(const B& backoff, int retry = 0)
      : retry_{shared::larger_of(retry, 0)},
        generator_{backoff, this->retry()} {}
  /// Returns the delay before `retry()` and moves on to the next retry.
  constexpr Duration next(const B& backoff) {
    const int retry = this->retry();
    ++retry_;
    return generator_.next(backoff, retry);
  }
  constexpr int retry() const noexcept {
    return static_cast<int>(shared::smaller_of<std::int64_t>(retry_, (std::numeric_limits<int>::max)()));
  }

 private:
  std::int64_t retry_;  // wide, so that unlimited retries cannot overflow it
  [[no_unique_address]] Generator generator_;
};

/// The factor of an exponential backoff, at least 0. 0 is stored as 1, which means a constant delay; a factor over `enough` is
/// stored as `enough`, which already takes one nanosecond past the maximum wait in one step.
template <FieldName Field>
class GrowthFactor {
 public:
  static constexpr double enough = 1e17;

  constexpr GrowthFactor(double value) : value_{NonNegative<Field>{value}} {
    value_ = value_ > 0.0 ? shared::smaller_of(value_, enough) : 1.0;
  }
  constexpr operator double() const noexcept { return value_; }

 private:
  double value_;
};

/// `initial_delay * factor^retry`, clamped to `min_delay` and `max_delay` from the first wait on. Factor 0 means constant, a
/// factor below 1 shrinks. Rounded to the nearest nanosecond; over 104 days accurate to one part in 2^53. (C1, A1)
struct ExponentialBackoff {
  using role = encore::role::Backoff;
  Span<"initial_delay"> initial_delay = whole_seconds(1);
  GrowthFactor<"factor"> factor = 2.0;
  WaitSpan<"max_delay"> max_delay = whole_seconds(60);
  WaitSpan<"min_delay"> min_delay = Duration::zero();

  constexpr Duration operator()(int retry) const noexcept {
    return Generator{*this, retry}.next(*this, retry);
  }

  /// One multiplication per delay. Started at a later retry it multiplies step by step too, so that results agree to the
  /// nanosecond; if a factor close to 1 is still growing after `in_turn` steps, it uses powers for the rest.
  class Generator {
   public:
    constexpr Generator(const ExponentialBackoff& backoff, int retry) noexcept
        : nanoseconds_{
              shared::smaller_of(static_cast<double>(Duration{backoff.initial_delay}.count()), horizon)} {
      for (int step = shared::smaller_of(retry, in_turn); step > 0; --step) {
        const double before = nanoseconds_;
        nanoseconds_ = shared::smaller_of(horizon, nanoseconds_ * backoff.factor);
        if (nanoseconds_ == before) return;  // it never changes again
      }
      double power = backoff.factor;
      for (int rest = retry - in_turn; rest > 0;
           rest /= 2, power = shared::smaller_of(power * power, backoff.factor.enough))
        if (rest % 2 == 1) nanoseconds_ = shared::smaller_of(horizon, nanoseconds_ * power);
    }
    constexpr Duration next(const ExponentialBackoff& backoff, int) noexcept {
      const Duration now = nearest_duration(nanoseconds_);
      nanoseconds_ = shared::smaller_of(horizon, nanoseconds_ * backoff.factor);
      return clamp(now, floor_of(backoff), cap_of(backoff));
    }

   private:
    static constexpr int in_turn = 1024;
    static constexpr double horizon = 0x1.fffffffffffffp62;  // ns, the largest that fits a Duration
    double nanoseconds_;
  };
};
static_assert(Backoff<ExponentialBackoff>);

/// The same wait before each retry.
struct ConstantBackoff {
  using role = encore::role::Backoff;
  using Generator = detail::StatelessGenerator<ConstantBackoff>;
  WaitSpan<"delay"> delay = whole_seconds(1);

  constexpr Duration operator()(int) const noexcept { return delay; }
};
static_assert(Backoff<ConstantBackoff>);

}  // namespace encore ENCORE_BUILD
