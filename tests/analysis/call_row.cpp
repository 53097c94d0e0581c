#include <encore/analysis/call_row.hpp>

#include <catch2/catch_test_macros.hpp>

using encore::AttemptEnd, encore::StopReason, encore::TracedCall;

TEST_CASE("a call of a trace failed according to its end, or else its last attempt", "[call_row]") {
  CHECK(failed(TracedCall{.finished = true, .reason = StopReason::retries_exhausted, .error_type = "E"}));
  CHECK(!failed(TracedCall{.finished = true, .reason = StopReason::succeeded}));
  CHECK(!failed(TracedCall{.finished = true, .reason = StopReason::excluded_tool}));  // it returned
  CHECK(!failed(TracedCall{}));
  CHECK(failed(TracedCall{.requests = {{{}, AttemptEnd::failed}}}));
  CHECK(!failed(TracedCall{.requests = {{{}, AttemptEnd::failed}, {{}, AttemptEnd::succeeded}}}));
  CHECK(!failed(
      TracedCall{.reported_by_policy = true, .attempts = {{{.will_retry = true}, AttemptEnd::failed}}}));
}
