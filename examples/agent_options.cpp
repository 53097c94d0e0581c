// Every guard and every part of the tool layer once, each in use: a page to look things up in, from which README.md quotes.
#include <encore/agent/call_limit.hpp>
#include <encore/agent/loop_detector.hpp>
#include <encore/agent/spend_limit.hpp>
#include <encore/agent/step_limit.hpp>
#include <encore/agent/tool_catalog.hpp>
#include <encore/agent/tool_retry.hpp>
#include <encore/agent/tool_run.hpp>
#include <encore/already_retries.hpp>
#include <encore/encore.hpp>
#include <encore/guard/circuit_breaker.hpp>
#include <encore/guard/circuit_breakers.hpp>
#include <encore/guard/per_call.hpp>
#include <encore/guard/retry_budget.hpp>
#include <encore/guard/retry_quota.hpp>
#include <encore/testing/fake_clock.hpp>

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;
using namespace encore;

namespace {

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};
struct RateLimited : TimeoutError {
  using TimeoutError::TimeoutError;
};
struct Interrupted : Unretryable {
  using Unretryable::Unretryable;
};

testing::FakeClock fake_clock;  // so that nothing here really waits

bool all_well = true;
void expect(bool holds, std::string_view what) {
  if (!holds) fmt::print("not as expected: {}\n", what);
  all_well = all_well && holds;
}

// ---- what may be repeated ------------------------------------------------------------------------------------------

const RetryPolicy tool_policy{RetryOn<TimeoutError>{}, ConstantBackoff{1s}, fake_clock};

ToolResult dispatch(const ToolCall& call, const Attempt& attempt) {
  if (attempt.ordinal == 1) throw TimeoutError{"no answer"};
  return {.content = "17 units of " + call.arguments};
}

void with_a_dispatch_of_ones_own() {
  const ToolCall tool_call{.id = "call-1", .name = "inventory_lookup", .arguments = "A-17"};
  const ToolRetry tools{tool_policy, Repeatable{"inventory_lookup"}, RepeatableWithKey{"ship"}, TellModel{}};
  const auto result = tools.handle(tool_call, [&](const ToolCall& call, const Attempt& attempt) {
    return dispatch(call, attempt);  // again, if it throws a TimeoutError
  });
  expect(result.content == "17 units of A-17", "ToolRetry");
}

// How often a layer makes a call of this tool whose request is lost.
template <class Tools>
int attempts(const Tools& tools, std::string_view name, bool asks_for_key = false) {
  int made = 0;
  const ToolCall call{.id = "call_0", .name = std::string{name}};
  const auto lost = [&](const ToolCall&, const Attempt& attempt) -> ToolResult {
    ++made;
    if (asks_for_key) static_cast<void>(attempt.idempotency_key());
    attempt.mark_dispatched();  // attempt.mark_answered() follows as soon as an answer has come
    throw TimeoutError{"no answer"};
  };
  expect(tools.handle(call, lost).is_error(), "a failure is an error result");
  return made;
}

void what_may_be_repeated() {
  int unknown = 0;
  const ToolRetry tools{tool_policy,
                        Repeatable{"inventory_lookup"},
                        RepeatableWithKey{"ship"},
                        RepeatableIf{[](std::string_view name) { return name.starts_with("get_"); }},
                        OnUnknownOutcome{[&](const UnknownOutcome&) { ++unknown; }},
                        TellModel{}};
  expect(attempts(tools, "inventory_lookup") == 3, "Repeatable");
  expect(attempts(tools, "get_weather") == 3, "RepeatableIf");
  expect(unknown == 0, "what is harmless to repeat is not reported");
  expect(attempts(tools, "ship", true) == 3, "RepeatableWithKey, and the key was sent");
  expect(attempts(tools, "ship") == 1, "RepeatableWithKey, and it was not");
  expect(attempts(tools, "charge_card") == 1, "nothing was said");
  expect(unknown == 3, "OnUnknownOutcome");

  const ToolRetry every_tool{tool_policy, RepeatableIf{[](std::string_view) { return true; }}, TellModel{}};
  expect(attempts(every_tool, "charge_card") == 3, "all tools");
  const ToolRetry no_tool{tool_policy, Repeatable{}, TellModel{}};
  expect(attempts(no_tool, "inventory_lookup") == 1, "no tool");
}

void what_the_model_gets() {
  const ToolCall call{.id = "call-1", .name = "inventory_lookup"};
  const auto fails = [](const ToolCall&) -> ToolResult { throw TimeoutError{"no answer from stock-3"}; };
  const Repeatable lookup{"inventory_lookup"};
  expect(ToolRetry{tool_policy, lookup, TellModel{}}.handle(call, fails).content ==
             "The tool \"inventory_lookup\" failed after 3 attempts: TimeoutError.",
         "TellModel");
  const ToolRetry own_text{tool_policy, lookup, TellModelWith{[](const Failure& failure) {
                             return fmt::format("UNAVAILABLE after {}", failure.attempts);
                           }}};
  expect(own_text.handle(call, fails).content == "UNAVAILABLE after 3", "TellModelWith");
  const ToolRetry louder{tool_policy, lookup,
                         TellModel{{.exception_text = true, .advice = "Use the catalogue instead."}}};
  expect(
      louder.handle(call, fails).content.ends_with("\"no answer from stock-3\". Use the catalogue instead."),
      "TellModel with more text");

  try {
    ToolRetry{tool_policy, lookup, HandleUnmatched{}, TellModel{}}.handle(
        call, [](const ToolCall&) -> ToolResult { throw Interrupted{"ask a person"}; });
    expect(false, "an interrupt passes through");
  } catch (const Interrupted&) {}

  // A returned error is told to observers; only this predicate retries it.
  int made = 0;
  const auto errs = [&](const ToolCall&) { return ++made, ToolResult{.status = ToolStatus::error}; };
  const RetryPolicy results{RetryOn<TimeoutError>{} || RetryIfErrorResult{}, fake_clock};
  expect(ToolRetry{results, lookup, TellModel{}}.handle(call, errs).is_error() && made == 3,
         "RetryIfErrorResult");
  const ToolRetry bools{tool_policy, lookup, ErrorResultIf{[](bool well) { return !well; }}};
  expect(!bools.handle(call, [](const ToolCall&) { return false; }), "ErrorResultIf");
}

// ---- the guards of a policy ----------------------------------------------------------------------------------------

// Why a call under this policy ends if it fails for ever.
template <class Policy>
StopReason reason(const Policy& policy, std::string_view name = "search") {
  const auto times_out = []() -> int { throw TimeoutError{"no answer"}; };
  return policy.with(fake_clock, ReturnOutcome{}).run({.name = name}, times_out).reason();
}

void guards_of_a_policy() {
  const RetryPolicy policy{RetryOn<TimeoutError>{}, MaxAttempts{4}};
  using enum StopReason;

  CircuitBreaker breaker{{.failures_to_open = 3, .open_for = 30s}};
  expect(reason(policy.with(breaker)) == circuit_open && reason(policy.with(breaker)) == circuit_open,
         "CircuitBreaker");
  CircuitBreaker judges_calls{{.failures_to_open = 2, .open_for = 30s}};
  expect(reason(policy.with(PerCall{judges_calls})) == retries_exhausted, "PerCall");
  CircuitBreakers breakers{{.each = {.failures_to_open = 2}}};
  reason(policy.with(breakers));
  expect(breakers.state("search", Now{fake_clock}) == CircuitState::open &&
             breakers.state("weather", Now{fake_clock}) == CircuitState::closed,
         "CircuitBreakers");

  RetryBudget budget{{.share = 0.1}};
  expect(reason(policy.with(budget)) == retry_budget_spent, "RetryBudget: two retries, and no third");
  const auto before = fake_clock.now();
  expect(
      reason(policy.with(budget, WaitWhenRefused{}, ConstantBackoff{1s}, NoJitter{})) == retry_budget_spent &&
          fake_clock.now() - before == 1s,
      "WaitWhenRefused");
  RetryQuota like_grpc{GrpcRetryThrottling{.max_tokens = 4, .token_ratio = 0.1}};
  expect(reason(policy.with(like_grpc)) == retry_budget_spent, "GrpcRetryThrottling");
  RetryQuota like_aws{AwsRetryQuota{}, RetryOn<RateLimited>{}};
  expect(reason(policy.with(like_aws)) == retries_exhausted && like_aws.tokens() == 500 - 3 * 14,
         "AwsRetryQuota");
  RetryBudget like_finagle{{.share = 0.2, .floor = 0, .floor_per_second = 10}};
  expect(reason(policy.with(like_finagle)) == retries_exhausted, "RetryBudget: a hundred are there at first");

  ModelCallCounter model_calls{ModelCallLimit{.run_limit = 50}};
  SpendMeter spending{SpendLimit{usd(2)}};
  const auto model_policy = policy.with(model_calls, spending);
  for (int call = 0; call < 50; ++call) reason(model_policy);
  expect(reason(model_policy) == step_limit_reached, "ModelCallLimit: it counts calls, not attempts");
  spending.record(usd("1.99"));
  spending.record(cost_of_tokens(4'000, usd("2.50")));  // at 2.50 USD for a million: a cent
  expect(reason(policy.with(spending)) == spend_limit_reached, "SpendLimit");

  expect(*RetryPolicy{RetryOn<TimeoutError>{}, MaxAttempts{4}, AlreadyRetries{3}}.max_requests() == 12,
         "AlreadyRetries");
  const auto inner = policy.with(WhenNested{Nested::make_single}, fake_clock);
  int requests = 0;
  const RetryPolicy outer{RetryOn<TimeoutError>{}, MaxAttempts{4}, WhenNested{}, ReturnOutcome{}, fake_clock};
  static_cast<void>(outer.run([&]() -> int {
    return inner.run([&]() -> int {
      ++requests;
      throw TimeoutError{"no answer"};
    });
  }));
  expect(requests == 4, "WhenNested: four requests, not sixteen");
}

// ---- the guards of a run -------------------------------------------------------------------------------------------

enum class Words { same, new_each_time };

// How many calls of `search` a run with this guard makes, of a hundred.
template <class... Guard>
int calls_made(Words words, const Guard&... guards) {
  int made = 0;
  ToolCatalog tools;
  tools.add("search", [&](const std::string&) { return std::to_string(++made); });
  ToolRun run{tools, guards...};
  for (int call = 0; call < 100; ++call) {
    const auto query = words == Words::same ? "retry" : "retry " + std::to_string(call);
    run.handle(ToolCall{.name = "search", .arguments = query});
  }
  return made;
}

// Is a run with this guard over after a hundred turns, of which most are refused?
template <class... Guard>
bool ends_insisting_model(const Guard&... guards) {
  ToolCatalog tools;
  tools.add("search", [](const std::string&) { return "nothing found"; });
  ToolRun run{tools, guards...};
  for (int turn = 0; turn < 100; ++turn)
    run.handle(ToolCall{.name = "search", .arguments = std::to_string(turn)});
  return run.over() && run.over()->reason == StopReason::run_over;
}

void guards_of_a_run() {
  expect(calls_made(Words::same, CallLimit{.run_limit = 20}) == 20, "CallLimit");
  expect(calls_made(Words::same, CallLimit{.run_limit = 20, .on_limit = OnLimit::answer_calls}) == 20,
         "answer_calls");
  expect(calls_made(Words::same, CallLimit{.tool = "search", .thread_limit = 10}) == 10,
         "CallLimit of one tool");
  expect(calls_made(Words::same, CallLimit{.run_limit = 20, .on_limit = OnLimit::end_run}) == 20,
         "OnLimit::end_run");
  expect(calls_made(Words::same, StepLimit{.run_limit = 50}) == 50, "StepLimit");
  expect(calls_made(Words::same, LoopDetector{.repeats = 3}) == 3, "LoopDetector");
  expect(calls_made(Words::same, LoopDetector{.repeats = 3, .max_cycle_len = 8, .with_results = true}) == 100,
         "LoopDetector, where results count");
  const LoopDetector by_name{.signature = [](const IssuedCall& call) { return std::string{call.name}; }};
  expect(calls_made(Words::new_each_time, LoopDetector{}) == 100 &&
             calls_made(Words::new_each_time, by_name) == 3,
         "LoopDetector with a signature of the host's");
  const RefusedTurns patient{.by_limits = UnlimitedTurns{}};
  expect(!ends_insisting_model(CallLimit{.run_limit = 20}, patient) &&
             ends_insisting_model(CallLimit{.run_limit = 20}),
         "RefusedTurns");
  try {
    calls_made(Words::same, CallLimit{.run_limit = 20, .on_limit = OnLimit::throw_exception});
    expect(false, "OnLimit::throw_exception");
  } catch (const CallLimitExceeded& refused) {
    expect(refused.run_count() == 21, "CallLimitExceeded");
  }
}

}  // namespace

int main() {
  with_a_dispatch_of_ones_own();
  what_may_be_repeated();
  what_the_model_gets();
  guards_of_a_policy();
  guards_of_a_run();
  fmt::print("{}\n", all_well ? "every guard and every part does what it is there for" : "see above");
  return all_well ? 0 : 1;
}
