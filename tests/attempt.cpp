#include <encore/attempt.hpp>
#include <encore/limits.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/retrying.hpp>
#include <encore/scope.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::Attempt, encore::AttemptNotes, encore::Duration, encore::RetryOn, encore::RetryPolicy;
using encore::TimeLimits, encore::TimePoint;

namespace {

struct TimeoutError : std::runtime_error {
  TimeoutError() : std::runtime_error{"slow"} {}
};
const RetryPolicy plain{RetryOn<TimeoutError>{}, encore::NoJitter{}};

// ---- time limits (D2, D3, D7), as pure arithmetic ---------------------------------------------------------------------

constexpr TimePoint at(Duration since) { return TimePoint{since}; }
constexpr TimeLimits none{};
static_assert(!none.bounded() && none.remaining(at(1h)) == Duration::max() && !none.end());

constexpr TimeLimits budget{.started = at(100s), .budget = 5s};
static_assert(budget.bounded() && budget.end() == at(105s));
static_assert(budget.remaining(at(100s)) == 5s);
static_assert(budget.remaining(at(104s)) == 1s);
static_assert(budget.remaining(at(105s)) == 0s);
static_assert(budget.remaining(at(1000h)) == 0s);
static_assert(budget.remaining(at(0s)) == 5s);  // a clock that was set back gives no time
static_assert(budget.remaining(TimePoint::min()) == 5s && budget.remaining(TimePoint::max()) == 0s);

constexpr TimeLimits deadline{.deadline = at(103s)};
static_assert(deadline.end() == at(103s));
static_assert(deadline.remaining(at(100s)) == 3s && deadline.remaining(at(103s)) == 0s &&
              deadline.remaining(at(104s)) == 0s);
static_assert(deadline.remaining(TimePoint::min()) == Duration::max());

constexpr TimeLimits both{.started = at(100s), .budget = 5s, .deadline = at(103s)};
static_assert(both.end() == at(103s) && both.remaining(at(101s)) == 2s);
constexpr TimeLimits both_the_other_way{.started = at(100s), .budget = 5s, .deadline = at(200s)};
static_assert(both_the_other_way.end() == at(105s) && both_the_other_way.remaining(at(101s)) == 4s);

constexpr TimeLimits endless{.started = at(100s), .budget = Duration::max(), .deadline = TimePoint::max()};
static_assert(endless.end() == TimePoint::max() &&
              endless.remaining(at(200s)) > 1000h);  // no sum overflows (C7)

// ---- what the callable is told ------------------------------------------------------------------------------------------

TEST_CASE("an attempt gives access to its call, its number and its stop token [A4, D6]", "[attempt]") {
  std::stop_source source;
  const auto token = source.get_token();
  plain.run({.id = "call-17", .name = "lookup", .deadline = TimePoint::max(), .stop = token},
            [&](const Attempt& attempt) {
              CHECK(attempt.ordinal == 1);
              CHECK(attempt.call_id() == "call-17");
              CHECK(attempt.call_name() == "lookup");
              CHECK(attempt.deadline() == TimePoint::max());
              CHECK(attempt.call().name == "lookup");
              CHECK_FALSE(attempt.stop().stop_requested());
              source.request_stop();
              CHECK(attempt.stop().stop_requested());
            });
}

TEST_CASE("an attempt reads the clock only if there is a limit to compare with [D6, P5]", "[attempt]") {
  FakeClock clock;
  plain.with(clock).run([](const Attempt& attempt) {
    CHECK_FALSE(attempt.remaining());
    CHECK_FALSE(attempt.deadline());
    CHECK(attempt.remaining_or(9s) == 9s);
    CHECK(attempt.remaining_or(std::chrono::hours::max()) == Duration::max());
    CHECK(attempt.timeout_or<std::chrono::milliseconds>(9s) == 9'000ms);
  });
  CHECK(clock.readings() == 0);
  plain.with(clock, encore::TimeBudget{5s}).run([&](const Attempt& attempt) {
    clock.advance(1s);
    CHECK(attempt.remaining() == 4s);
    clock.advance(10s);
    CHECK(attempt.remaining() == 0s);
  });
  CHECK(clock.readings() == 3);
}

TEST_CASE("an attempt's own limit runs down within the attempt, and is whole again for the next [D6]",
          "[attempt]") {
  // (fault 66: a limit of 200 ms, 300 ms into the attempt: nothing is left)
  FakeClock clock;
  std::vector<std::optional<Duration>> left;
  std::vector<std::optional<TimePoint>> ends;
  const auto look = [&](const Attempt& attempt) {
    left.push_back(attempt.remaining());
    ends.push_back(attempt.deadline());
    clock.advance(150ms);
    left.push_back(attempt.remaining());
    clock.advance(150ms);
    left.push_back(attempt.remaining());
    if (attempt.ordinal == 1) throw TimeoutError{};
  };
  const auto limited = plain.with(clock, encore::AttemptTimeout{200ms});
  limited.run(look);  // the wait of 1 s is not part of an attempt
  CHECK(left == std::vector<std::optional<Duration>>{200ms, 50ms, 0ms, 200ms, 50ms, 0ms});
  CHECK(ends == std::vector<std::optional<TimePoint>>{at(200ms), at(1500ms)});

  left.clear(), ends.clear();
  limited.with(encore::TimeBudget{1400ms}).run(look);  // the earliest limit holds
  CHECK(left == std::vector<std::optional<Duration>>{200ms, 50ms, 0ms, 100ms, 0ms, 0ms});
  CHECK(ends == std::vector<std::optional<TimePoint>>{at(1800ms), at(3000ms)});
}

TEST_CASE("an attempt's own limit counts from the attempt's begin, however late its driver begins it [D6]",
          "[attempt]") {
  FakeClock clock;
  const auto limited = plain.with(clock, encore::AttemptTimeout{200ms});
  encore::Retrying retrying{limited, {}};
  clock.advance(1h);
  REQUIRE(retrying.begin().goes_on());
  clock.advance(50ms);
  CHECK(retrying.attempt().remaining() == 150ms);
  try {
    throw TimeoutError{};
  } catch (const TimeoutError& error) {
    REQUIRE(retrying.threw(&error).goes_on());
  }
  clock.advance(1h);
  REQUIRE(retrying.resume().goes_on());
  CHECK(retrying.attempt().remaining() == 200ms);
}

TEST_CASE("a clock that is set back gives an attempt no more than its own limit [D6, D7]", "[attempt]") {
  constexpr TimeLimits limits{.attempt_started = at(100s), .attempt_timeout = 2s};
  STATIC_CHECK(limits.attempt_remaining(at(101s)) == 1s);
  STATIC_CHECK(limits.attempt_remaining(at(50s)) == 2s);
  STATIC_CHECK(limits.attempt_remaining(TimePoint::min()) == 2s);
  STATIC_CHECK(limits.attempt_remaining(TimePoint::max()) == 0s);
  STATIC_CHECK_FALSE(limits.attempt_timed_out(at(50s)));
  STATIC_CHECK_FALSE(limits.attempt_timed_out(at(102s) - 1ns));
  STATIC_CHECK(limits.attempt_timed_out(at(102s)));
  STATIC_CHECK_FALSE(budget.attempt_timed_out(TimePoint::max()));
}

TEST_CASE("an attempt's remaining timeout is a time limit that is never zero, which would mean no limit [D6]",
          "[attempt]") {
  FakeClock clock;
  using std::chrono::milliseconds, std::chrono::seconds;
  for (const auto waited : {Duration{9'999'999'999}, Duration{10s}, Duration{11s}}) {
    plain.with(clock, encore::TimeBudget{10s}).run([&](const Attempt& attempt) {
      clock.advance(waited);
      CHECK(attempt.remaining() == std::max<Duration>(10s - waited, 0ns));
      CHECK(attempt.timeout_or<milliseconds>(30s) == 1ms);
      CHECK(attempt.timeout_or<seconds>(30s) == 1s);
      CHECK(attempt.remaining_or(milliseconds{30'000}) == 1ns);
      CHECK(attempt.timeout_or<milliseconds>(0s) == 1ms);
    });
  }
  plain.with(clock, encore::TimeBudget{10s}).run([&](const Attempt& attempt) {
    clock.advance(8'000'000'001ns);
    CHECK(attempt.timeout_or<milliseconds>(30s) == 2'000ms);  // rounded up
    CHECK(attempt.timeout_or<milliseconds>(1'500us) == 2ms);
  });
}

TEST_CASE("an attempt with a limit of its own costs two clock readings, a failed one two more [P5]",
          "[attempt]") {
  FakeClock clock;
  const auto policy = plain.with(clock, encore::AttemptTimeout{2s}, encore::TimeBudget{1h});
  policy.run([](const Attempt& attempt) { static_cast<void>(attempt.remaining()); });
  CHECK(clock.readings() == 2);
  policy.run([](const Attempt& attempt) {
    if (attempt.ordinal == 1) throw TimeoutError{};
  });
  CHECK(clock.readings() == 2 + 1 + 2);
}

// ---- notes (F6) -----------------------------------------------------------------------------------------------------------

TEST_CASE("an attempt's notes are bounded, and each attempt starts without any [F6]", "[attempt]") {
  FakeClock clock;
  const std::string long_id(1000, 'r');
  plain.with(clock).run([&](const Attempt& attempt) {
    const AttemptNotes& notes = attempt.notes();
    CHECK_FALSE(notes.status());
    CHECK(notes.request_id().empty());
    CHECK_FALSE(notes.dispatched());
    CHECK_FALSE(notes.answered());
    CHECK_FALSE(notes.not_run());
    CHECK_FALSE(notes.dispatched_again());
    CHECK_FALSE(notes.key_used());
    CHECK_FALSE(notes.outcome_unknown());
    attempt.note_status(0);
    CHECK(notes.status() == 0);
    attempt.note_status(503);
    CHECK(notes.status() == 503);
    attempt.note_request_id("req-1");
    CHECK(notes.request_id() == "req-1");
    attempt.note_request_id(long_id);
    CHECK(notes.request_id() == std::string_view{long_id}.substr(0, AttemptNotes::max_request_id));
    attempt.note_request_id("");
    CHECK(notes.request_id().empty());
    CHECK(notes.error_code().empty());
    attempt.note("insufficient_quota");
    CHECK(notes.error_code() == "insufficient_quota");
    attempt.note(long_id);
    CHECK(notes.error_code() == std::string_view{long_id}.substr(0, AttemptNotes::max_error_code));
    attempt.mark_dispatched();
    CHECK(notes.error_code().size() == AttemptNotes::max_error_code);  // noted before any request
    CHECK(notes.dispatched());
    CHECK(notes.outcome_unknown());
    attempt.mark_answered();
    CHECK_FALSE(notes.outcome_unknown());
    static_cast<void>(attempt.idempotency_key());
    CHECK(notes.key_used());
    attempt.mark_dispatched();
    CHECK(notes.error_code().empty());  // it was an earlier answer's
    attempt.mark_dispatched();
    CHECK(notes.dispatched_again());
    attempt.mark_not_run();
    attempt.note("rate_limit_exceeded");
    if (attempt.ordinal < 3) throw TimeoutError{};
  });
}

// ---- what became of the request (I1, I3) ---------------------------------------------------------------------------------

/// What an attempt's marks come to, in one word for each fact.
std::string told(std::string_view marks) {
  std::string facts;
  plain.run([&](const Attempt& attempt) {
    for (const char mark : marks) {
      if (mark == 'd') attempt.mark_dispatched();
      if (mark == 'a') attempt.mark_answered();
      if (mark == 'n') attempt.mark_not_run();
    }
    const AttemptNotes& notes = attempt.notes();
    if (notes.dispatched()) facts += "dispatched ";
    if (notes.dispatched_again()) facts += "again ";
    if (notes.answered()) facts += "answered ";
    if (notes.not_run()) facts += "not_run ";
    if (notes.outcome_unknown()) facts += "unknown ";
  });
  return facts;
}

TEST_CASE("an attempt's marks record what became of its requests, one after the other [I3]", "[attempt]") {
  CHECK(told("").empty());
  CHECK(told("d") == "dispatched unknown ");
  CHECK(told("da") == "dispatched answered ");
  CHECK(told("a") == "answered ");
  CHECK(told("n") == "not_run ");
  CHECK(told("dn") == "dispatched not_run ");
  // Several requests: each begins anew.
  CHECK(told("dad") == "dispatched unknown ");
  CHECK(told("dada") == "dispatched answered ");
  CHECK(told("dndn") == "dispatched not_run ");
  CHECK(told("nd") == "dispatched unknown ");
  CHECK(told("dna") == "dispatched answered ");
  // Where one was answered, something was done, whatever became of the next.
  CHECK(told("dadn") == "dispatched ");
  CHECK(told("an") == "");
}

TEST_CASE(
    "a second dispatch before an answer is a retry by a lower layer, and only an answer settles the first "
    "[I3, J1]",
    "[attempt]") {
  CHECK(told("dd") == "dispatched again unknown ");
  CHECK(told("dda") == "dispatched again answered ");
  CHECK(told("ddn") == "dispatched again unknown ");
  CHECK(told("ddnd") == "dispatched again unknown ");
  CHECK(told("ddad") == "dispatched again unknown ");
  CHECK(told("ddadn") == "dispatched again ");
}

TEST_CASE("a status belongs to the request that it answered [I3]", "[attempt]") {
  plain.run([](const Attempt& attempt) {
    attempt.note_status(200);
    attempt.mark_dispatched();  // marked late
    CHECK(attempt.notes().status() == 200);
    attempt.mark_answered();
    attempt.mark_dispatched();
    CHECK_FALSE(attempt.notes().status());
  });
}

}  // namespace
