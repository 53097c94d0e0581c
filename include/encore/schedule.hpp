// The waits of a call: one after another as they come, and foreseen before anything runs.
#pragma once
#include <encore/backoff.hpp>
#include <encore/duration.hpp>
#include <encore/jitter.hpp>
#include <encore/setting.hpp>

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace encore {

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

/// A wait as it can turn out: with the least draw, the middle one, and the greatest.
struct WaitRange {
  Duration least{};
  Duration middle{};
  Duration greatest{};

  friend bool operator==(const WaitRange&, const WaitRange&) = default;
};

/// The wait before one retry, from 0, if that draw, in [0, 1), is drawn each time. Goes through all waits before it
/// only if the jitter looks back.
template <Backoff B, Jitter J>
constexpr Duration delay_at(const B& backoff, const J& jitter, int retry, double draw) {
  const int first = looks_back<J> ? 0 : retry;
  Waits<B, J> waits{backoff, first};
  for (int before = first; before < retry; ++before) waits.next(backoff, jitter, draw);
  return waits.next(backoff, jitter, draw);
}

/// The greatest draw there is: `Random` draws multiples of 2^-53.
inline constexpr double greatest_draw = 0x1.fffffffffffffp-1;

/// One wait of a schedule. (C10)
template <Backoff B, Jitter J>
constexpr WaitRange preview(const B& backoff, const J& jitter, int retry) {
  return {.least = delay_at(backoff, jitter, retry, 0.0),
          .middle = delay_at(backoff, jitter, retry, 0.5),
          .greatest = delay_at(backoff, jitter, retry, greatest_draw)};
}

/// All waits of a call that uses up its retries, as a range of `WaitRange`, made while one looks at them. (C4, C10)
///   static_assert(Schedule{ExponentialBackoff{}, ProportionalJitter{}, 2}.total().greatest < 3'750ms);
/// With a jitter that looks back, each column follows itself: the least wait after the least, and so on.
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
          least_{schedule.backoff_},
          middle_{schedule.backoff_},
          greatest_{schedule.backoff_} {
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
      range_ = {.least = least_.next(schedule_->backoff_, schedule_->jitter_, 0.0),
                .middle = middle_.next(schedule_->backoff_, schedule_->jitter_, 0.5),
                .greatest = greatest_.next(schedule_->backoff_, schedule_->jitter_, greatest_draw)};
    }
    const Schedule* schedule_;
    int left_;
    Waits<B, J> least_, middle_, greatest_;
    WaitRange range_{};
  };

  constexpr Iterator begin() const { return Iterator{*this}; }
  constexpr std::default_sentinel_t end() const noexcept { return {}; }
  constexpr std::size_t size() const noexcept { return static_cast<std::size_t>(retries_); }
  constexpr WaitRange operator[](int retry) const { return preview(backoff_, jitter_, retry); }

  /// All of them together, held at the end of the range: the bounds of the whole time that such a call waits.
  constexpr WaitRange total() const {
    WaitRange sum;
    for (const WaitRange& wait : *this) {
      sum = {.least = plus(sum.least, wait.least),
             .middle = plus(sum.middle, wait.middle),
             .greatest = plus(sum.greatest, wait.greatest)};
    }
    return sum;
  }

 private:
  static constexpr Duration plus(Duration sum, Duration wait) noexcept {
    return wait > (Duration::max)() - sum ? (Duration::max)() : sum + wait;
  }
  B backoff_;
  J jitter_;
  int retries_;
};

}  // namespace encore
