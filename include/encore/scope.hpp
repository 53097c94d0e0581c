// A random 128-bit name for a process or a run, so that ids which models reuse stay unique beyond it.
#pragma once
#include <encore/attributes.hpp>
#include <encore/hexadecimal.hpp>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#if __has_include(<sys/random.h>)
#include <sys/random.h>
#include <unistd.h>
#else
#include <random>
#endif

namespace encore {

/// 128 random bits from the operating system. A regular value; `text()` is 32 lower-case hexadecimal digits. (I2)
class Scope {
 public:
  constexpr Scope(std::uint64_t high, std::uint64_t low) noexcept : high_{high}, low_{low} {}

  /// A new one. Without an entropy source the program is ended: a key that is not unique could lose an order.
  static Scope random() noexcept {
    std::uint64_t bits[2]{};
#if __has_include(<sys/random.h>)
    if (getentropy(bits, sizeof bits) != 0) std::abort();
#else
    std::random_device device;
    for (auto& word : bits) word = std::uint64_t{device()} << 32 | device();
#endif
    return {bits[0], bits[1]};
  }

  /// This process's own, the same each time; made when first asked for. A process that was forked afterwards has another:
  /// two that share one would take each other's orders for repetitions. Thread-safe.
  ENCORE_ONE_PER_PROCESS static Scope process() noexcept {
    static const Scope scope = random();
#if __has_include(<sys/random.h>)
    return {scope.high_, scope.low_ ^ static_cast<std::uint64_t>(getpid())};
#else
    return scope;
#endif
  }

  constexpr std::uint64_t high() const noexcept { return high_; }
  constexpr std::uint64_t low() const noexcept { return low_; }

  std::string text() const {
    auto digits = detail::hexadecimal(high_);
    digits += detail::hexadecimal(low_);
    return digits;
  }

  friend constexpr bool operator==(const Scope&, const Scope&) noexcept = default;

 private:
  std::uint64_t high_;
  std::uint64_t low_;
};

/// The process's one counter: numbers calls without an id, and streams without a seed. Thread-safe. (L1)
ENCORE_ONE_PER_PROCESS inline std::uint64_t next_number() noexcept {
  static constinit std::atomic<std::uint64_t> numbers{0};
  return numbers.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace encore
