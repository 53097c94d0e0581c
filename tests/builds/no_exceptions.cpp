// The core works without exceptions and without run-time type information, for callables that report failure by value. (L3)
#include "by_hand_clock.hpp"
#include "check.hpp"
#include <encore/encore.hpp>
#include <encore/guard/guard.hpp>
#include <encore/testing/fake_clock.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "this test must be built without exceptions and without RTTI"
#endif

using namespace std::chrono_literals;
using encore::Duration;
using encore::StopReason;
using Durations = std::vector<Duration>;

namespace {

struct Response {
  int status = 0;
  std::optional<std::chrono::seconds> wait{};
  std::optional<std::chrono::seconds> retry_after() const { return wait; }
};

constexpr auto is_busy = [](int status) { return status == 503; };

// Answers 503 so many times, then 200.
struct Server {
  int busy_for = 0;
  int requests = 0;
  int operator()() { return ++requests <= busy_for ? 503 : 200; }
};

// The waits are 10, 20, 40 ms …
const encore::RetryPolicy policy{
    encore::RetryIfResult{is_busy},
    encore::MaxRetries{3},
    encore::ExponentialBackoff{.initial_delay = 10ms, .factor = 2.0, .max_delay = 1s},
    encore::NoJitter{},
};
static_assert(
    encore::Schedule{encore::ExponentialBackoff{.initial_delay = 10ms}, encore::NoJitter{}, 3}.total().max ==
    70ms);

void a_failed_value_is_retried() {
  HandClock clock;
  Server server{.busy_for = 2};
  check(policy.with(clock).run(server) == 200);
  check(server.requests == 3);
  check(clock.slept == Durations{10ms, 20ms});
}

void the_fake_clock_serves_tests_here_too() {
  encore::testing::FakeClock clock;
  Server server{.busy_for = 2};
  check(policy.with(clock).run(server) == 200);
  check(clock.sleeps() == encore::testing::Durations{10ms, 20ms});

  std::stop_source stop;
  const auto token = stop.get_token();
  clock.after(15ms, [&] { stop.request_stop(); });
  Server down{.busy_for = 9};
  const auto stopped = policy.with(clock, encore::ReturnOutcome{}).run({.stop = token}, down);
  check(!stopped && stopped.reason() == StopReason::cancelled && stopped.slept() == 15ms);
}

void the_last_value_is_returned_when_retries_are_exhausted() {
  HandClock clock;
  Server server{.busy_for = 9};
  check(policy.with(clock).run(server) == 503);
  check(server.requests == 4);
  check(clock.slept == Durations{10ms, 20ms, 40ms});
  check(policy.with(clock, encore::MaxRetries{0}).run(server) == 503);
  check(server.requests == 5);
}

void callables_of_all_kinds() {
  HandClock clock;
  const auto fast = policy.with(clock);
  check(
      fast.run([](int status, const encore::Attempt& attempt) { return attempt.ordinal < 3 ? 503 : status; },
               204) == 204);
  check(clock.slept == Durations{10ms, 20ms});
  auto wrapped = policy.with(clock).wrap("fetch", Server{.busy_for = 1});
  check(wrapped() == 200);
  auto moved = std::make_unique<int>(17);
  check(fast.run([kept = std::move(moved)] { return *kept; }) == 17);
}

void an_outcome_tells_value_or_reason() {
  HandClock clock;
  const auto outcomes = policy.with(clock, encore::ReturnOutcome{});
  Server server{.busy_for = 1};
  const auto good = outcomes.run({.id = "call-17"}, server);
  check(good && *good == 200 && good.attempts() == 2 && good.slept() == 10ms && good.elapsed() == 10ms);

  Server down{.busy_for = 9};
  const auto bad = outcomes.run({.id = "call-18", .name = "fetch"}, down);
  check(!bad && bad.reason() == StopReason::retries_exhausted && bad.attempts() == 4 && bad.slept() == 70ms);
  check(bad.last_value() != nullptr && *bad.last_value() == 503);
  check(bad.failure().call_id == "call-18" && bad.failure().call_name == "fetch" &&
        bad.failure().error == nullptr);
}

void a_formatter_answers_for_the_failure() {
  HandClock clock;
  const auto told = policy.with(
      clock, encore::FormatFailure{[](const encore::Failure& failure) { return -failure.attempts; }});
  check(told.run({.id = "call-17"}, Server{.busy_for = 9}) == -4);
  check(told.run({.id = "call-17"}, Server{.busy_for = 1}) == 200);
}

void limits_refuse_by_outcome() {
  HandClock clock;
  const auto outcomes = policy.with(clock, encore::ReturnOutcome{});
  Server server;
  const auto expired = outcomes.run({.id = "call-17", .deadline = clock.now()}, server);
  check(!expired && expired.reason() == StopReason::expired_on_entry && expired.attempts() == 0);

  std::stop_source source;
  source.request_stop();
  const auto token = source.get_token();
  const auto cancelled = outcomes.run({.id = "call-17", .stop = token}, server);
  check(!cancelled && cancelled.reason() == StopReason::cancelled_on_entry && server.requests == 0);

  // 10 ms fit into the budget, and then 20 ms do not.
  Server down{.busy_for = 9};
  const auto late = outcomes.with(encore::TimeBudget{25ms}).run(down);
  check(!late && late.reason() == StopReason::deadline && down.requests == 2 &&
        clock.slept == Durations{10ms});
  check(late.last_value() != nullptr && *late.last_value() == 503);
}

// Admits so many attempts.
struct Allowance {
  using role = encore::role::Guard;
  static constexpr auto refusal = StopReason::refused_by_guard;
  struct Permit {
    Allowance* from;
    explicit Permit(Allowance& allowance) : from{&allowance} {}
    Permit(Permit&& other) noexcept : from{std::exchange(other.from, nullptr)} {}
    ~Permit() {
      if (from != nullptr) ++from->left;
    }
    void succeeded(const encore::Now&) noexcept { from = nullptr; }
    void failed(const encore::Now&, bool) noexcept { from = nullptr; }
  };
  int left;
  std::optional<Permit> admit(const encore::AdmissionRequest&) noexcept {
    if (left == 0) return std::nullopt;
    --left;
    return Permit{*this};
  }
};

void guards_refuse_by_outcome() {
  HandClock clock;
  Allowance allowance{.left = 2};
  const auto guarded = policy.with(clock, std::ref(allowance), encore::ReturnOutcome{});
  Server down{.busy_for = 9};
  const auto refused = guarded.run(down);
  check(!refused && refused.reason() == StopReason::refused_by_guard && refused.attempts() == 2);
  check(clock.slept == Durations{10ms} && allowance.left == 0);
  const auto on_entry = guarded.run(down);
  check(!on_entry && on_entry.attempts() == 0 && down.requests == 2);
}

void observers_hear_every_fact() {
  HandClock clock;
  std::string heard;
  const auto observed =
      policy.with(clock, encore::Observe{[&](const encore::Event& event) {
                    heard += std::string{event.call_id()} + ':' + std::string{to_string(event.kind)} + ' ';
                  }});
  check(observed.wrap(Server{.busy_for = 1})() == 200);
  // Without an id of the caller's it is made, once for the call.
  const auto id = heard.substr(0, heard.find(':') + 1);
  check(id.starts_with("encore-"));
  check(heard == id + "attempt_started " + id + "attempt_failed " + id + "attempt_started " + id +
                     "attempt_succeeded " + id + "call_finished ");
}

void other_predicates_on_values() {
  HandClock clock;
  auto asked = 0;
  const encore::RetryPolicy until_there{encore::RetryIfNoValue{}, encore::ConstantBackoff{.delay = 5ms},
                                        encore::NoJitter{}, clock};
  check(until_there.run([&] { return ++asked < 3 ? std::nullopt : std::optional{17}; }) == 17);

  asked = 0;
  const encore::RetryPolicy by_code{encore::RetryOnErrorCode{std::errc::timed_out}, encore::NoJitter{},
                                    clock};
  check(by_code.run([&] {
    return ++asked < 2 ? make_error_code(std::errc::timed_out) : std::error_code{};
  }) == std::error_code{});
  check(asked == 2);
  check(by_code.run([&] { return ++asked, make_error_code(std::errc::permission_denied); }) ==
        std::errc::permission_denied);
  check(asked == 3);

  // A part that judges exceptions has nothing to say here, and does no harm.
  struct TimeoutError {};
  const encore::RetryPolicy either{encore::RetryOn<TimeoutError>{} || encore::RetryIfResult{is_busy},
                                   encore::NoJitter{}, clock};
  check(either.run(Server{.busy_for = 1}) == 200);
  const encore::RetryPolicy never{encore::RetryIfResult{is_busy}, encore::NeverRetryIf{is_busy}, clock};
  Server down{.busy_for = 9};
  check(never.run(down) == 503 && down.requests == 1);
}

void a_hint_comes_with_the_value() {
  HandClock clock;
  const encore::RetryPolicy obedient{encore::RetryIfResult{[](const Response& r) { return r.status == 429; }},
                                     encore::NoJitter{}, clock};
  auto asked = 0;
  const auto response = obedient.run([&] { return ++asked < 2 ? Response{429, 7s} : Response{200}; });
  check(response.status == 200 && clock.slept == Durations{7s});
}

void settings_at_run_time_and_a_policy_without_its_type() {
  HandClock clock;
  encore::RetrySettings settings{.max_retries = 1, .jitter = encore::JitterShape::none};
  settings.delays.initial_delay = 30ms;
  const encore::AnyRetryPolicy<encore::Outcome<int>> any{
      encore::RetryPolicy{encore::RetryIfResult{is_busy}, settings, encore::ReturnOutcome{}, clock}};
  Server down{.busy_for = 9};
  const auto outcome = any.run({.id = "call-17"}, down);
  check(!outcome && down.requests == 2 && clock.slept == Durations{30ms});
}

void layers_notice_each_other() {
  HandClock clock;
  auto prepared = 0;
  Server down{.busy_for = 9};
  const auto inner = policy.with(clock, encore::WhenNested{encore::Nested::make_single});
  const auto outer = policy.with(clock, encore::WhenNested{}, encore::BeforeRetry{[&] { ++prepared; }});
  check(outer.run([&] { return inner.run(down); }) == 503);
  check(down.requests == 4 && prepared == 3);
}

void the_decision_by_hand() {
  HandClock clock;
  const auto fast = policy.with(clock);
  encore::Retrying retrying{fast, {.id = "job-7"}};
  Server server{.busy_for = 1};
  check(retrying.begin().goes_on());
  auto next = retrying.returned(server());
  check(next == encore::Decision{.wait = 10ms});
  check(retrying.resume().goes_on());
  next = retrying.returned(server());
  check(next.stop == StopReason::succeeded && retrying.attempts() == 2);
}

}  // namespace

int main() {
  a_failed_value_is_retried();
  the_fake_clock_serves_tests_here_too();
  the_last_value_is_returned_when_retries_are_exhausted();
  callables_of_all_kinds();
  an_outcome_tells_value_or_reason();
  a_formatter_answers_for_the_failure();
  limits_refuse_by_outcome();
  guards_refuse_by_outcome();
  observers_hear_every_fact();
  other_predicates_on_values();
  a_hint_comes_with_the_value();
  settings_at_run_time_and_a_policy_without_its_type();
  layers_notice_each_other();
  the_decision_by_hand();
  return failed_checks;
}
