// So many in each span of time, whatever else happens.
#pragma once
#include <encore/duration.hpp>
#include <encore/extremes.hpp>

#include <atomic>

namespace encore {

/// Allows `count` at once, and grows back evenly: one each `period / count`, never to more than `count`. Its whole state is
/// the moment at which it will be complete again (the generic cell rate algorithm of ITU-T I.371). Thread-safe, no lock.
class Allowance {
 public:
  /// `count` 0 allows nothing, `period` 0 everything.
  Allowance(int count, Duration period) noexcept
      : each_{count > 0 ? smaller_of(period, longest_wait) / count : Duration{}},
        all_{each_ * count},
        allows_nothing_{count <= 0} {}
  Allowance(const Allowance&) = delete;
  Allowance& operator=(const Allowance&) = delete;

  bool allows_nothing() const noexcept { return allows_nothing_; }

  bool take(TimePoint now) noexcept {
    if (allows_nothing_) return false;
    auto complete_at = complete_at_.load(std::memory_order_relaxed);
    TimePoint next;
    bool allowed;
    do {
      // Never is more than all of it missing, so that nobody waits longer because the clock was set back. (D7)
      const auto missing = smaller_of(time_between(now, complete_at), all_);
      allowed = missing + each_ <= all_;
      next = later(now, allowed ? missing + each_ : missing);
    } while (next != complete_at &&
             !complete_at_.compare_exchange_weak(complete_at, next, std::memory_order_relaxed));
    return allowed;
  }
  /// What was taken was not used.
  void give_back() noexcept {
    auto complete_at = complete_at_.load(std::memory_order_relaxed);
    while (!complete_at_.compare_exchange_weak(complete_at, later(complete_at, -each_),
                                               std::memory_order_relaxed)) {}
  }

 private:
  const Duration each_;
  const Duration all_;
  const bool allows_nothing_;
  std::atomic<TimePoint> complete_at_{(TimePoint::min)()};
};

}  // namespace encore
