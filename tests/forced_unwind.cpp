// A thread that is cancelled unwinds by what looks like an exception and must not be kept: libstdc++ on POSIX threads.
#include <encore/limits.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/predicate.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/recorder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#if defined(__GLIBCXX__) && __has_include(<pthread.h>)
#include <pthread.h>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::StopReason;

namespace {

struct TimeoutError : std::runtime_error {
  TimeoutError() : std::runtime_error{"slow"} {}
};
}  // namespace

template <>
inline constexpr std::string_view encore::error_name<TimeoutError> = "timeout";

namespace {

struct Gate {
  using role = encore::role::Guard;
  static constexpr auto refusal = StopReason::circuit_open;
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
[[noreturn]] void cancel_this_thread() {
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
  static encore::TimePoint now() { return encore::TimePoint{1h}; }
  static encore::WallTime wall() { return {}; }
  static void sleep_for(encore::Duration, const encore::StopView&) { cancel_this_thread(); }
};

const encore::RetryPolicy plain{CancellingClock{}, encore::RetryOn<TimeoutError>{} || encore::RetryOn<int>{}};

template <class Policy>
void check_attempt(const Policy& policy) {
  CHECK(is_cancelled_in([&] { static_cast<void>(policy.run([] { cancel_this_thread(); })); }));
  CHECK(is_cancelled_in(
      [&] { static_cast<void>(policy.run([](const encore::Attempt&) { cancel_this_thread(); })); }));
}
template <class Policy>
void check_wait(const Policy& policy) {
  CHECK(is_cancelled_in([&] { static_cast<void>(policy.run([] { throw TimeoutError{}; })); }));
  CHECK(is_cancelled_in(
      [&] { static_cast<void>(policy.run([](const encore::Attempt&) { throw TimeoutError{}; })); }));
}

TEST_CASE("a thread cancelled in an attempt or a wait unwinds through any policy (fault 29) [B4]",
          "[forced_unwind]") {
  const auto check = [](const auto& policy) {
    check_attempt(policy);
    check_wait(policy);
  };
  check(plain);
  check(plain.with(encore::RetryOnEveryException{}));
  check(plain.with(encore::ReturnOutcome{}));
  check(plain.with(encore::FormatFailure{[](const encore::Failure&) {}}));
  check(plain.with(encore::TimeBudget{1h}));
  check(plain.with(encore::WhenNested{}));
  check(plain.with(encore::RetryOnEveryException{}, encore::HandleUnmatched{}, encore::ReturnOutcome{}));
}

TEST_CASE("permits come back when the thread is cancelled, in an attempt and in a wait [B4, H1]",
          "[forced_unwind]") {
  Gate gate;
  check_attempt(plain.with(gate));
  CHECK(gate.admitted == 2);
  CHECK(gate.returned == 2);
  check_wait(plain.with(gate));
  CHECK(gate.admitted == 2 + 4);
  CHECK(gate.returned == 2 + 4);
}

TEST_CASE("observers are told that a call was cancelled with its thread, and may look at it [B4, F1]",
          "[forced_unwind]") {
  Recorder trace;
  int looked = 0;
  const auto policy = plain.with(trace, encore::Observe{[&](const encore::Event& event) {
                                   if (event.thrown != nullptr && event.thrown->is<TimeoutError>()) ++looked;
                                   if (event.thrown != nullptr && event.thrown->is<int>()) ++looked;
                                 }});
  const auto check_end = [&](int attempts, std::size_t events) {
    for (const auto& id : trace.events().call_ids()) {
      const auto call = trace.of(id);
      CHECK(call.size() == events);
      CHECK(call.back().kind == encore::EventKind::call_finished);
      CHECK(call.back().reason == StopReason::cancelled);
      CHECK(call.back().ordinal == attempts);
    }
    trace.clear();
  };
  check_attempt(policy);
  CHECK(looked == 0);
  check_end(1, 3);
  check_wait(policy);
  CHECK(looked >= 2);
  check_end(1, 3);
  check_attempt(policy.with(encore::ReturnOutcome{}));
  check_end(1, 3);
  check_wait(policy.with(encore::ReturnOutcome{}));
  check_end(1, 3);
}

TEST_CASE("a real wait is a point where a thread can be cancelled [B4, K1]", "[forced_unwind]") {
  Gate gate;
  const auto policy = plain.with(encore::SteadyClock{}, gate, encore::ConstantBackoff{1h});
  CHECK(is_cancelled_in([&] {
    policy.run([] {
      pthread_cancel(pthread_self());  // noticed in the wait, which comes next
      throw TimeoutError{};
    });
  }));
  CHECK(gate.admitted == gate.returned);
}

}  // namespace
#endif
