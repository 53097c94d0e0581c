#include "../attempts.hpp"
#include "../invalid_setting.hpp"
#include <encore/durable/durable_call.hpp>
#include <encore/hint.hpp>
#include <encore/jitter.hpp>
#include <encore/jitter_shapes.hpp>
#include <encore/limits.hpp>
#include <encore/on_failure.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <type_traits>
#include <vector>

using namespace std::chrono_literals;
using namespace encore;
using namespace encore::testing;
using encore_tests::refusal_of;

namespace {

struct Busy : std::runtime_error {
  using std::runtime_error::runtime_error;
};

const std::exception_ptr busy = std::make_exception_ptr(Busy{"busy"});

const RetryPolicy patient{RetryOn<Busy>{}, MaxRetries{3}, ExponentialBackoff{.initial_delay = 10s},
                          NoJitter{}};

/// Two processes have nothing in common but the calendar: each has a steady clock and observers of its own.
struct Process {
  FakeClock clock;
  Recorder trace;
  explicit Process(WallTime wall = FakeClock::first_wall, TimePoint now = TimePoint{}) {
    clock.set(now);
    clock.set_wall(wall);
  }
  auto of(const auto& policy) { return policy.with(clock, trace); }
};

constexpr auto start = FakeClock::first_wall;

/// A call that failed once at `start` and waits for 10 s, as text.
std::string waiting(const auto& policy, Call call = {.id = "job-7", .name = "mail"}) {
  Process first;
  const auto mine = first.of(policy);
  DurableCall durable{mine, call};
  REQUIRE(durable.begin().goes_on());
  REQUIRE(durable.threw(busy).goes_on());
  return durable.save();
}
/// One whose first attempt was under way.
std::string under_way(const auto& policy, ReplaySafety replay, bool asked_for_key = false) {
  Process first;
  const auto mine = first.of(policy);
  DurableCall durable{mine, {.id = "job-7", .replay = replay}};
  REQUIRE(durable.begin().goes_on());
  if (asked_for_key) static_cast<void>(durable.attempt().idempotency_key());
  return durable.save();
}

// Every wait is spent in another process than the attempts around it.
template <class Policy, class Callable>
std::string drive_by_restarts(const Policy& policy, const Call& call, Callable& callable) {
  std::exception_ptr failure;
  auto saved = std::string{};
  for (auto first = true;; first = false) {
    std::optional<DurableCall<Policy>> durable;
    if (first)
      durable.emplace(policy, call);
    else
      durable.emplace(policy, SavedCall::read(saved));
    auto next = first ? durable->begin() : durable->next();
    if (!first && next.goes_on()) {
      if (next.wait > Duration::zero()) policy.clock().sleep_for(next.wait);
      next = durable->resume();
    }
    if (next.goes_on()) {
      try {
        auto result = callable();
        durable->succeeded();
        return result;
      } catch (const std::exception& error) {
        failure = std::current_exception();
        next = durable->threw(&error);
      }
    }
    if (next.goes_on()) {
      saved = durable->save();
      continue;
    }
    if constexpr (!Policy::rethrows) {
      if (durable->strategy_handles(next.stop))
        return policy.failure_strategy().template failed<std::string>(durable->failure());
    }
    std::rethrow_exception(failure);
  }
}

}  // namespace

TEST_CASE(
    "every row of attempts.csv holds for a durable call with a restart in each wait [A1, A2, B3, C1, C6, G1]",
    "[durable_call]") {
  encore_tests::check_attempts([](const auto& policy, const Call& call, auto& script) {
    return drive_by_restarts(policy, call, script);
  });
}

TEST_CASE("another process continues a durable call with its id, name, ordinal and the rest of its wait [A4]",
          "[durable_call]") {
  const auto text = waiting(patient);
  Process second{start + 4s, TimePoint{1h}};
  const auto policy = second.of(patient);
  DurableCall call{policy, SavedCall::read(text)};
  CHECK(call.next() == Decision{.wait = 6s});
  CHECK(call.due() == start + 10s);
  second.clock.sleep_for(6s);
  CHECK(call.resume().goes_on());
  CHECK(call.attempt().ordinal == 2);
  CHECK(call.attempt().call_id() == "job-7");
  CHECK(call.call().name == "mail");
  CHECK(call.slept() == 10s);
  CHECK(call.threw(busy) == Decision{.wait = 20s});
  CHECK(call.due() == start + 30s);
}

TEST_CASE("a wait that is over when the process restarts is not repeated [C6]", "[durable_call]") {
  Process second{start + 24h};
  const auto policy = second.of(patient);
  DurableCall call{policy, SavedCall::read(waiting(patient))};
  CHECK(call.next() == Decision{.wait = 0s});
  CHECK(call.resume().goes_on());
  CHECK(call.attempt().ordinal == 2);
}

TEST_CASE("a durable call that is saved and restored again and again loses nothing", "[durable_call]") {
  auto text = waiting(patient);
  for (auto second = 1; second < 10; ++second) {
    Process next{start + second * 1s};
    const auto policy = next.of(patient);
    DurableCall call{policy, SavedCall::read(text)};
    CHECK(call.next() == Decision{.wait = 10s - second * 1s});
    text = call.save();
  }
  CHECK(SavedCall::read(text).attempts == 1);
  CHECK(SavedCall::read(text).due == start + 10s);
}

TEST_CASE("a restored call continues its random draws, and its jitter remembers the last wait [C8, C9]",
          "[durable_call]") {
  const RetryPolicy jittery{RetryOn<Busy>{}, UnlimitedRetries{}, DecorrelatedJitter{}, Seed{7}};
  const auto waits = [&](bool restart) {
    Durations all;
    Process process;
    const auto policy = process.of(jittery);
    std::optional<DurableCall<std::remove_const_t<decltype(policy)>>> call;
    call.emplace(policy, Call{.id = "job-7"});
    auto next = call->begin();
    for (auto attempt = 0; attempt < 6; ++attempt) {
      next = call->threw(busy);
      all.push_back(next.wait);
      if (restart) {
        const auto saved = SavedCall::read(call->save());
        call.emplace(policy, saved);
        CHECK(call->next() == next);
      }
      process.clock.sleep_for(next.wait);
      REQUIRE(call->resume().goes_on());
    }
    return all;
  };
  CHECK(waits(true) == waits(false));
}

TEST_CASE("the key of a durable call without an operation key is the same in the next process [I2]",
          "[durable_call]") {
  Process first;
  const Scope scope{1, 0xaa, [] { return std::uint64_t{7}; }};
  const auto policy = first.of(patient);
  DurableCall call{policy, {.id = "call_0", .replay = ReplaySafety::repeatable_with_key, .scope = &scope}};
  CHECK(call.begin().goes_on());
  const auto key = call.attempt().idempotency_key();
  CHECK(key == "000000000000000100000000000000aa/call_0/0000000000000007");
  CHECK(call.threw(busy).goes_on());
  DurableCall restored{policy, SavedCall::read(call.save())};
  CHECK(restored.resume().goes_on());
  CHECK(restored.attempt().idempotency_key() == key);
  DurableCall again{policy, SavedCall::read(restored.save())};
  CHECK(again.next().goes_on());
  CHECK(again.attempt().idempotency_key() == key);
  // That a key was sent before the restart counts: this attempt fails before it asks for it.
  DurableCall unasked{policy, SavedCall::read(call.save())};
  CHECK(unasked.resume().goes_on());
  CHECK(unasked.threw(busy).goes_on());
}

TEST_CASE("a durable call without an id keeps the one that was generated for it [A4]", "[durable_call]") {
  Process process;
  const auto policy = process.of(patient);
  DurableCall call{policy, {}};
  CHECK(call.begin().goes_on());
  const auto saved = SavedCall::read(call.save());
  CHECK(saved.id == call.attempt().call_id());
  CHECK(saved.id.starts_with("encore-"));
}

TEST_CASE("a durable call's time budget runs while no process does [D2, D3]", "[durable_call]") {
  const auto limited = patient.with(TimeBudget{60s});
  const auto text = waiting(limited);
  Process in_time{start + 59s};
  const auto policy = in_time.of(limited);
  DurableCall call{policy, SavedCall::read(text)};
  CHECK(call.resume().goes_on());
  CHECK(call.attempt().remaining() == 1s);
  CHECK(call.threw(busy) == Decision{.stop = StopReason::deadline});
  CHECK(call.failure().elapsed == 59s);
  Process late{start + 60s};
  const auto same = late.of(limited);
  DurableCall over{same, SavedCall::read(text)};
  CHECK(over.next() == Decision{.stop = StopReason::deadline});
  CHECK(over.resume() == Decision{.stop = StopReason::deadline});
  CHECK(over.attempts() == 1);
}

TEST_CASE(
    "a restored call does not sleep past its budget, its deadline or its minimum attempt time [C6, D3, D4]",
    "[durable_call]") {
  const auto restored = [](const auto& wanted, const std::string& text) {
    Process second{start + 3s};
    const auto policy = second.of(wanted);
    DurableCall call{policy, SavedCall::read(text), IfPolicyChanged::accept};
    const auto next = call.next();
    CHECK(call.resume() == (next.goes_on() ? Decision{} : next));
    CHECK(call.attempts() == (next.goes_on() ? 2 : 1));
    CHECK(call.slept() == (next.goes_on() ? 10s : 3s));
    return next;
  };
  const Decision deadline{.stop = StopReason::deadline};
  CHECK(restored(patient, waiting(patient)) == Decision{.wait = 7s});
  CHECK(restored(patient.with(TimeBudget{10s}), waiting(patient)) == deadline);
  CHECK(restored(patient.with(TimeBudget{11s}), waiting(patient)) == Decision{.wait = 7s});
  CHECK(restored(patient.with(TimeBudget{11s}, MinAttemptTime{2s}), waiting(patient)) ==
        Decision{.stop = StopReason::too_little_time_left});
  auto saved = SavedCall::read(waiting(patient));
  saved.deadline = start + 10s;
  CHECK(restored(patient, saved.text()) == deadline);
  saved.deadline = start + 11s;
  CHECK(restored(patient, saved.text()) == Decision{.wait = 7s});
}

TEST_CASE("a restored call that was asked to stop has no wait left [C6, K1]", "[durable_call]") {
  Process second{start + 4s};
  const auto policy = second.of(patient);
  std::stop_source source;
  const auto token = source.get_token();
  source.request_stop();
  DurableCall call{policy, SavedCall::read(waiting(patient)), IfPolicyChanged::refuse, token};
  CHECK(call.next() == Decision{.stop = StopReason::cancelled});
  CHECK(call.slept() == 4s);
}

TEST_CASE(
    "a durable call's deadline follows the calendar, and a clock that is set back does not postpone it [D2, "
    "D7]",
    "[durable_call]") {
  const auto text = waiting(patient, {.id = "job-7", .deadline = TimePoint{30s}});
  const auto remaining = [&](WallTime wall, TimePoint now) {
    Process second{wall, now};
    const auto policy = second.of(patient);
    DurableCall call{policy, SavedCall::read(text)};
    return call.resume().goes_on() ? call.attempt().remaining() : std::nullopt;
  };
  CHECK(remaining(start + 10s, TimePoint{99h}) == 20s);
  CHECK(remaining(start + 30s, TimePoint{}) == std::nullopt);
  CHECK(remaining(start - 24h, TimePoint{}) == 30s);
  CHECK(remaining(WallTime::max(), TimePoint{}) == std::nullopt);
  CHECK(remaining(WallTime::min(), TimePoint{}) == 30s);
}

TEST_CASE("a calendar that was set back does not lengthen a restored wait [D7]", "[durable_call]") {
  for (const auto wall : {start - 24h, WallTime::min()}) {
    Process second{wall};
    const auto policy = second.of(patient);
    DurableCall call{policy, SavedCall::read(waiting(patient))};
    CHECK(call.next() == Decision{.wait = 10s});
  }
  // Nor when it happens in the wait.
  Process second{start + 4s};
  const auto policy = second.of(patient);
  DurableCall call{policy, SavedCall::read(waiting(patient))};
  CHECK(call.next() == Decision{.wait = 6s});
  for (const auto wall : {start - 24h, WallTime::min()}) {
    second.clock.set_wall(wall);
    CHECK(call.next() == Decision{.wait = 10s});
  }
}

TEST_CASE("the total of a saved call's waits saturates at the end of the range [C7]", "[durable_call]") {
  auto saved = SavedCall::read(waiting(patient));
  saved.slept = Duration::max() - 1s;
  saved.elapsed = Duration::max();
  Process second{start + 4s};
  const auto policy = second.of(patient.with(TimeBudget{Duration::max()}));
  DurableCall call{policy, SavedCall::read(saved.text()), IfPolicyChanged::accept};
  CHECK(call.next() == Decision{.stop = StopReason::deadline});
  CHECK(call.slept() == Duration::max());
  const auto unlimited = second.of(patient);
  DurableCall goes_on{unlimited, SavedCall::read(saved.text())};
  CHECK(goes_on.resume().goes_on());
  CHECK(goes_on.slept() == Duration::max());
}

TEST_CASE("an attempt under way when its process ended is not repeated unless that is safe [I1, I3]",
          "[durable_call]") {
  struct Row {
    ReplaySafety replay;
    bool asked_for_key;
    Decision then;
  };
  const Decision unknown{.stop = StopReason::unknown_outcome};
  for (const auto& [replay, asked, then] :
       {Row{ReplaySafety::repeatable, false, {.wait = 10s}},
        Row{ReplaySafety::repeatable_with_key, true, {.wait = 10s}},
        Row{ReplaySafety::repeatable_with_key, false, unknown}, Row{ReplaySafety::never, false, unknown},
        Row{ReplaySafety::never, true, unknown}, Row{ReplaySafety::excluded, false, unknown}}) {
    INFO(to_string(replay) << ", key asked for: " << asked);
    Process second{start + 1s};
    const auto policy = second.of(patient);
    DurableCall call{policy, SavedCall::read(under_way(patient, replay, asked))};
    CHECK(call.next() == then);
    CHECK(call.next() == then);  // and it is decided once
    CHECK(second.trace.events().size() == (then.goes_on() ? 1 : 2));
    CHECK(call.reason() == then.stop);
    CHECK(call.failure().outcome_unknown == (replay != ReplaySafety::repeatable));
    if (!then.goes_on()) continue;
    CHECK(call.resume().goes_on());
    CHECK(call.attempt().ordinal == 2);  // the one that was cut off counts
  }
}

TEST_CASE("a driver that does not look at the restored decision cannot continue the call either [I3]",
          "[durable_call]") {
  Process second;
  const auto policy = second.of(patient);
  DurableCall call{policy, SavedCall::read(under_way(patient, ReplaySafety::never))};
  CHECK(call.resume() == Decision{.stop = StopReason::unknown_outcome});
  CHECK(call.attempts() == 1);
}

TEST_CASE("an unknown outcome survives its process, and a request that did not run does not settle it [I3]",
          "[durable_call]") {
  const auto twice = patient.with(MaxRetries{1});
  std::string text;
  {
    Process first;
    const auto mine = first.of(twice);
    DurableCall call{mine,
                     {.id = "job-7", .replay = ReplaySafety::repeatable_with_key, .signature = "mail to A"}};
    REQUIRE(call.begin().goes_on());
    static_cast<void>(call.attempt().idempotency_key());
    call.attempt().note_request_id("cut");
    call.attempt().mark_dispatched();
    REQUIRE(call.threw(busy).goes_on());
    text = call.save();
  }
  Process second{start + 10s};
  std::vector<std::string> lost;
  const auto policy = second.of(twice).with(Observe{[&](const Event& event) {
    if (event.outcome_unknown)
      lost = {std::string{event.lost_request_id}, std::string{event.current->call().signature}};
  }});
  DurableCall call{policy, SavedCall::read(text)};
  REQUIRE(call.resume().goes_on());
  call.attempt().mark_not_run();
  CHECK(call.threw(busy) == Decision{.stop = StopReason::retries_exhausted});
  CHECK(call.failure().outcome_unknown);
  CHECK(lost == std::vector<std::string>{"cut", "mail to A"});
}

TEST_CASE("a tool that runs once waits through a restart after an attempt that did not run [I1]",
          "[durable_call]") {
  std::string text;
  {
    Process first;
    const auto mine = first.of(patient);
    DurableCall call{mine, {.id = "job-7", .replay = ReplaySafety::never}};
    REQUIRE(call.begin().goes_on());
    call.attempt().mark_not_run();
    REQUIRE(call.threw(busy).goes_on());
    text = call.save();
  }
  Process second{start + 10s};
  const auto policy = second.of(patient);
  DurableCall call{policy, SavedCall::read(text)};
  CHECK(call.resume().goes_on());
  CHECK(call.threw(busy) == Decision{.stop = StopReason::not_repeatable});
}

TEST_CASE("a last attempt that was cut off by a restart was the last [A1]", "[durable_call]") {
  const auto once = patient.with(MaxRetries{0});
  Process second;
  const auto policy = second.of(once);
  DurableCall call{policy, SavedCall::read(under_way(once, ReplaySafety::repeatable))};
  CHECK(call.next() == Decision{.stop = StopReason::retries_exhausted});
}

TEST_CASE(
    "a restored call is rejected for a policy that decides differently, with both fingerprints, or accepted "
    "on request",
    "[durable_call]") {
  const auto text = waiting(patient);
  Process second;
  const auto fewer = second.of(patient.with(MaxRetries{0}));
  CHECK(refusal_of([&] { return DurableCall{fewer, SavedCall::read(text)}.attempts(); }) ==
        "encore: policy = " + Fingerprint::of(patient).text() +
            " is invalid: the fingerprint of this policy is " + Fingerprint::of(fewer).text());
  DurableCall call{fewer, SavedCall::read(text), IfPolicyChanged::accept};
  CHECK(call.next() ==
        Decision{.stop = StopReason::retries_exhausted});  // one attempt was made, one is allowed
  const auto more = second.of(patient.with(MaxRetries{9}));
  DurableCall longer{more, SavedCall::read(text), IfPolicyChanged::accept};
  CHECK(longer.next() == Decision{.wait = 10s});
}

TEST_CASE("a stop request holds in the next process too [K1]", "[durable_call]") {
  Process second{start + 4s};
  const auto policy = second.of(patient);
  std::stop_source source;
  const auto token = source.get_token();
  DurableCall call{policy, SavedCall::read(waiting(patient)), IfPolicyChanged::refuse, token};
  CHECK(call.next() == Decision{.wait = 6s});
  second.clock.advance(1s);
  source.request_stop();
  CHECK(call.resume() == Decision{.stop = StopReason::cancelled});
  CHECK(call.slept() == 5s);
}

TEST_CASE("a saved call continues with next or resume alone: it has begun already [A4, I1]",
          "[durable_call]") {
  Process second;
  const auto policy = second.of(patient);
  for (const auto& text : {under_way(patient, ReplaySafety::never), waiting(patient)}) {
    DurableCall call{policy, SavedCall::read(text)};
    CHECK_THROWS_AS(call.begin(), std::invalid_argument);
  }
}

TEST_CASE(
    "a caller that found out how an interrupted attempt ended can report it without another attempt [I3]",
    "[durable_call]") {
  Process second;
  const auto policy = second.of(patient);
  const auto saved = SavedCall::read(under_way(patient, ReplaySafety::repeatable));
  DurableCall done{policy, saved};
  done.succeeded();
  CHECK(done.next().stop == StopReason::succeeded);
  DurableCall failed{policy, saved};
  failed.attempt().mark_answered();
  const std::logic_error not_found{"404"};
  CHECK(failed.threw(&not_found).stop == StopReason::not_retryable);
  CHECK(failed.next().stop == StopReason::not_retryable);
  CHECK_FALSE(failed.resume().goes_on());
}

TEST_CASE("only a call that is in progress can be saved", "[durable_call]") {
  DurableCall call{patient, {.id = "job-7"}};
  const std::string refused{"encore: call = job-7 cannot be saved: it has not begun, or it is over"};
  CHECK(refusal_of([&] { return call.save(); }) == refused);
  CHECK(call.begin().goes_on());
  CHECK(refusal_of([&] { return call.save(); }) == "not refused");
  call.succeeded();
  CHECK(refusal_of([&] { return call.save(); }) == refused);
  CHECK(call.next() == Decision{.stop = StopReason::succeeded});
}

TEST_CASE("a restored call owns its texts [A4]", "[durable_call]") {
  std::string id{"job-7"};
  DurableCall call{patient, {.id = id}};
  id = "job-8";
  CHECK(call.begin().goes_on());
  CHECK(SavedCall::read(call.save()).id == "job-7");
}
