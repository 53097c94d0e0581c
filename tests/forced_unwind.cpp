// A thread that is cancelled unwinds by what looks like an exception and must not be kept: libstdc++ on POSIX threads.
#include "cancelled_thread.hpp"
#include <encore/before_retry.hpp>
#include <encore/guard/circuit_breaker.hpp>
#include <encore/guard/guard.hpp>
#include <encore/hint.hpp>
#include <encore/limits.hpp>
#include <encore/nesting.hpp>
#include <encore/never_retry.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/predicate.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/retrying.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#if defined(__GLIBCXX__) && __has_include(<pthread.h>)
#include <pthread.h>

using namespace std::chrono_literals;
using namespace encore::testing;
using namespace encore_tests;
using encore::StopReason;

namespace {

struct TimeoutError : std::runtime_error {
  TimeoutError() : std::runtime_error{"slow"} {}
};
}  // namespace

template <>
inline constexpr std::string_view encore::error_name<TimeoutError> = "timeout";

namespace {

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

TEST_CASE("permits are returned when the thread is cancelled, in an attempt and in a wait [B4, H1]",
          "[forced_unwind]") {
  Gate gate;
  check_attempt(plain.with(gate));
  CHECK(gate.admitted == 2);
  CHECK(gate.returned == 2);
  check_wait(plain.with(gate));
  CHECK(gate.admitted == 2 + 4);
  CHECK(gate.returned == 2 + 4);
}

TEST_CASE("observers are notified of a call that was cancelled with its thread, and may inspect it [B4, F1]",
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

TEST_CASE("a thread cancelled after its request was sent leaves an unknown outcome [B4, I3]",
          "[forced_unwind]") {
  Recorder trace;
  const auto policy = plain.with(trace);
  for (const auto replay : {encore::ReplaySafety::never, encore::ReplaySafety::repeatable}) {
    CHECK(is_cancelled_in([&] {
      policy.run({.id = "charge", .replay = replay}, [](const encore::Attempt& attempt) {
        attempt.mark_dispatched();
        cancel_this_thread();
      });
    }));
    CHECK(trace.events().back().reason == StopReason::cancelled);
    CHECK(trace.events().back().outcome_unknown == (replay == encore::ReplaySafety::never));
  }
}

TEST_CASE("a thread can be cancelled during a real wait [B4, K1]", "[forced_unwind]") {
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

using Told = std::vector<std::pair<encore::EventKind, StopReason>>;
using encore::EventKind;
const Told looked_at{{EventKind::attempt_started, StopReason::none},
                     {EventKind::attempt_failed, StopReason::cancelled},
                     {EventKind::call_finished, StopReason::cancelled}};
const Told told_of{{EventKind::attempt_started, StopReason::none},
                   {EventKind::attempt_failed, StopReason::none},
                   {EventKind::call_finished, StopReason::cancelled}};

// What observers hear of a call whose thread is cancelled after its first attempt has failed, by `fail`.
template <class Policy, class F>
Told told_when_cancelled(const Policy& policy, F fail) {
  Gate gate;
  Told told;
  const auto note = [&](const encore::Event& event) { told.emplace_back(event.kind, event.reason); };
  FakeClock clock;
  CHECK(is_cancelled_in([&] { static_cast<void>(policy.with(note, gate, clock).run(fail)); }));
  CHECK(gate.admitted == gate.returned);
  return told;
}

const auto time_out = []() -> int { throw TimeoutError{}; };
const auto minus_one = [] { return -1; };

TEST_CASE(
    "a thread cancelled in an observer of a failure ends as cancelled threads do, and disturbs nothing else "
    "[B4, F3]",
    "[forced_unwind]") {
  const auto in_the_observer = [](const encore::Event& event) {
    if (event.kind == EventKind::attempt_failed) meet_a_cancellation();
  };
  const auto check = [&](const auto& policy, const auto& fail) {
    CHECK(told_when_cancelled(policy.with(encore::Observe{in_the_observer}), fail) == told_of);
    auto on_the_last = told_of;
    on_the_last[1].second = StopReason::retries_exhausted;
    CHECK(told_when_cancelled(policy.with(encore::Observe{in_the_observer}, encore::MaxRetries{0}), fail) ==
          on_the_last);
  };
  check(plain, time_out);
  check(plain, []() -> int { throw 3; });
  check(plain.with(encore::ReturnOutcome{}), time_out);
  check(plain.with(encore::RetryIfResult{[](int units) { return units < 0; }}), minus_one);
}

TEST_CASE(
    "a thread cancelled in a predicate, a hint, a never-test, a backoff or a jitter ends as cancelled "
    "threads do [B4, B7]",
    "[forced_unwind]") {
  const auto test = [](const TimeoutError&) { return meet_a_cancellation(), true; };
  const auto test_value = [](int) { return meet_a_cancellation(), true; };
  const auto wait = [](const TimeoutError&) { return meet_a_cancellation(), 1ms; };
  const auto wait_of_value = [](int) { return meet_a_cancellation(), 1ms; };
  const encore::RetryIfResult negative{[](int units) { return units < 0; }};
  struct OwnBackoff {
    using role = encore::role::Backoff;
    encore::Duration operator()(int) const { return meet_a_cancellation(), 1ms; }
  };
  struct OwnJitter {
    using role = encore::role::Jitter;
    encore::Duration operator()(const encore::JitterInput& input) const {
      return meet_a_cancellation(), input.delay;
    }
  };
  CHECK(told_when_cancelled(plain.with(encore::RetryIf{test}), time_out) == looked_at);
  CHECK(told_when_cancelled(plain.with(encore::RetryIf{test}, encore::MaxRetries{0}), time_out) == looked_at);
  CHECK(told_when_cancelled(plain.with(encore::NeverRetryIf{test}), time_out) == looked_at);
  CHECK(told_when_cancelled(plain.with(encore::HintFrom{wait}), time_out) == looked_at);
  struct Limited : std::runtime_error {
    Limited() : std::runtime_error{"limited"} {}
    std::chrono::milliseconds retry_after() const { return meet_a_cancellation(), 1ms; }
  };
  CHECK(told_when_cancelled(plain.with(encore::RetryOn<Limited>{}), []() -> int { throw Limited{}; }) ==
        looked_at);
  CHECK(told_when_cancelled(plain.with(OwnBackoff{}), time_out) == looked_at);
  CHECK(told_when_cancelled(plain.with(OwnJitter{}), time_out) == looked_at);

  CHECK(told_when_cancelled(plain.with(encore::RetryIfResult{test_value}), minus_one) == looked_at);
  CHECK(told_when_cancelled(plain.with(negative, encore::NeverRetryIf{test_value}), minus_one) == looked_at);
  CHECK(told_when_cancelled(plain.with(negative, encore::HintFrom{wait_of_value}), minus_one) == looked_at);
  CHECK(told_when_cancelled(plain.with(negative, OwnBackoff{}), minus_one) == looked_at);
  CHECK(told_when_cancelled(plain.with(negative, OwnJitter{}), minus_one) == looked_at);
}

TEST_CASE("a thread cancelled in BeforeRetry, or while a retry starts, ends as cancelled threads do [B4, F1]",
          "[forced_unwind]") {
  const Told in_the_second{{EventKind::attempt_started, StopReason::none},
                           {EventKind::attempt_failed, StopReason::none},
                           {EventKind::attempt_started, StopReason::none},
                           {EventKind::attempt_failed, StopReason::cancelled},
                           {EventKind::call_finished, StopReason::cancelled}};
  const encore::Observe starting{[](const encore::Event& event) {
    if (event.ordinal == 2 && event.kind == EventKind::attempt_started) meet_a_cancellation();
  }};
  const auto check = [&](const auto& policy, const auto& fail) {
    CHECK(told_when_cancelled(policy.with(encore::BeforeRetry{[] { meet_a_cancellation(); }}), fail) ==
          in_the_second);
    // Who is told before the others of a start keeps that from them, but not how the attempt ended.
    auto without_its_start = in_the_second;
    without_its_start.erase(without_its_start.begin() + 2);
    CHECK(told_when_cancelled(policy.with(starting), fail) == without_its_start);
  };
  check(plain, time_out);
  check(plain.with(encore::RetryIfResult{[](int units) { return units < 0; }}), minus_one);
}

TEST_CASE("a thread cancelled in a formatter, or without observers, ends as cancelled threads do [B4, G3]",
          "[forced_unwind]") {
  const encore::FormatFailure format{[](const encore::Failure&) { return meet_a_cancellation(), 0; }};
  CHECK(is_cancelled_in([&] { plain.with(encore::MaxRetries{0}, format).run(time_out); }));
  const auto test = [](const TimeoutError&) { return meet_a_cancellation(), true; };
  FakeClock clock;
  CHECK(is_cancelled_in([&] { plain.with(encore::RetryIf{test}, clock).run(time_out); }));
}

TEST_CASE("a driver of Retrying is notified in the handler that its thread is cancelled [B4]",
          "[forced_unwind]") {
  const auto policy = plain.with(encore::RetryOnEveryException{});
  encore::Decision next;
  CHECK(is_cancelled_in([&] {
    encore::Retrying retrying{policy, {}};
    static_cast<void>(retrying.begin());
    try {
      cancel_this_thread();
    } catch (...) {
      next = retrying.threw();
      throw;
    }
  }));
  CHECK(next == encore::Decision{.stop = StopReason::cancelled});
}

TEST_CASE("a cancelled attempt with a pinned result, which cannot be moved, is not a success [B4, F1, H1]",
          "[forced_unwind]") {
  struct Pinned {
    Pinned() = default;
    Pinned(Pinned&&) = delete;
  };
  const auto cancelled = []() -> Pinned {
    cancel_this_thread();
    return {};
  };
  CHECK(told_when_cancelled(plain, cancelled) == looked_at);
  CHECK(told_when_cancelled(plain, [&](const encore::Attempt&) -> Pinned { return cancelled(); }) ==
        looked_at);

  FakeClock clock;
  encore::CircuitBreaker breaker{{.failures_to_open = 1, .open_for = 1s}};
  const auto guarded = plain.with(encore::MaxRetries{0}, clock, breaker);
  CHECK_THROWS_AS(guarded.run(time_out), TimeoutError);
  clock.advance(1s);  // half open: the next attempt is a probe
  CHECK(is_cancelled_in([&] { static_cast<void>(guarded.run(cancelled)); }));
  CHECK(breaker.state(encore::Now{clock}) == encore::CircuitState::half_open);
  static_cast<void>(guarded.run([] { return Pinned{}; }));
  CHECK(breaker.state(encore::Now{clock}) == encore::CircuitState::closed);
}

}  // namespace
#endif
