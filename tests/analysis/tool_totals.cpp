#include <encore/analysis/tool_totals.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <optional>

namespace {

using namespace std::chrono_literals;
using encore::AttemptEnd;
using encore::StopReason;
using encore::ToolTotals;
using encore::TracedCall;

ToolTotals totals_of(const TracedCall& call) {
  ToolTotals totals;
  totals.add(call);
  return totals;
}

TEST_CASE("a traced call counts as succeeded, failed or unfinished", "[tool_totals]") {
  const TracedCall recovered{.reported_by_policy = true,
                             .attempt_count = 2,
                             .finished = true,
                             .reason = StopReason::succeeded,
                             .elapsed = 1s};
  CHECK(totals_of(recovered) ==
        ToolTotals{.calls = 1, .attempts = 2, .succeeded = 1, .recovered = 1, .worked = 1s});
  const TracedCall exhausted{.reported_by_policy = true,
                             .attempt_count = 3,
                             .finished = true,
                             .reason = StopReason::retries_exhausted,
                             .slept = 2s,
                             .elapsed = 5s,
                             .error_type = "E",
                             .observer_errors = 1};
  CHECK(totals_of(exhausted) == ToolTotals{.calls = 1,
                                           .attempts = 3,
                                           .failed = 1,
                                           .exhausted = 1,
                                           .observer_errors = 1,
                                           .slept = 2s,
                                           .worked = 3s});
  const TracedCall open{
      .reported_by_policy = true, .attempts = {{{.wait = 2s}, AttemptEnd::failed}}, .attempt_count = 1};
  CHECK(totals_of(open) ==
        ToolTotals{.calls = 1, .attempts = 1, .unfinished = 1, .slept = 2s, .worked_is_known = false});
}

TEST_CASE("a call that only other logs show ended as its last attempt did", "[tool_totals]") {
  const TracedCall good{
      .requests = {{{.took = 1s}, AttemptEnd::failed}, {{.took = 2s}, AttemptEnd::succeeded}},
      .request_count = 2};
  CHECK(totals_of(good) ==
        ToolTotals{.calls = 1, .attempts = 2, .requests = 2, .succeeded = 1, .recovered = 1, .worked = 3s});
  const TracedCall bad{.requests = {{{.took = 1s}, AttemptEnd::failed}}, .request_count = 1};
  CHECK(totals_of(bad) == ToolTotals{.calls = 1, .attempts = 1, .requests = 1, .failed = 1, .worked = 1s});
}

TEST_CASE("a result that reports the tool's failure is a success, and counted separately [B8]",
          "[tool_totals]") {
  const TracedCall call{.reported_by_policy = true,
                        .attempts = {{{.error_result = true}, AttemptEnd::succeeded}},
                        .attempt_count = 1,
                        .finished = true,
                        .reason = StopReason::succeeded,
                        .elapsed = 0s};
  CHECK(totals_of(call) == ToolTotals{.calls = 1, .attempts = 1, .succeeded = 1, .error_results = 1});
}

TEST_CASE("a call's working time is its duration without its waits, or else the sum of its attempts",
          "[tool_totals]") {
  CHECK(totals_of({.slept = 2s, .elapsed = 5s}).worked == 3s);
  CHECK(totals_of({.slept = 5s, .elapsed = 2s}).worked == 0s);  // a clock that was set back
  CHECK(totals_of({.reported_by_policy = true, .attempts = {{{.took = 1s}}, {{.took = 2s}}}}).worked == 3s);
  CHECK(!totals_of({.reported_by_policy = true, .attempts = {{{.took = 1s}}, {}}}).worked_is_known);
}

}  // namespace
