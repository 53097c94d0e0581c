// A random 128-bit name for a process or a run, so that ids which models reuse stay unique beyond it.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/hexadecimal.hpp>
#include <encore/detail/made_once.hpp>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#if __has_include(<sys/random.h>)
#include <pthread.h>
#include <sys/random.h>
#else
#include <random>
#endif

namespace encore {

/// 64 random bits from the operating system. Without an entropy source the program is ended: a key that is not unique could
/// lose an order. (I2)
inline std::uint64_t system_draw() noexcept {
#if __has_include(<sys/random.h>)
  std::uint64_t bits{};
  if (getentropy(&bits, sizeof bits) != 0) std::abort();
  return bits;
#else
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
#endif
}

/// 128 random bits that name a process or a run, and where its calls' keys get their draws from. A regular value; `text()` is 32
/// lower-case hexadecimal digits. (I2)
class Scope {
 public:
  using Draw = std::uint64_t (*)();

  /// A test may say what is drawn; else it is `system_draw()`, which no seed and no fork repeats.
  ///   const Scope scope{1, 2, [] { return std::uint64_t{7}; }};  // in Call::scope: keys are "…1…2/<call id>/…7"
  constexpr Scope(std::uint64_t high, std::uint64_t low, Draw draws_from = system_draw) noexcept
      : high_{high},
        low_{low},
        draw_{draws_from} {}

  /// A new one.
  static Scope random() noexcept { return {system_draw(), system_draw()}; }

  /// This process's own, the same each time; made when first asked for. A process that was forked afterwards makes another,
  /// even if it was given a process id that another one had. So may a library that was loaded by `dlopen`: see
  /// `ENCORE_ONE_PER_PROCESS`. Thread-safe.
  ENCORE_ONE_PER_PROCESS static Scope process() noexcept {
    static constinit Scope scope{0, 0};
    static constinit shared::MadeOnce made{};
    made([] {
      scope = random();
#if __has_include(<sys/random.h>)
      static constinit shared::MadeOnce watches_forks{};  // a fork takes the handler along
      watches_forks([] { pthread_atfork(nullptr, nullptr, [] { made.forget(); }); });
#endif
    });
    return scope;
  }

  constexpr std::uint64_t high() const noexcept { return high_; }
  constexpr std::uint64_t low() const noexcept { return low_; }
  /// For the key of a call outside of runs. (I2)
  std::uint64_t draw() const noexcept { return draw_(); }

  std::string text() const {
    auto digits = shared::hexadecimal(high_);
    digits += shared::hexadecimal(low_);
    return digits;
  }

  friend constexpr bool operator==(const Scope& a, const Scope& b) noexcept {
    return a.high_ == b.high_ && a.low_ == b.low_;
  }

 private:
  std::uint64_t high_;
  std::uint64_t low_;
  Draw draw_;
};

/// The process's one counter: numbers calls without an id, and streams without a seed. Thread-safe. (L1) A library that was loaded by
/// `dlopen` may count for itself (see `ENCORE_ONE_PER_PROCESS`): ids made there then repeat those made elsewhere in the process, so
/// give such calls ids of their own. No idempotency key repeats: the library's scope is another then, too.
ENCORE_ONE_PER_PROCESS inline std::uint64_t next_number() noexcept {
  static constinit std::atomic<std::uint64_t> numbers{0};
  return numbers.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace encore
