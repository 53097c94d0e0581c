// A bucket of tokens that many threads share.
#pragma once
#include <encore/extremes.hpp>
#include <encore/guard/tokens.hpp>

#include <atomic>

namespace encore {

/// A bucket with a bottom and a rim: what would overflow is lost. Thread-safe, without a lock.
/// Adding to a full bucket writes nothing, so that threads that all succeed do not disturb each other. (P10)
class TokenBucket {
 public:
  TokenBucket(Tokens capacity, Tokens content) noexcept
      : capacity_{capacity},
        content_{smaller_of(content, capacity)} {}
  TokenBucket(const TokenBucket&) = delete;
  TokenBucket& operator=(const TokenBucket&) = delete;

  Tokens content() const noexcept { return content_.load(std::memory_order_relaxed); }
  Tokens capacity() const noexcept { return capacity_; }

  void add(Tokens tokens) noexcept {
    if (tokens == Tokens{}) return;
    auto content = content_.load(std::memory_order_relaxed);
    while (!replace(content, smaller_of(content + tokens, capacity_))) {}
  }
  /// Takes as many if there are `least`, which is no less than that; else nothing.
  bool take(Tokens tokens, Tokens least) noexcept {
    auto content = content_.load(std::memory_order_relaxed);
    do {
      if (content < least) return false;
    } while (!replace(content, content - tokens));
    return true;
  }
  /// Takes as many, or what is left.
  void drain(Tokens tokens) noexcept {
    auto content = content_.load(std::memory_order_relaxed);
    while (!replace(content, larger_of(content - tokens, Tokens{}))) {}
  }

 private:
  bool replace(Tokens& expected, Tokens desired) noexcept {
    return expected == desired ||
           content_.compare_exchange_weak(expected, desired, std::memory_order_relaxed);
  }

  const Tokens capacity_;
  std::atomic<Tokens> content_;
};
static_assert(std::atomic<Tokens>::is_always_lock_free);

}  // namespace encore
