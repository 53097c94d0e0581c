#include "net_timeout.hpp"
#include <encore/backoff.hpp>
#include <encore/jitter.hpp>
#include <encore/limits.hpp>
#include <encore/observer.hpp>
#include <encore/option.hpp>
#include <encore/predicate.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::EventKind;
using encore::EventRecord;
using encore::StopReason;
using encore::TerminalMode;
using encore::TimePoint;

namespace {

static_assert(encore::shared::HasRole<Recorder&, encore::role::Observer>);
static_assert(std::is_same_v<encore::shared::StoredOf<Recorder&>, Recorder&>,
              "a policy holds it by reference (F4)");
static_assert(!std::copy_constructible<Recorder> && !std::move_constructible<Recorder>);

encore::Event event_of(FakeClock& clock, std::string_view id, EventKind kind = EventKind::attempt_started,
                       int ordinal = 1) {
  return {.kind = kind, .ordinal = ordinal, .id = id, .max_retries = 2, .now = encore::Now{clock}};
}

TEST_CASE("a recorder keeps every event in order, with the time on the policy's clock [D1, F1, F2]",
          "[recorder]") {
  FakeClock clock;
  Recorder trace;
  trace(event_of(clock, "call-17"));
  clock.advance(300ms);
  trace(event_of(clock, "call-18"));
  trace(event_of(clock, "call-17", EventKind::attempt_succeeded));
  CHECK(trace.events() == Recording{{.kind = EventKind::attempt_started,
                                     .call_id = "call-17",
                                     .ordinal = 1,
                                     .max_attempts = 3,
                                     .at = TimePoint{}},
                                    {.kind = EventKind::attempt_started,
                                     .call_id = "call-18",
                                     .ordinal = 1,
                                     .max_attempts = 3,
                                     .at = TimePoint{300ms}},
                                    {.kind = EventKind::attempt_succeeded,
                                     .call_id = "call-17",
                                     .ordinal = 1,
                                     .max_attempts = 3,
                                     .at = TimePoint{300ms}}});
  CHECK(trace.of("call-18") == Recording{{.kind = EventKind::attempt_started,
                                          .call_id = "call-18",
                                          .ordinal = 1,
                                          .max_attempts = 3,
                                          .at = TimePoint{300ms}}});
  trace.clear();
  CHECK(trace.events().empty());
}

TEST_CASE("a recorder that received no event says so", "[recorder]") {
  CHECK(Catch::Detail::stringify(Recorder{}) == "no call was made\n");
}

TEST_CASE(
    "a failing test shows a recorded call's tool, id, exception class, ceiling, attempts and end, two lines "
    "a call",
    "[recorder]") {
  const Recording recording{
      {.kind = EventKind::attempt_started,
       .call_id = "call-17",
       .call_name = "inventory_lookup",
       .ordinal = 1,
       .max_attempts = 2},
      {.kind = EventKind::attempt_failed,
       .call_id = "call-17",
       .ordinal = 1,
       .error_type = "int",
       .will_retry = true,
       .wait = 250ms},
      {.kind = EventKind::attempt_started, .call_id = "call-18", .ordinal = 1},
      {.kind = EventKind::attempt_started, .call_id = "call-17", .ordinal = 2},
      {.kind = EventKind::attempt_failed, .call_id = "call-18", .ordinal = 1, .will_retry = true},
      {.kind = EventKind::attempt_failed,
       .call_id = "call-17",
       .ordinal = 2,
       .error_type = "net::TimeoutError"},
      {.kind = EventKind::call_finished,
       .call_id = "call-17",
       .call_name = "inventory_lookup",
       .ordinal = 2,
       .max_attempts = 2,
       .reason = StopReason::retries_exhausted,
       .mode = TerminalMode::exception},
      {.kind = EventKind::call_finished,
       .call_id = "call-19",
       .max_attempts = 1,
       .reason = StopReason::expired_on_entry,
       .mode = TerminalMode::exception},
  };
  CHECK(summary(recording) ==
        "call-17 (inventory_lookup): 2 of at most 2 attempts, waited { 250ms }\n"
        "  last failure net::TimeoutError; ended because retries_exhausted, in exception\n"
        "call-18: 1 of unlimited attempts, waited { 0s }\n"
        "  last failure a returned value; not finished\n"
        "call-19: 0 of at most 1 attempts\n"
        "  ended because expired_on_entry, in exception");
}

TEST_CASE("a failing test shows only the first calls of a recorder", "[recorder]") {
  FakeClock clock;
  Recorder trace;
  for (int i = 0; i < 8; ++i) trace(event_of(clock, "call-" + std::to_string(i)));
  const auto shown = Catch::Detail::stringify(trace);
  CHECK(shown.find("call-5: ") != std::string::npos);
  CHECK(shown.find("call-6: ") == std::string::npos);
  CHECK(shown.substr(shown.size() - 18) == "\nand 2 more calls\n");
}

TEST_CASE("a call's whole trace compares with ==, without its times [F1, F2]", "[recorder]") {
  FakeClock clock;
  Recorder trace;
  const encore::RetryPolicy policy{encore::RetryOn<net::TimeoutError>{},
                                   encore::MaxRetries{2},
                                   encore::ConstantBackoff{250ms},
                                   encore::NoJitter{},
                                   clock,
                                   trace};
  Scripted<int> inventory{clock, throws<net::TimeoutError>("slow").takes(100ms).notes(503), returns(17)};
  CHECK(policy.run({.id = "call-17", .name = "inventory_lookup"}, inventory) == 17);

  EventRecord started{.kind = EventKind::attempt_started,
                      .call_id = "call-17",
                      .call_name = "inventory_lookup",
                      .ordinal = 1,
                      .max_attempts = 3};
  EventRecord failed = started;
  failed.kind = EventKind::attempt_failed;
  failed.will_retry = true;
  failed.wait = 250ms;
  failed.error_type = "net::TimeoutError";
  failed.status = 503;
  EventRecord again = started;
  again.ordinal = 2;
  EventRecord succeeded = again;
  succeeded.kind = EventKind::attempt_succeeded;
  succeeded.reason = StopReason::succeeded;
  EventRecord finished = succeeded;
  finished.kind = EventKind::call_finished;
  finished.mode = TerminalMode::result;
  finished.slept = 250ms;
  CHECK(trace.events().without_times() == Recording{started, failed, again, succeeded, finished});
  CHECK(trace.events().back().at == TimePoint{350ms});
  CHECK(trace.events().back().elapsed == 350ms);
}

TEST_CASE("several threads use one recorder, and no event is lost or torn", "[recorder][threads]") {
  FakeClock clock;
  Recorder trace;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, id = "call-" + std::to_string(t)] {
        for (int ordinal = 1; ordinal <= 200; ++ordinal)
          trace(event_of(clock, id, EventKind::attempt_started, ordinal));
      });
    }
  }
  CHECK(trace.events().size() == 800);
  for (int t = 0; t < 4; ++t) {
    const auto events = trace.of("call-" + std::to_string(t));
    REQUIRE(events.size() == 200);
    for (std::size_t i = 0; i < events.size(); ++i) REQUIRE(events[i].ordinal == static_cast<int>(i) + 1);
  }
}

}  // namespace
