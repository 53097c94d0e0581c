// Thread-safe lazy initialisation in one byte.
#pragma once
#include <atomic>
#include <cstdint>

namespace encore::shared {

/// A flag like `std::once_flag`. Thread-safe: while one thread initialises, the others wait.
class MadeOnce {
 public:
  constexpr MadeOnce() noexcept = default;
  MadeOnce(const MadeOnce&) = delete;
  MadeOnce& operator=(const MadeOnce&) = delete;

  /// Calls `make()` unless it has been called.
  template <class Make>
  void operator()(Make make) noexcept {
    std::uint8_t expected = not_made;
    if (state_.load(std::memory_order_acquire) == made) return;
    if (state_.compare_exchange_strong(expected, being_made, std::memory_order_acquire)) {
      make();
      state_.store(made, std::memory_order_release);
      state_.notify_all();
    } else {
      state_.wait(being_made, std::memory_order_acquire);
    }
  }
  /// The next use calls `make()` again. Not thread-safe.
  void forget() noexcept { state_.store(not_made, std::memory_order_relaxed); }

 private:
  enum Making : std::uint8_t { not_made, being_made, made };
  std::atomic<std::uint8_t> state_{not_made};
};

}  // namespace encore::shared
