// A random 128-bit id for a process or a run, which keeps call ids that models reuse unique across processes and runs.
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

/// 64 random bits from the operating system. Without an entropy source the program terminates, because a key that is not unique
/// could make a service drop an order as a duplicate. (I2)
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

/// 128 random bits that identify a process or a run, and the source of random draws for its calls' keys. A regular value;
/// `text()` is 32 lower-case hexadecimal digits. (I2)
class Scope {
 public:
  using Draw = std::uint64_t (*)();

  /// A test can replace the source of draws. The default is `system_draw()`, which no seed and no fork repeats.
  ///   const Scope scope{1, 2, [] { return std::uint64_t{7}; }};  // in Call::scope: keys are "…1…2/<call id>/…7"
  constexpr Scope(std::uint64_t high, std::uint64_t low, Draw draws_from = system_draw) noexcept
      : high_{high},
        low_{low},
        draw_{draws_from} {}

  /// A new random scope.
  static Scope random() noexcept { return {system_draw(), system_draw()}; }

  /// This process's scope, the same in every call; generated on first use. A forked process generates its own, even if it gets
  /// a process id that was used before. A library loaded by `dlopen` may have its own too: see `ENCORE_ONE_PER_PROCESS`.
  /// Thread-safe.
  ENCORE_ONE_PER_PROCESS static Scope process() noexcept {
    static constinit Scope scope{0, 0};
    static constinit shared::MadeOnce made{};
    made([] {
      scope = random();
#if __has_include(<sys/random.h>)
      static constinit shared::MadeOnce watches_forks{};  // a forked child inherits the handler
      watches_forks([] { pthread_atfork(nullptr, nullptr, [] { made.forget(); }); });
#endif
    });
    return scope;
  }

  constexpr std::uint64_t high() const noexcept { return high_; }
  constexpr std::uint64_t low() const noexcept { return low_; }
  /// A random draw for the key of a call outside of runs. (I2)
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

/// The process-wide counter, for calls without an id and random streams without a seed. Thread-safe. (L1) A library loaded by
/// `dlopen` may have its own counter (see `ENCORE_ONE_PER_PROCESS`): generated ids can then repeat within the process, so give
/// such calls ids of their own. Idempotency keys still never repeat, because the library's scope differs too.
ENCORE_ONE_PER_PROCESS inline std::uint64_t next_number() noexcept {
  static constinit std::atomic<std::uint64_t> numbers{0};
  return numbers.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace encore
