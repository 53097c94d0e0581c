// What a retry budget has saved: deposits that age, and what retries took of them.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/duration.hpp>
#include <encore/guard/tokens.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace encore ENCORE_BUILD::detail {

/// The account of a `RetryBudget`. In every interval [a, b], however long and whatever came before:
///   retries taken <= floor + deposits in [a - memory, b]                                                                   (H4)
/// `made_` and `deposited_` count, in millionths of a token, what retries took and what was ever put in, so `left(made_)`, which is
/// floor + deposited - made, is what is there; a retry that begins finds at least one and takes it. Whoever looks first lets go
/// (in `settle`) of what is more than
///   floor + what was deposited in the last `memory`.                                                                       (1)
/// Let r be the first retry of the interval. The retries in it take what was there at r, which by (1) is no more than floor +
/// deposits in [r - memory, r], and what came later, deposits in [r, b]. Since a <= r, that is no more than floor + deposits in
/// [a - memory, b]. Where nobody looks nothing needs to be let go of: the next deposits would have filled it up again. A deposit is
/// dated at the beginning of its tenth of the memory, which is no later than it was made. `promised_` counts the retries that
/// wait as well, so that no more are admitted than the deposits pay for.
/// Thread-safe. A deposit takes a lock once in each tenth; when the tenth has deposited `most_saved` alone, it writes nothing. (P10)
class RetryAccount {
 public:
  static constexpr Duration least_memory{10};  // a nanosecond for each tenth
  RetryAccount(Tokens share, int floor, Duration memory, int most_saved, int per_second)
      : share_{sum(share)},
        floor_{Tokens{floor}.millionths()},
        most_saved_{Tokens{most_saved}.millionths()},
        tenth_{smaller_of(memory, longest_wait) / tenths},
        per_tenth_{sum(tokens_of(per_second, tenth_))},
        deposited_{sum(tokens_of(per_second, tenth_ * tenths))} {}
  RetryAccount(const RetryAccount&) = delete;
  RetryAccount& operator=(const RetryAccount&) = delete;

  /// Does a deposit change anything?
  bool takes_deposits() const noexcept { return share_ != 0; }
  /// A first attempt: the share is put in, at this time.
  void deposit(TimePoint time) {
    if (!is_in_this_tenth(time)) [[unlikely]]
      turn(time);
    if (between(deposited_.load(std::memory_order_relaxed), full_at_.load(std::memory_order_relaxed)) > 0)
      deposited_.fetch_add(share_, std::memory_order_relaxed);
  }
  /// A retry is admitted, and will wait: false if there is none to promise.
  ENCORE_COLD bool promise(TimePoint time) {
    const std::lock_guard lock{mutex_};
    advance(time);
    if (left(promised_) < one) return false;
    promised_ += one;
    settle();
    return true;
  }
  /// What was promised is taken, if it is still there.
  bool take(TimePoint time) {
    const std::lock_guard lock{mutex_};
    advance(time);
    if (left(made_) < one) return false;
    made_ += one;
    settle();
    return true;
  }
  /// The same whatever is there.
  void take() {
    const std::lock_guard lock{mutex_};
    made_ += one;
    settle();
  }
  /// What was promised is not needed, or what was `taken` is paid back.
  ENCORE_COLD void give_back(bool taken) {
    const std::lock_guard lock{mutex_};
    promised_ -= one;
    if (taken) made_ -= one;
    settle();
  }
  /// How many could be promised now, and the part of the next one that is there.
  double left_at(TimePoint time) {
    const std::lock_guard lock{mutex_};
    advance(time);
    return static_cast<double>(left(promised_)) / one;
  }

 private:
  using Sum = std::uint64_t;  // may wrap: only differences mean anything
  static constexpr std::int64_t one = 1'000'000;
  static constexpr int tenths = 10;

  static Sum sum(Tokens tokens) noexcept { return static_cast<Sum>(tokens.millionths()); }
  static std::int64_t between(Sum from, Sum to) noexcept { return static_cast<std::int64_t>(to - from); }
  static Tokens tokens_of(int per_second, Duration span) noexcept {
    return Tokens{smaller_of(per_second * std::chrono::duration<double>{span}.count(), 2e9)};
  }

  // A thread that read the clock just before another one went on to the next tenth is late, and deposits there.
  bool is_in_this_tenth(TimePoint time) const noexcept {
    const auto left = time_between(time, tenth_ends_.load(std::memory_order_relaxed));
    return left > Duration::zero() && left <= 2 * tenth_;
  }
  ENCORE_COLD void turn(TimePoint time) {
    const std::lock_guard lock{mutex_};
    advance(time);
  }

  // ---- with the lock held ----

  std::int64_t left(Sum spent) const noexcept {
    return floor_ + between(spent, deposited_.load(std::memory_order_relaxed));
  }
  Sum& begin_of_tenth(int number) noexcept { return tenths_[static_cast<std::size_t>(number % tenths)]; }

  // Goes on to the tenth of this time. A clock that was set back begins a new one. (D7)
  void advance(TimePoint time) noexcept {
    const auto ends = tenth_ends_.load(std::memory_order_relaxed);
    if (!is_in_this_tenth(time)) {
      const auto late = time_between(ends, time);
      const auto set_back = time < ends;
      auto steps = late / tenth_ >= tenths ? tenths : static_cast<int>(late / tenth_) + 1;
      if (!started_) steps = 0;
      for (; steps > 0; --steps) {
        newest_ = (newest_ + 1) % tenths;
        begin_of_tenth(newest_) = deposited_.fetch_add(per_tenth_, std::memory_order_relaxed);
      }
      const auto since_its_begin = started_ && !set_back ? late % tenth_ : Duration::zero();
      tenth_ends_.store(later(time, tenth_ - since_its_begin), std::memory_order_relaxed);
      started_ = true;
    }
    settle();
  }
  // Lets go of what has aged, and notes from where on a deposit would change nothing.
  void settle() noexcept {
    const auto all = deposited_.load(std::memory_order_relaxed);
    const auto saved = smaller_of(between(begin_of_tenth(newest_ + 1), all), most_saved_);
    const auto raise = [](Sum& number, Sum least) { number = between(number, least) > 0 ? least : number; };
    raise(made_, all - static_cast<Sum>(saved));
    raise(promised_, made_);
    auto full_at = begin_of_tenth(newest_);
    raise(full_at, promised_);
    full_at_.store(full_at + static_cast<Sum>(most_saved_), std::memory_order_relaxed);
  }

  const Sum share_;
  const std::int64_t floor_;
  const std::int64_t most_saved_;
  const Duration tenth_;
  const Sum per_tenth_;
  std::atomic<Sum> deposited_;
  std::atomic<Sum> full_at_{0};
  std::atomic<TimePoint> tenth_ends_{(TimePoint::min)()};
  std::mutex mutex_;
  Sum made_ = 0;                      // what retries took that have begun, and what has aged
  Sum promised_ = 0;                  // the same with those that wait: never less
  std::array<Sum, tenths> tenths_{};  // what had been deposited when each tenth began
  int newest_ = 0;
  bool started_ = false;
};

}  // namespace ENCORE_BUILD::detail
