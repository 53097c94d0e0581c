// The waits of a call, computed before anything runs.
#pragma once
#include <encore/backoff.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>
#include <encore/engine/waits.hpp>
#include <encore/jitter.hpp>
#include <encore/setting.hpp>

#include <cstddef>
#include <iterator>
#include <utility>

namespace encore ENCORE_BUILD {

/// The range of one wait: with the smallest random draw, the median one and the largest.
struct WaitRange {
  Duration min{};
  Duration median{};
  Duration max{};

  friend bool operator==(const WaitRange&, const WaitRange&) = default;
};

/// The wait before one retry, counted from 0, if every random draw is `draw`, in [0, 1). Computes the earlier waits only if the
/// jitter looks back.
template <Backoff B, Jitter J>
constexpr Duration delay_at(const B& backoff, const J& jitter, int retry, double draw) {
  const int first = looks_back<J> ? 0 : retry;
  WaitGenerator<B, J> waits{backoff, first};
  for (int before = first; before < retry; ++before) waits.next(backoff, jitter, draw);
  return waits.next(backoff, jitter, draw);
}

/// The largest possible draw: `Random` draws multiples of 2^-53.
inline constexpr double max_draw = 0x1.fffffffffffffp-1;

/// One wait of a schedule. (C10)
template <Backoff B, Jitter J>
constexpr WaitRange preview(const B& backoff, const J& jitter, int retry) {
  return {.min = delay_at(backoff, jitter, retry, 0.0),
          .median = delay_at(backoff, jitter, retry, 0.5),
          .max = delay_at(backoff, jitter, retry, max_draw)};
}

/// All waits of a call that uses all of its retries, as a range of `WaitRange`, computed during iteration. (C4, C10)
///   static_assert(Schedule{ExponentialBackoff{}, ProportionalJitter{}, 2}.total().max < 3'750ms);
/// With a jitter that looks back, each column depends on itself: a minimum on the previous minimum, and so on.
template <Backoff B, Jitter J>
class Schedule {
 public:
  constexpr Schedule(B backoff, J jitter, Count<"retries"> retries)
      : backoff_{std::move(backoff)},
        jitter_{std::move(jitter)},
        retries_{retries} {}

  /// Single pass; the schedule must outlive it.
  class Iterator {
   public:
    using value_type = WaitRange;
    using difference_type = std::ptrdiff_t;

    constexpr explicit Iterator(const Schedule& schedule)
        : schedule_{&schedule},
          left_{schedule.retries_},
          min_{schedule.backoff_},
          median_{schedule.backoff_},
          max_{schedule.backoff_} {
      look();
    }
    constexpr const WaitRange& operator*() const noexcept { return range_; }
    constexpr Iterator& operator++() {
      --left_;
      look();
      return *this;
    }
    constexpr void operator++(int) { ++*this; }
    friend constexpr bool operator==(const Iterator& iterator, std::default_sentinel_t) noexcept {
      return iterator.left_ == 0;
    }

   private:
    constexpr void look() {
      if (*this == std::default_sentinel) return;
      range_ = {.min = min_.next(schedule_->backoff_, schedule_->jitter_, 0.0),
                .median = median_.next(schedule_->backoff_, schedule_->jitter_, 0.5),
                .max = max_.next(schedule_->backoff_, schedule_->jitter_, max_draw)};
    }
    const Schedule* schedule_;
    int left_;
    WaitGenerator<B, J> min_, median_, max_;
    WaitRange range_{};
  };

  constexpr Iterator begin() const { return Iterator{*this}; }
  constexpr std::default_sentinel_t end() const noexcept { return {}; }
  constexpr std::size_t size() const noexcept { return static_cast<std::size_t>(retries_); }
  constexpr WaitRange operator[](int retry) const { return preview(backoff_, jitter_, retry); }

  /// The sum of all waits, at most `Duration::max()`: the bounds of the total time that such a call waits.
  constexpr WaitRange total() const {
    WaitRange sum;
    for (const WaitRange& wait : *this) {
      sum = {.min = sum_of(sum.min, wait.min),
             .median = sum_of(sum.median, wait.median),
             .max = sum_of(sum.max, wait.max)};
    }
    return sum;
  }

 private:
  B backoff_;
  J jitter_;
  int retries_;
};

}  // namespace encore ENCORE_BUILD
