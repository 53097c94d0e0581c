#include <encore/analysis/call_findings.hpp>
#include <encore/http/status.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::chrono_literals;
using encore::AttemptEnd;
using encore::CallFindings;
using encore::Finding;
using encore::FindingKind;
using encore::StopReason;
using encore::TracedAttempt;
using encore::TracedCall;
using Kinds = std::vector<std::string>;

Kinds kinds_of(const TracedCall& call, std::optional<int> ceiling = {}) {
  Kinds kinds;
  std::map<std::string, Finding> findings;
  CallFindings{call, ceiling, {}}.report([&](FindingKind kind, std::string_view detail) -> Finding& {
    kinds.push_back(std::string{to_string(kind)} + (detail.empty() ? "" : ":") + std::string{detail});
    return findings[kinds.back()];
  });
  return kinds;
}
TracedCall ended(StopReason reason, int attempts = 1) {
  TracedCall call{.id = "call-17",
                  .reported_by_policy = true,
                  .attempt_count = attempts,
                  .finished = true,
                  .reason = reason,
                  .attempts_made = attempts,
                  .error_type = reason == StopReason::succeeded ? "" : "E"};
  for (int ordinal = 1; ordinal <= attempts; ++ordinal) call.ordinals.add(ordinal);
  return call;
}

TEST_CASE("each reason for which a call can end is a finding, or expected [G7]", "[call_findings]") {
  const std::map<StopReason, Kinds> expected{
      {StopReason::none, {}},
      {StopReason::succeeded, {}},
      {StopReason::excluded_tool, {"ran_once:excluded_tool"}},
      {StopReason::not_retryable, {"not_retryable:E"}},
      {StopReason::never_retry_type, {"not_retryable:E"}},
      {StopReason::predicate_threw, {"not_retryable:E"}},
      {StopReason::retries_exhausted, {"exhausted:E"}},
      {StopReason::deadline, {"out_of_time:deadline"}},
      {StopReason::too_little_time_left, {"out_of_time:too_little_time_left"}},
      {StopReason::hint_over_cap, {"out_of_time:hint_over_cap"}},
      {StopReason::hint_past_deadline, {"out_of_time:hint_past_deadline"}},
      {StopReason::cancelled, {"cancelled:cancelled"}},
      {StopReason::circuit_open, {"refused:circuit_open"}},
      {StopReason::retry_budget_spent, {"refused:retry_budget_spent"}},
      {StopReason::call_limit_reached, {"refused:call_limit_reached"}},
      {StopReason::step_limit_reached, {"refused:step_limit_reached"}},
      {StopReason::loop_detected, {"refused:loop_detected"}},
      {StopReason::spend_limit_reached, {"refused:spend_limit_reached"}},
      {StopReason::refused_by_guard, {"refused:refused_by_guard"}},
      {StopReason::not_repeatable, {"ran_once:not_repeatable"}},
      {StopReason::unknown_outcome, {}},
      {StopReason::nested_made_single, {}},
      {StopReason::expired_on_entry, {"out_of_time:expired_on_entry"}},
      {StopReason::cancelled_on_entry, {"cancelled:cancelled_on_entry"}},
      {StopReason::unknown_tool, {"refused:unknown_tool"}},
      {StopReason::run_over, {"refused:run_over"}},
  };
  REQUIRE(expected.size() == encore::stop_reason_count);
  for (const auto& [reason, kinds] : expected) {
    CAPTURE(to_string(reason));
    CHECK(kinds_of(ended(reason)) == kinds);
  }
}

TEST_CASE(
    "a success after retries is the finding recovered, and an excluded tool that returned is no finding",
    "[call_findings]") {
  CHECK(kinds_of(ended(StopReason::succeeded, 2)) == Kinds{"recovered"});
  auto excluded = ended(StopReason::excluded_tool);
  excluded.error_type.clear();
  CHECK(kinds_of(excluded).empty());
}

TEST_CASE("an unknown outcome is a finding whatever the stop reason [I3]", "[call_findings]") {
  auto call = ended(StopReason::not_retryable);
  call.outcome_unknown = true;
  CHECK(kinds_of(call) == Kinds{"outcome_unknown", "not_retryable:E"});
}

TEST_CASE("a returned result that reports a tool's failure is a finding [B8]", "[call_findings]") {
  auto call = ended(StopReason::succeeded);
  call.attempts = {{{.ordinal = 1, .error_result = true}, AttemptEnd::succeeded}};
  CHECK(kinds_of(call) == Kinds{"error_result"});
}

TEST_CASE("a call's own ceiling takes precedence over the given one", "[call_findings]") {
  auto call = ended(StopReason::succeeded, 3);
  CHECK(kinds_of(call, 2) == Kinds{"recovered", "over_ceiling"});
  call.max_attempts = 3;
  CHECK(kinds_of(call, 2) == Kinds{"recovered"});
}

TEST_CASE("an inner call with one attempt in each of the outer one's attempts multiplies nothing [J1]",
          "[call_findings]") {
  auto call = ended(StopReason::succeeded, 2);
  call.inner_calls = 2;
  call.inner_attempts = 2;
  CHECK(kinds_of(call) == Kinds{"recovered"});
  call.inner_attempts = 3;
  CHECK(kinds_of(call) == Kinds{"layers_multiplied:policy", "recovered"});
  call.inner_attempts = 0;
  call.request_count = 2;
  CHECK(kinds_of(call) == Kinds{"recovered"});
  call.request_count = 3;
  CHECK(kinds_of(call) == Kinds{"layers_multiplied:client", "recovered"});
}

TEST_CASE(
    "a request sent again within one attempt is the finding of a layer that multiplies [I3, J1] (fault 63: "
    "libcurl)",
    "[call_findings]") {
  auto call = ended(StopReason::succeeded, 2);
  call.attempts = {{{.ordinal = 1}, AttemptEnd::failed}, {{.ordinal = 2}, AttemptEnd::succeeded}};
  CHECK(kinds_of(call) == Kinds{"recovered"});
  call.attempts[1].dispatched = call.attempts[1].answered = call.attempts[1].dispatched_again = true;
  CHECK(kinds_of(call) == Kinds{"layers_multiplied:transport", "recovered"});
}

TEST_CASE("a failure is recognized as transient by type, text or status, including 529 [B8]",
          "[call_findings]") {
  const auto passes = [](const TracedAttempt& attempt) {
    auto call = ended(StopReason::not_retryable);
    call.attempts = {attempt};
    Finding found;
    CallFindings{call, {}, {}}.report([&](FindingKind, std::string_view) -> Finding& { return found; });
    return found.looks_transient;
  };
  CHECK(passes({{.error_type = "httpx.ReadTimeout"}}));
  CHECK(passes({{.error_type = "ConnectionError"}}));
  CHECK(passes({{.error_type = "RuntimeError", .message = "dependency timed out"}}));
  for (const auto* const type : {"ServiceUnavailable", "openai.RateLimitError", "RateLimited",
                                 "ThrottlingException", "TooManyRequests"})
    CHECK(passes({{.error_type = type}}));
  for (int status = 100; status < 600; ++status)
    CHECK(passes({{.error_type = "HttpError", .status = status}}) == encore::http::is_transient(status));
  CHECK(passes({{.error_type = "overloaded_error"}}));
  CHECK(passes({{.error_type = "HttpError", .error_code = "rate_limit_exceeded"}}));
  CHECK(!passes({{.error_type = "HttpError", .error_code = "insufficient_quota"}}));
  CHECK(!passes({{.error_type = "InvalidArgument"}}));
  CHECK(!passes({{.error_type = "ValueError", .message = "sku must not be blank"}}));
  CHECK(!passes({}));
}

TEST_CASE("an attempt at exactly the deadline is not past it, and one just after is", "[call_findings]") {
  const auto past = [](encore::Duration began_after) {
    TracedCall call{.id = "a",
                    .tool = "t",
                    .requests = {{{.ordinal = 1}, AttemptEnd::failed},
                                 {{.ordinal = 2}, AttemptEnd::succeeded, encore::WallTime{} + began_after}},
                    .request_count = 2,
                    .deadline = encore::WallTime{} + 5s};
    return kinds_of(call).size() > 2;  // beside never_reached_policy and recovered
  };
  CHECK(!past(5s));
  CHECK(past(5s + 1ns));
}

}  // namespace
