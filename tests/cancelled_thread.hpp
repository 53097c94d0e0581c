// Threads that are cancelled, a clock whose waits cancel them, and a guard that counts its permits: libstdc++ on POSIX threads.
#pragma once
#include <encore/clock.hpp>
#include <encore/guard/guard.hpp>
#include <encore/stop_reason.hpp>

#include <chrono>
#include <optional>
#include <type_traits>
#include <utility>

#if defined(__GLIBCXX__) && __has_include(<pthread.h>)
#include <pthread.h>

namespace encore_tests {

struct Gate {
  using role = encore::role::Guard;
  static constexpr auto refusal = encore::StopReason::circuit_open;
  class Permit {
   public:
    explicit Permit(Gate& gate) : gate_{&gate} {}
    Permit(Permit&& other) noexcept : gate_{std::exchange(other.gate_, nullptr)} {}
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (gate_ != nullptr) ++gate_->returned;
    }
    void succeeded(const encore::Now&) {}
    void failed(const encore::Now&, bool) {}

   private:
    Gate* gate_;
  };
  std::optional<Permit> admit(const encore::AdmissionRequest&) {
    ++admitted;
    return std::optional<Permit>{std::in_place, *this};
  }
  int admitted = 0, returned = 0;
  Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
};

// Cancels the thread that runs it, at the next point where that can be.
[[noreturn]] inline void cancel_this_thread() {
  pthread_cancel(pthread_self());
  for (;;) pthread_testcancel();
}

// Runs a function on a thread of its own, which must be cancelled in it.
template <class F>
bool is_cancelled_in(F&& function) {
  pthread_t thread{};
  pthread_create(
      &thread, nullptr,
      [](void* argument) -> void* {
        (*static_cast<std::remove_reference_t<F>*>(argument))();
        return nullptr;
      },
      &function);
  void* result = nullptr;
  pthread_join(thread, &result);
  return result == PTHREAD_CANCELED;
}

// Waits by being cancelled.
struct CancellingClock {
  using role = encore::role::Clock;
  static encore::TimePoint now() { return encore::TimePoint{std::chrono::hours{1}}; }
  static encore::WallTime wall() { return {}; }
  static void sleep_for(encore::Duration, const encore::StopView&) { cancel_this_thread(); }
};

// Asks that this thread be cancelled, and gives it an occasion, as every log line is one.
inline void meet_a_cancellation() {
  pthread_cancel(pthread_self());
  pthread_testcancel();
}

}  // namespace encore_tests
#endif
