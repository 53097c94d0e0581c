// A thread that is cancelled while it resumes a coroutine: libstdc++ on POSIX threads.
#include "../cancelled_thread.hpp"
#include <encore/async/co_run.hpp>
#include <encore/encore.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/manual_executor.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/task.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <stdexcept>
#include <utility>

#if defined(__GLIBCXX__) && __has_include(<pthread.h>)
using namespace std::chrono_literals;
using namespace encore::testing;
using namespace encore_tests;
using encore::EventKind, encore::StopReason;

namespace {

struct TimeoutError : std::runtime_error {
  TimeoutError() : std::runtime_error{"slow"} {}
};

const encore::RetryPolicy plain{encore::RetryOn<TimeoutError>{}};

TEST_CASE("in a coroutine a cancellation takes effect when the thread is given back [B4]",
          "[forced_unwind]") {
  FakeClock clock;
  ManualExecutor executor{clock};
  Gate gate;
  Recorder trace;
  const auto policy = plain.with(clock, gate, trace);
  const encore::Observe in_the_observer{[](const encore::Event& event) {
    if (event.kind == EventKind::attempt_failed) meet_a_cancellation();
  }};
  const auto test = [](const TimeoutError&) { return meet_a_cancellation(), true; };
  const auto test_value = [](int units) { return meet_a_cancellation(), units < 0; };
  const auto check = [&](const auto& cancelling) {
    int result = 0;
    CHECK(is_cancelled_in([&] {
      auto task = encore::co_run(
          cancelling,
          [](const encore::Attempt& attempt) -> Task<int> {
            if (attempt.ordinal == 1) throw TimeoutError{};
            co_return attempt.ordinal == 2 ? -1 : 3;
          },
          executor.sleeper());
      result = executor.run(std::move(task));
      pthread_testcancel();
    }));
    CHECK(result != 0);
    CHECK(gate.admitted == gate.returned);
    for (const auto& event : trace.events()) CHECK(event.reason != StopReason::cancelled);
    trace.clear();
  };
  check(policy.with(in_the_observer));
  check(policy.with(encore::RetryIf{test}));
  check(policy.with(encore::HintFrom{[](const TimeoutError&) { return meet_a_cancellation(), 1ms; }}));
  check(policy.with(encore::RetryOn<TimeoutError>{} || encore::RetryIfResult{test_value}));
}

}  // namespace
#endif
