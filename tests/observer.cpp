#include <encore/limits.hpp>
#include <encore/observer.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::Event, encore::EventKind, encore::Observe, encore::RetryOn, encore::RetryPolicy,
    encore::StopReason;

namespace {

struct TimeoutError : std::runtime_error {
  TimeoutError() : std::runtime_error{"slow"} {}
};
struct HookError : std::logic_error {
  HookError() : std::logic_error{"a hook's own bug"} {}
};

// ---- an observer that throws changes nothing (F3) -------------------------------------------------------------------------

enum class Throws { nothing, at_starts, at_failures, at_successes, at_ends, everywhere };

struct Hook {
  Throws when;
  int thrown = 0;
  void operator()(const Event& event) {
    const auto now = [&] {
      switch (when) {
        case Throws::nothing: return false;
        case Throws::at_starts: return event.kind == EventKind::attempt_started;
        case Throws::at_failures: return event.kind == EventKind::attempt_failed;
        case Throws::at_successes: return event.kind == EventKind::attempt_succeeded;
        case Throws::at_ends: return event.kind == EventKind::call_finished;
        case Throws::everywhere: return true;
      }
      return false;
    }();
    if (!now) return;
    ++thrown;
    if (thrown % 2 == 0) throw 42;  // what is no std::exception neither
    throw HookError{};
  }
};

struct Seen {
  std::string result;
  int attempts;
  Durations sleeps;
  Recording facts;
  friend bool operator==(const Seen&, const Seen&) = default;
};

// How a call goes while a hook throws: between two recorders, which are to hear all of it.
template <class Strategy>
Seen seen_with(Throws when, int failures, bool takes_attempt, const Strategy& strategy, int* counted) {
  FakeClock clock;
  Recorder before, after;
  Hook hook{when};
  const RetryPolicy policy{
      clock, before, std::ref(hook), after, RetryOn<TimeoutError>{}, encore::NoJitter{}, strategy};
  Seen seen{};
  auto left = failures;
  const auto play = [&] {
    ++seen.attempts;
    if (left-- > 0) throw TimeoutError{};
    return std::string{"ok"};
  };
  try {
    if (takes_attempt)
      seen.result = policy.run({.id = "call-17"}, [&](const encore::Attempt&) { return play(); });
    else
      seen.result = policy.run({.id = "call-17"}, play);
  } catch (const TimeoutError& error) {
    seen.result = error.what();
  }
  CHECK(before.events() == after.events());
  seen.sleeps = clock.sleeps();
  seen.facts = before.events();
  // The last event says how many throws there were before it.
  *counted = std::exchange(seen.facts.back().observer_errors, 0);
  const auto at_end = when == Throws::at_ends || when == Throws::everywhere;
  CHECK(*counted == hook.thrown - (at_end ? 1 : 0));
  return seen;
}

TEST_CASE(
    "an observer that throws changes neither result, count, waits nor what other observers get (fault 31: "
    "tenacity) [F3]",
    "[observer]") {
  const encore::FormatFailure format{
      [](const encore::Failure& failure) { return std::string{to_string(failure.reason)}; }};
  for (const int failures : {0, 1, 2, 3}) {
    for (const bool takes_attempt : {false, true}) {
      int none = 0;
      const auto undisturbed = seen_with(Throws::nothing, failures, takes_attempt, encore::Rethrow{}, &none);
      const auto formatted = seen_with(Throws::nothing, failures, takes_attempt, format, &none);
      CHECK(undisturbed.result == (failures < 3 ? "ok" : "slow"));
      CHECK(formatted.result == (failures < 3 ? "ok" : "retries_exhausted"));
      for (const auto when : {Throws::at_starts, Throws::at_failures, Throws::at_successes, Throws::at_ends,
                              Throws::everywhere}) {
        CAPTURE(failures, takes_attempt, static_cast<int>(when));
        int counted = 0;
        CHECK(seen_with(when, failures, takes_attempt, encore::Rethrow{}, &counted) == undisturbed);
        CHECK(seen_with(when, failures, takes_attempt, format, &counted) == formatted);
      }
    }
  }
}

TEST_CASE("observers' exceptions are counted in the outcome, those at the end included [F3]", "[observer]") {
  FakeClock clock;
  const auto throws_always = [](const Event&) { throw HookError{}; };
  const RetryPolicy policy{clock, RetryOn<TimeoutError>{}, encore::ReturnOutcome{}, Observe{throws_always}};
  Scripted<int> works{returns(17)};
  const auto succeeded = policy.run(works);
  CHECK(succeeded.value() == 17);
  CHECK(succeeded.observer_errors() == 3);  // started, succeeded, finished
  Scripted<int> fails{always(throws<TimeoutError>())};
  const auto failed = policy.with(Observe{throws_always}).run(fails);
  CHECK(failed.observer_errors() == 2 * 7);
  CHECK(failed.failure().observer_errors == 2 * 7);

  Scripted<int> at_once{throws<TimeoutError>()};
  const auto refused = policy.with(encore::TimeBudget{0s}).run(at_once);
  CHECK(refused.attempts() == 0);
  CHECK(refused.observer_errors() == 1);
}

TEST_CASE("observers' exceptions before the first failed value are counted with the rest [F3]",
          "[observer]") {
  FakeClock clock;
  const RetryPolicy policy{clock, encore::RetryIfResult{[](int value) { return value < 0; }},
                           encore::MaxRetries{1}, encore::ReturnOutcome{}, [](const Event& event) {
                             if (event.ordinal == 1 && event.kind == EventKind::attempt_started)
                               throw HookError{};
                           }};
  auto value = -1;
  const auto recovered = policy.run([&] { return std::exchange(value, 1); });
  CHECK(recovered);
  CHECK(recovered.observer_errors() == 1);
  const auto failed = policy.run([] { return -1; });
  CHECK_FALSE(failed);
  CHECK(failed.observer_errors() == 1);
  CHECK(failed.failure().observer_errors == 1);
}

TEST_CASE("an observer's exception after a success does not make a failed call, for results of any kind [F3]",
          "[observer]") {
  struct Immovable {
    explicit Immovable(int n) : value{n} {}
    Immovable(const Immovable&) = delete;
    int value;
  };
  FakeClock clock;
  Hook hook{Throws::everywhere};
  const RetryPolicy policy{clock, std::ref(hook), encore::RetryOnEveryException{}};
  int calls = 0;
  policy.run([&] { ++calls; });
  int units = 17;
  CHECK(&policy.run([&]() -> int& { return ++calls, units; }) == &units);
  CHECK(policy.run([&] { return ++calls, Immovable{5}; }).value == 5);
  CHECK(policy.run([&](const encore::Attempt&) { return ++calls, Immovable{5}; }).value == 5);
  CHECK(*policy.run([&] { return ++calls, std::make_unique<int>(6); }) == 6);
  CHECK(calls == 5);
}

TEST_CASE("an observer can tell whether a retry follows (fault 31: avast #31) [F1]", "[observer]") {
  FakeClock clock;
  std::vector<bool> follows;
  const RetryPolicy policy{clock, RetryOn<TimeoutError>{}, Observe{[&](const Event& event) {
                             if (event.kind == EventKind::attempt_failed) follows.push_back(event.will_retry);
                           }}};
  Scripted<int> tool{always(throws<TimeoutError>())};
  CHECK_THROWS_AS(policy.run(tool), TimeoutError);
  CHECK(follows == std::vector{true, true, false});
}

// ---- who can be an observer, and how it is held (F4) --------------------------------------------------------------------

int plain_function_heard = 0;
void plain_function(const Event&) { ++plain_function_heard; }

struct Listener {
  int heard = 0;
  void operator()(const Event&) { ++heard; }
};

TEST_CASE("any callable that takes an event is an observer; std::ref shares a named one [F4]", "[observer]") {
  const RetryPolicy quiet{RetryOn<TimeoutError>{}};
  Listener listener;
  quiet.with(std::ref(listener)).run([] {});
  CHECK(listener.heard == 3);
  quiet.with(Observe{std::ref(listener)}).run([] {});
  CHECK(listener.heard == 6);

  auto lambda = [heard = 0](const Event&) mutable { return ++heard; };
  quiet.with(std::ref(lambda)).run([] {});
  CHECK(lambda(Event{.now = encore::Now{quiet.clock()}}) == 4);

  plain_function_heard = 0;
  quiet.with(plain_function).run([] {});
  quiet.with(&plain_function).run([] {});
  quiet.with(Observe{plain_function}).run([] {});
  CHECK(plain_function_heard == 9);

  std::string heard;
  quiet.with([&heard](const Event& event) { heard += to_string(event.kind).front(); }).run([] {});
  CHECK(heard == "aac");
}

TEST_CASE("a temporary observer is moved in, and lives as long as the policy [F4]", "[observer]") {
  const auto heard = std::make_shared<int>(0);
  const auto observed = [&] {
    return RetryPolicy{RetryOn<TimeoutError>{}, [heard](const Event&) { ++*heard; }};
  }();
  CHECK(heard.use_count() == 2);
  observed.run([] {});
  CHECK(*heard == 3);
  const auto copy = observed;
  CHECK(heard.use_count() == 3);
  copy.run([] {});
  CHECK(*heard == 6);
}

TEST_CASE("several observers are notified in the order in which they were given [F1, F4]", "[observer]") {
  std::string heard;
  const RetryPolicy policy{[&](const Event&) { heard += '1'; }, RetryOn<TimeoutError>{},
                           Observe{[&](const Event&) { heard += '2'; }}};
  policy.with([&](const Event&) { heard += '3'; }).run([] {});
  CHECK(heard == "123123123");
  heard.clear();
  policy.with([&](const Event&) { heard += '3'; }).without<encore::role::Observer>().run([] {});
  CHECK(heard.empty());
}

TEST_CASE("an observer that cannot throw is called without a handler around it [F4]", "[observer]") {
  const Observe cannot{[](const Event&) noexcept {}};
  const Observe can{[](const Event&) {}};
  STATIC_CHECK(noexcept(cannot(std::declval<const Event&>())));
  STATIC_CHECK_FALSE(noexcept(can(std::declval<const Event&>())));
  STATIC_CHECK(encore::Observer<Listener>);
  STATIC_CHECK_FALSE(encore::Observer<int>);
}

}  // namespace
