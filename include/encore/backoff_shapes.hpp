// The less common backoffs: linear, Fibonacci, listed and chained.
#pragma once
#include <encore/backoff.hpp>
#include <encore/detail/address_of.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/duration.hpp>
#include <encore/option.hpp>
#include <encore/setting.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

/// `initial_delay + retry * step`, clamped to `min_delay` and `max_delay`.
struct LinearBackoff {
  using role = encore::role::Backoff;
  using Generator = detail::StatelessGenerator<LinearBackoff>;
  Span<"initial_delay"> initial_delay = whole_seconds(1);
  Span<"step"> step = whole_seconds(1);
  WaitSpan<"max_delay"> max_delay = whole_seconds(60);
  WaitSpan<"min_delay"> min_delay = Duration::zero();

  constexpr Duration operator()(int retry) const noexcept {
    const Duration initial = initial_delay, each = step, cap = cap_of(*this);
    if (initial >= cap || (each > Duration::zero() && retry > (cap - initial) / each)) return cap;
    return clamp(initial + shared::larger_of(retry, 0) * each, floor_of(*this), cap);
  }
};
static_assert(Backoff<LinearBackoff>);

/// `initial_delay` times 1, 1, 2, 3, 5, 8 ..., clamped to `min_delay` and `max_delay`.
struct FibonacciBackoff {
  using role = encore::role::Backoff;
  using Generator = detail::StatelessGenerator<FibonacciBackoff>;
  Span<"initial_delay"> initial_delay = whole_seconds(1);
  WaitSpan<"max_delay"> max_delay = whole_seconds(60);
  WaitSpan<"min_delay"> min_delay = Duration::zero();

  constexpr Duration operator()(int retry) const noexcept {
    const Duration initial = initial_delay, cap = cap_of(*this);
    const auto times = numbers[shared::smaller_of(static_cast<std::size_t>(shared::larger_of(retry, 0)),
                                                  numbers.size() - 1)];
    if (initial > Duration::zero() && times > cap / initial) return cap;
    return clamp(initial * times, floor_of(*this), cap);
  }

 private:
  // The last one is, in nanoseconds, longer than the maximum wait.
  static constexpr auto numbers = [] {
    std::array<std::int64_t, 81> sums{1, 1};
    for (std::size_t i = 2; i < sums.size(); ++i) sums[i] = sums[i - 1] + sums[i - 2];
    return sums;
  }();
  static_assert(Duration{numbers.back()} > max_wait);
};
static_assert(Backoff<FibonacciBackoff>);

/// The listed waits, in any units; the last one repeats: `ListedBackoff{100ms, 1s, 5s}`.
template <std::size_t Size>
class ListedBackoff {
 public:
  using role = encore::role::Backoff;
  using Generator = detail::StatelessGenerator<ListedBackoff>;
  template <class... Rep, class... Period>
    requires(sizeof...(Rep) == Size && Size > 0)
  constexpr ListedBackoff(std::chrono::duration<Rep, Period>... delays)
      : delays_{WaitSpan<"delay">{delays}...} {}

  constexpr Duration operator()(int retry) const noexcept {
    const auto index = shared::smaller_of(static_cast<std::size_t>(shared::larger_of(retry, 0)), Size - 1);
    return delays_[index];
  }

 private:
  std::array<WaitSpan<"delay">, Size> delays_;
};
template <class... Rep, class... Period>
ListedBackoff(std::chrono::duration<Rep, Period>...) -> ListedBackoff<sizeof...(Rep)>;
static_assert(Backoff<ListedBackoff<1>>);

/// One backoff for the given number of retries, then another one, counted from its own retry 0:
///   ChainedBackoff{3, ConstantBackoff{.delay = 50ms}, ExponentialBackoff{}}
/// Each keeps its own cap and floor. The second may itself be a chain.
template <Backoff First, Backoff Rest>
class ChainedBackoff {
 public:
  using role = encore::role::Backoff;
  constexpr ChainedBackoff(Count<"retries"> retries, First first, Rest rest)
      : retries_{retries},
        first_(std::move(first)),
        rest_(std::move(rest)) {}

  constexpr Duration operator()(int retry) const {
    return retry < retries_ ? delay_of(first_, retry) : delay_of(rest_, retry - retries_);
  }
  constexpr Duration cap() const { return shared::larger_of(cap_of(first_), cap_of(rest_)); }
  constexpr Duration floor() const { return shared::smaller_of(floor_of(first_), floor_of(rest_)); }
  constexpr Duration cap_at(int retry) const {
    return retry < retries_ ? cap_of(first_, retry) : cap_of(rest_, retry - retries_);
  }
  constexpr Duration floor_at(int retry) const {
    return retry < retries_ ? floor_of(first_, retry) : floor_of(rest_, retry - retries_);
  }

  /// Stores the generators of both in the same memory.
  class Generator {
   public:
    constexpr Generator(const ChainedBackoff& backoff, int retry) {
      if (retry < backoff.retries_)
        std::construct_at(detail::address_of(first_), backoff.first_, retry);
      else
        std::construct_at(detail::address_of(rest_), backoff.rest_, retry - backoff.retries_);
    }
    constexpr Duration next(const ChainedBackoff& backoff, int retry) {
      if (retry < backoff.retries_) return first_.next(backoff.first_, retry);
      if (retry == backoff.retries_) std::construct_at(detail::address_of(rest_), backoff.rest_, 0);
      return rest_.next(backoff.rest_, retry - backoff.retries_);
    }

   private:
    static_assert(std::is_trivially_destructible_v<detail::GeneratorOf<First>> &&
                  std::is_trivially_destructible_v<detail::GeneratorOf<Rest>>);
    union {
      detail::GeneratorOf<First> first_;
      detail::GeneratorOf<Rest> rest_;
    };
  };

 private:
  int retries_;
  [[no_unique_address]] First first_;
  [[no_unique_address]] Rest rest_;
};
static_assert(Backoff<ChainedBackoff<ConstantBackoff, ExponentialBackoff>>);

}  // namespace encore ENCORE_BUILD
