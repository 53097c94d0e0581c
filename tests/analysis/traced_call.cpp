#include <encore/analysis/traced_call.hpp>

#include <catch2/catch_test_macros.hpp>

#include <initializer_list>

namespace {

using encore::AttemptEnd;
using encore::OrdinalsSeen;
using encore::StopReason;
using encore::TracedAttempt;
using encore::TracedCall;

static_assert(to_string(AttemptEnd::failed) == "failed");

OrdinalsSeen seen(std::initializer_list<int> ordinals) {
  OrdinalsSeen all;
  for (const auto ordinal : ordinals) all.add(ordinal);
  return all;
}

TEST_CASE("missing and repeated attempt numbers are counted, in any order", "[traced_call]") {
  CHECK(seen({1, 2, 3}).missing() == 0);
  CHECK(seen({3, 1, 2}) == seen({1, 2, 3}));
  CHECK(seen({2}).missing() == 1);
  CHECK(seen({1, 4}).missing() == 2);
  CHECK(seen({1, 2, 1, 2}).repeated == 2);
  CHECK(seen({1, 2, 3}).repeated == 0);
  CHECK(seen({0, -1}) == OrdinalsSeen{});  // not told
}

TEST_CASE("attempt numbers past the 64th are neither missing nor repeated, and do no harm", "[traced_call]") {
  OrdinalsSeen all;
  for (int ordinal = 1; ordinal <= 200; ++ordinal) all.add(ordinal);
  all.add(200);
  CHECK(all.missing() == 0);
  CHECK(all.repeated == 0);
  CHECK(all.highest == 200);
  CHECK(seen({64}).missing() == 63);
  CHECK(seen({2'147'483'647}).missing() == 64);
}

TEST_CASE("a traced attempt's outcome is unknown if its request was sent and no response came [I3]",
          "[traced_call]") {
  CHECK(TracedAttempt{{.dispatched = true}}.outcome_unknown());
  CHECK(!TracedAttempt{}.outcome_unknown());
  CHECK(!TracedAttempt{{.dispatched = true, .answered = true}}.outcome_unknown());
  CHECK(!TracedAttempt{{.status = 503, .dispatched = true}}.outcome_unknown());
  CHECK(!TracedAttempt{{.dispatched = true, .not_run = true}}.outcome_unknown());
  // The second of two requests settles the first only by an answer.
  CHECK(TracedAttempt{{.status = 503, .dispatched = true, .not_run = true, .dispatched_again = true}}
            .outcome_unknown());
  CHECK(!TracedAttempt{{.dispatched = true, .answered = true, .dispatched_again = true}}.outcome_unknown());
}

TEST_CASE("the number of a traced call's attempts comes from the policy's records, or else from other logs",
          "[traced_call]") {
  CHECK(TracedCall{.reported_by_policy = true, .attempt_count = 2, .request_count = 9}
            .reported_attempt_count() == 2);
  CHECK(TracedCall{.reported_by_policy = true, .attempt_count = 2, .attempts_made = 3}
            .reported_attempt_count() == 3);
  CHECK(TracedCall{.reported_by_policy = true, .request_count = 9}.reported_attempt_count() ==
        0);  // refused on entry
  CHECK(TracedCall{.request_count = 9}.reported_attempt_count() == 9);
}

TEST_CASE("a call of a trace failed according to its end, or else its last attempt", "[traced_call]") {
  CHECK(TracedCall{.finished = true, .reason = StopReason::retries_exhausted, .error_type = "E"}.failed());
  CHECK(!TracedCall{.finished = true, .reason = StopReason::succeeded}.failed());
  CHECK(!TracedCall{.finished = true, .reason = StopReason::excluded_tool}.failed());  // it returned
  CHECK(!TracedCall{}.failed());
  CHECK(TracedCall{.requests = {{{}, AttemptEnd::failed}}}.failed());
  CHECK(!TracedCall{.requests = {{{}, AttemptEnd::failed}, {{}, AttemptEnd::succeeded}}}.failed());
  CHECK(!TracedCall{.reported_by_policy = true, .attempts = {{{.will_retry = true}, AttemptEnd::failed}}}
             .failed());
}

}  // namespace
