// Every option once, each in a policy that uses it: a page to look things up in, from which README.md quotes.
#include <encore/agent/model_text.hpp>
#include <encore/encore.hpp>
#include <encore/http/retry_after.hpp>
#include <encore/telemetry/format.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>

#include <fmt/core.h>

#include <map>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>

using namespace std::chrono_literals;
using namespace encore;

namespace {

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};
struct ConnectionError : std::runtime_error {
  using runtime_error::runtime_error;
};
struct HttpError : std::runtime_error {
  explicit HttpError(int code) : runtime_error{"http error"}, status{code} {}
  int status;
  std::chrono::milliseconds wait{100};
};
struct QuotaSpent : Unretryable {
  using Unretryable::Unretryable;
};
struct Response {
  int status = 200;
};

testing::FakeClock fake_clock;  // so that nothing here really waits

// Runs a call that fails for ever, in this way, and counts its attempts.
template <class Policy, class Fail>
int attempts(const Policy& policy, Fail fail, Call call = {}) {
  int made = 0;
  try {
    static_cast<void>(policy.with(fake_clock).run(call, [&] { return ++made, fail(); }));
  } catch (const std::exception&) {}
  return made;
}

bool all_well = true;
void expect(bool holds, std::string_view what) {
  if (!holds) fmt::print("not as expected: {}\n", what);
  all_well = all_well && holds;
}

void time_out() { throw TimeoutError{"no answer"}; }
Response answer_503() { return Response{503}; }
void refresh_token() {}

void what_deserves_another_attempt() {
  const RetryPolicy types{RetryOn<TimeoutError, ConnectionError>{}};
  expect(attempts(types, time_out) == 3, "RetryOn");

  const RetryPolicy test{RetryIf{[](const HttpError& error) { return error.status >= 500; }}};
  expect(attempts(test, [] { throw HttpError{503}; }) == 3, "RetryIf says yes");
  expect(attempts(test, [] { throw HttpError{404}; }) == 1, "RetryIf says no");

  const auto reset = [] { throw std::system_error{std::make_error_code(std::errc::connection_reset)}; };
  expect(attempts(RetryPolicy{RetryOnTransientErrorCode{}}, reset) == 3, "RetryOnTransientErrorCode");
  expect(attempts(RetryPolicy{RetryOnErrorCode{std::errc::timed_out}}, reset) == 1, "RetryOnErrorCode");

  const auto wrapped = [] {
    try {
      time_out();
    } catch (...) {
      std::throw_with_nested(std::runtime_error{"look-up failed"});
    }
  };
  expect(attempts(RetryPolicy{RetryOnNested<TimeoutError>{}}, wrapped) == 3, "RetryOnNested");

  const RetryPolicy busy{RetryIfResult{[](const Response& response) { return response.status == 503; }}};
  expect(attempts(busy, answer_503) == 3, "RetryIfResult");
  const RetryPolicy fails{RetryOn<TimeoutError>{}, ReturnOutcome{},
                          FailsIf{[](const Response& response) { return response.status >= 400; }}};
  expect(fails.run(answer_503).reason() == StopReason::not_retryable, "FailsIf");
  const auto nothing = [] { return std::optional<int>{}; };
  expect(attempts(RetryPolicy{RetryIfNoValue{}}, nothing) == 3, "RetryIfNoValue");

  expect(attempts(RetryPolicy{RetryOn<TimeoutError>{} || RetryIfNoValue{}}, nothing) == 3,
         "one or the other");
  expect(attempts(RetryPolicy{!RetryOn<std::invalid_argument>{}}, time_out) == 3, "all but one");
  expect(attempts(RetryPolicy{RetryIfMessageContains{"no answer"}}, time_out) == 3, "by the message");
  expect(attempts(RetryPolicy{RetryOnEveryException{}}, time_out) == 3, "all");

  const RetryPolicy never_type{RetryOnEveryException{}, NeverRetry<TimeoutError>{}};
  expect(attempts(never_type, time_out) == 1, "NeverRetry");
  const RetryPolicy never_test{RetryOnEveryException{},
                               NeverRetryIf{[](const HttpError& error) { return error.status == 501; }}};
  expect(attempts(never_test, [] { throw HttpError{501}; }) == 1, "NeverRetryIf");
  expect(attempts(RetryPolicy{RetryOnEveryException{}}, [] { throw QuotaSpent{"no more"}; }) == 1,
         "Unretryable");
}

void how_often_and_until_when() {
  const RetryPolicy policy{RetryOn<TimeoutError>{}, ConstantBackoff{1s}, NoJitter{}};
  expect(attempts(policy.with(MaxRetries{2}), time_out) == 3, "MaxRetries");
  expect(attempts(policy.with(MaxAttempts{3}), time_out) == 3, "MaxAttempts");
  expect(attempts(policy.with(TimeBudget{5s}), time_out) == 5, "TimeBudget alone: at 0, 1, 2, 3 and 4 s");
  expect(attempts(policy.with(TimeBudget{5s}, MinAttemptTime{1500ms}), time_out) == 4, "MinAttemptTime");
  expect(attempts(policy, time_out, {.deadline = fake_clock.now() + 2s}) == 2, "a deadline");

  std::stop_source source;
  const auto token = source.get_token();
  fake_clock.after(3500ms, [&] { source.request_stop(); });
  expect(attempts(policy.with(UnlimitedRetries{}), time_out, {.stop = token}) == 4, "a stop token");

  policy.with(AttemptTimeout{2s}).run([](const Attempt& attempt) {
    expect(attempt.timeout_or<std::chrono::milliseconds>(10s) == 2s, "AttemptTimeout");
  });
}

void how_long_to_wait() {
  const auto waits = [](auto backoff) {
    const RetryPolicy policy{RetryOn<TimeoutError>{}, MaxRetries{4}, backoff, NoJitter{}};
    testing::Durations middle;
    for (const WaitRange& wait : policy.schedule()) middle.push_back(wait.median);
    return middle;
  };
  using testing::Durations;
  expect(waits(ExponentialBackoff{.initial_delay = 250ms, .factor = 2.0, .max_delay = 1s}) ==
             Durations{250ms, 500ms, 1s, 1s},
         "ExponentialBackoff");
  expect(waits(ExponentialBackoff{.initial_delay = 250ms, .min_delay = 300ms}) ==
             Durations{300ms, 500ms, 1s, 2s},
         "ExponentialBackoff with a floor");
  expect(waits(ConstantBackoff{1s}) == Durations{1s, 1s, 1s, 1s}, "ConstantBackoff");
  expect(waits(LinearBackoff{.initial_delay = 1s, .step = 2s}) == Durations{1s, 3s, 5s, 7s}, "LinearBackoff");
  expect(waits(FibonacciBackoff{.initial_delay = 1s}) == Durations{1s, 1s, 2s, 3s}, "FibonacciBackoff");
  expect(waits(ListedBackoff{100ms, 1s, 5s}) == Durations{100ms, 1s, 5s, 5s}, "ListedBackoff");
  expect(
      waits(ChainedBackoff{2, ConstantBackoff{50ms}, ExponentialBackoff{}}) == Durations{50ms, 50ms, 1s, 2s},
      "ChainedBackoff");

  const RetryPolicy policy{RetryOn<TimeoutError>{}, ConstantBackoff{1s}};
  const auto first_wait = [&](auto jitter) { return policy.with(jitter).schedule()[0]; };
  expect(first_wait(ProportionalJitter{0.25}) == policy.schedule()[0], "ProportionalJitter is the default");
  expect(first_wait(FullJitter{}).min == 0s, "FullJitter");
  expect(first_wait(FullJitter{.at_least = 200ms}).min == 200ms, "FullJitter with a floor");
  expect(first_wait(EqualJitter{}).min == 500ms, "EqualJitter");
  expect(first_wait(DecorrelatedJitter{}).min == 1s, "DecorrelatedJitter");
  expect(first_wait(NoJitter{}).max == 1s, "NoJitter");
  static_assert(Schedule{ExponentialBackoff{}, ProportionalJitter{}, 2}.total().max < 4s);

  const auto slept = fake_clock.total_slept();
  const RetryPolicy hinted{RetryOn<HttpError>{}, HintFrom{[](const HttpError& error) { return error.wait; }},
                           HintCap{30s},         MaxRetries{1},
                           NoJitter{},           Seed{7}};
  expect(attempts(hinted, [] { throw HttpError{503}; }) == 2, "HintFrom");
  expect(fake_clock.total_slept() - slept == 100ms, "the hint takes the place of the computed second");
  expect(http::retry_after("120", fake_clock.wall()) == 120s, "Retry-After");
}

void what_the_caller_gets() {
  const RetryPolicy policy{RetryOn<TimeoutError>{}, fake_clock};
  const auto out_of_time = []() -> std::string { throw TimeoutError{"no answer"}; };
  const auto bad_argument = []() -> std::string { throw std::invalid_argument{"blank sku"}; };

  expect(attempts(policy.with(Rethrow{}), time_out) == 3, "Rethrow");
  const Outcome<std::string> outcome = policy.with(ReturnOutcome{}).run(out_of_time);
  expect(outcome.reason() == StopReason::retries_exhausted, "ReturnOutcome");

  const auto for_model =
      policy.with(FormatFailure{[](const Failure& failure) { return tell_model(failure); }});
  expect(for_model.run({.name = "shop"}, out_of_time) ==
             R"(The tool "shop" failed after 3 attempts: TimeoutError.)",
         "FormatFailure");
  expect(for_model.with(HandleUnmatched{}).run({.name = "shop"}, bad_argument) ==
             R"(The tool "shop" failed after 1 attempt: std::invalid_argument.)",
         "HandleUnmatched");

  const RetryPolicy with_status{RetryOn<HttpError>{}, fake_clock, FormatFailure{[](const Failure& failure) {
                                  std::string text{"no exception"};
                                  const auto f = [&](const HttpError& error) {
                                    text = std::to_string(error.status);
                                  };
                                  failure.with<HttpError>(f);
                                  return failure.last_value<Response>() != nullptr ? "a reply" : text;
                                }}};
  expect(with_status.run([]() -> std::string { throw HttpError{503}; }) == "503", "failure.with");
}

void around_the_attempts() {
  const RetryPolicy policy{RetryOn<TimeoutError>{}};
  std::string lines;
  const auto observed =
      policy.with(Observe{[&](const Event& event) { lines += fmt::format("{}\n", event); }}, fake_clock);
  observed.run({.id = "call-17", .name = "inventory_lookup"}, [] {});
  expect(lines.starts_with("event=attempt_started call=call-17 tool=inventory_lookup attempt=1/3\n"),
         "Observe");
  lines.clear();
  const auto spend = [](const Attempt& attempt) {
    attempt.note("insufficient_quota");
    throw TimeoutError{"no quota left"};
  };
  try {
    observed.run(spend);
  } catch (const TimeoutError&) {}
  expect(lines.find("error_code=insufficient_quota") != std::string::npos, "a service's own code");

  expect(attempts(policy.with(BeforeRetry{refresh_token}), time_out) == 3, "BeforeRetry");
  expect(attempts(policy.with(WhenNested{Nested::report}), time_out) == 3, "WhenNested");
  expect(attempts(policy.with(WhenNested{Nested::report}, OnFibers{}), time_out) == 3, "OnFibers");

  policy.run({.id = "call-17"}, [](const Attempt& attempt) {
    expect(attempt.call_id() == "call-17" && attempt.ordinal == 1, "id and number");
  });
  std::string key;
  policy.run({.id = "call-17", .operation_key = "order-5"},
             [&](const Attempt& attempt) { key = attempt.idempotency_key(); });
  expect(key == "order-5", "an idempotency key");

  auto look_up = policy.wrap("inventory_lookup", [](int units) { return units + 1; });
  expect(look_up(16) == 17, "wrap");
}

class Client {  // a policy as a member: its type can be written out
 public:
  Response ask() {
    return policy_.run([] { return Response{200}; });
  }

 private:
  RetryPolicy<SteadyClock, RetryOn<TimeoutError>> policy_;
};

void types_and_configuration() {
  expect(Client{}.ask().status == 200, "a policy as a member");

  std::map<std::string, AnyRetryPolicy<Response>> policies;
  policies.insert({"plain", RetryPolicy{RetryOn<TimeoutError>{}}});
  policies.insert(
      {"by value", RetryPolicy{RetryIfResult{[](const Response& response) { return response.status == 503; }},
                               ConstantBackoff{0s}}});
  expect(policies.at("by value").run(answer_503).status == 503, "AnyRetryPolicy");

  RetrySettings settings;  // from a file, say
  settings.max_retries = 4;
  settings.backoff = BackoffShape::constant;
  expect(attempts(RetryPolicy{RetryOn<TimeoutError>{}, settings}, time_out) == 5, "RetrySettings");
}

void in_a_test() {
  testing::FakeClock clock;
  testing::Recorder trace;
  const RetryPolicy policy{RetryOn<TimeoutError>{}};
  policy.with(clock, trace, NoJitter{}).run([&] {
    if (clock.now() < TimePoint{3s}) time_out();
  });
  expect(clock.sleeps() == testing::Durations{1s, 2s}, "FakeClock");
  expect(trace.events().size() == 7, "Recorder: two events an attempt, and the end");
}

void with_a_loop_of_ones_own() {
  const RetryPolicy policy{RetryOn<TimeoutError>{}, fake_clock};
  Retrying retrying{policy, {.id = "job-7"}};
  Decision next = retrying.begin();
  while (next.goes_on()) {
    try {
      time_out();
    } catch (const std::exception& error) {
      next = retrying.threw(&error);
    }
    if (!next.goes_on()) break;
    fake_clock.advance(next.wait);  // a timer queue would come back at that time
    next = retrying.resume();
  }
  expect(retrying.attempts() == 3 && retrying.reason() == StopReason::retries_exhausted, "Retrying");
}

}  // namespace

int main() {
  what_deserves_another_attempt();
  how_often_and_until_when();
  how_long_to_wait();
  what_the_caller_gets();
  around_the_attempts();
  types_and_configuration();
  in_a_test();
  with_a_loop_of_ones_own();
  fmt::print("{}\n", all_well ? "every option does what it is there for" : "see above");
  return all_well ? 0 : 1;
}
