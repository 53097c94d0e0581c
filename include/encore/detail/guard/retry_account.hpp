// The account of a retry budget: deposits that expire, and what retries took of them.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/detail/guard/tokens.hpp>
#include <encore/duration.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace encore ENCORE_BUILD::detail {

/// The account of a `RetryBudget`. It holds in every interval [a, b], however long and whatever came before:
///   retries taken <= floor + deposits in [a - memory, b]                                                                   (H4)
/// `taken_` and `deposited_` count, in millionths of a token, what retries took and what was ever deposited, so `left(taken_)`,
/// which is floor + deposited - taken, is the balance. A retry that begins needs a whole token and takes it. Before that, and
/// before anything else reads the balance, `settle` drops what exceeds
///   floor + deposits in the last `memory`.                                                                                 (1)
/// Let r be the first retry of the interval. The retries in it take from the balance at r, which by (1) is at most floor +
/// deposits in [r - memory, r], and from later deposits, those in [r, b]. Since a <= r, the sum is at most floor + deposits in [a
/// - memory, b]. While the balance is not read, nothing needs to be dropped: the next deposits would have filled it up again. A
/// deposit is dated at the beginning of its tenth of the memory, never later than it was made. `reserved_` also counts the
/// waiting retries, so that no more are admitted than the deposits pay for.
/// Thread-safe. A deposit takes a lock once in each tenth; once a tenth has deposited `max_saved` alone, it writes nothing. (P10)
class RetryAccount {
 public:
  static constexpr Duration min_memory{10};  // one nanosecond for each tenth
  RetryAccount(Tokens share, int floor, Duration memory, int max_saved, int per_second)
      : share_{sum(share)},
        floor_{Tokens{floor}.millionths()},
        max_saved_{Tokens{max_saved}.millionths()},
        tenth_{shared::smaller_of(memory, max_wait) / tenths},
        per_tenth_{sum(tokens_of(per_second, tenth_))},
        deposited_{sum(tokens_of(per_second, tenth_ * tenths))} {}
  RetryAccount(const RetryAccount&) = delete;
  RetryAccount& operator=(const RetryAccount&) = delete;

  /// True if a deposit changes anything.
  bool takes_deposits() const noexcept { return share_ != 0; }
  /// For a first attempt: deposits the share at this time.
  void deposit(TimePoint time) {
    if (!is_in_this_tenth(time)) [[unlikely]]
      start_tenth(time);
    if (between(deposited_.load(std::memory_order_relaxed), full_at_.load(std::memory_order_relaxed)) > 0)
      deposited_.fetch_add(share_, std::memory_order_relaxed);
  }
  /// Reserves a token for a retry that will wait; false if there is none left.
  ENCORE_COLD bool reserve(TimePoint time) {
    const std::lock_guard lock{mutex_};
    advance(time);
    if (left(reserved_) < one) return false;
    reserved_ += one;
    settle();
    return true;
  }
  /// Takes a reserved token; false if it has expired.
  bool take(TimePoint time) {
    const std::lock_guard lock{mutex_};
    advance(time);
    if (left(taken_) < one) return false;
    taken_ += one;
    settle();
    return true;
  }
  /// Takes a reserved token even if it has expired.
  void take() {
    const std::lock_guard lock{mutex_};
    taken_ += one;
    settle();
  }
  /// Returns a reserved token, or one that was `taken`.
  ENCORE_COLD void give_back(bool taken) {
    const std::lock_guard lock{mutex_};
    reserved_ -= one;
    if (taken) taken_ -= one;
    settle();
  }
  /// The number of tokens that could be reserved now, with its fraction.
  double left_at(TimePoint time) {
    const std::lock_guard lock{mutex_};
    advance(time);
    return static_cast<double>(left(reserved_)) / one;
  }

 private:
  using Sum = std::uint64_t;  // may wrap around: only differences have a meaning
  static constexpr std::int64_t one = 1'000'000;
  static constexpr int tenths = 10;

  static Sum sum(Tokens tokens) noexcept { return static_cast<Sum>(tokens.millionths()); }
  static std::int64_t between(Sum from, Sum to) noexcept { return static_cast<std::int64_t>(to - from); }
  static Tokens tokens_of(int per_second, Duration span) noexcept {
    return Tokens{shared::smaller_of(per_second * std::chrono::duration<double>{span}.count(), 2e9)};
  }

  // A thread that read the clock just before another one started the next tenth is late, and deposits in that tenth.
  bool is_in_this_tenth(TimePoint time) const noexcept {
    const auto left = time_between(time, tenth_ends_.load(std::memory_order_relaxed));
    return left > Duration::zero() && left <= 2 * tenth_;
  }
  ENCORE_COLD void start_tenth(TimePoint time) {
    const std::lock_guard lock{mutex_};
    advance(time);
  }

  // ---- with the lock held ----

  std::int64_t left(Sum spent) const noexcept {
    return floor_ + between(spent, deposited_.load(std::memory_order_relaxed));
  }
  Sum& begin_of_tenth(int number) noexcept { return tenths_[static_cast<std::size_t>(number % tenths)]; }

  // Moves on to the tenth of this time. A clock that was set back starts a new one. (D7)
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
  // Drops what has expired, and computes the sum above which a deposit would change nothing.
  void settle() noexcept {
    const auto all = deposited_.load(std::memory_order_relaxed);
    const auto saved = shared::smaller_of(between(begin_of_tenth(newest_ + 1), all), max_saved_);
    const auto raise = [](Sum& number, Sum to) { number = between(number, to) > 0 ? to : number; };
    raise(taken_, all - static_cast<Sum>(saved));
    raise(reserved_, taken_);
    auto full_at = begin_of_tenth(newest_);
    raise(full_at, reserved_);
    full_at_.store(full_at + static_cast<Sum>(max_saved_), std::memory_order_relaxed);
  }

  const Sum share_;
  const std::int64_t floor_;
  const std::int64_t max_saved_;
  const Duration tenth_;
  const Sum per_tenth_;
  std::atomic<Sum> deposited_;
  std::atomic<Sum> full_at_{0};
  std::atomic<TimePoint> tenth_ends_{(TimePoint::min)()};
  std::mutex mutex_;
  Sum taken_ = 0;                     // by retries that have begun, and what has expired
  Sum reserved_ = 0;                  // that, and the tokens of waiting retries: never less
  std::array<Sum, tenths> tenths_{};  // `deposited_` at the beginning of each tenth
  int newest_ = 0;
  bool started_ = false;
};

}  // namespace ENCORE_BUILD::detail
