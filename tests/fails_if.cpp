#include "guard/gate.hpp"
#include <encore/async/co_run.hpp>
#include <encore/encore.hpp>
#include <encore/fails_if.hpp>
#include <encore/guard/circuit_breaker.hpp>
#include <encore/retrying.hpp>
#include <encore/telemetry/counters.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/manual_executor.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/task.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::CircuitState, encore::FailsIf, encore::RetryIf, encore::RetryIfErrorValue, encore::RetryPolicy,
    encore::StopReason;

namespace {

enum class Errc { busy = 1, unauthorised };

// Shaped like std::expected, which C++20 has not.
struct Result {
  std::optional<int> value{};
  Errc failed{};
  bool has_value() const { return value.has_value(); }
  Errc error() const { return failed; }
  friend bool operator==(const Result&, const Result&) = default;
};
const Result denied{{}, Errc::unauthorised};
const Result busy{{}, Errc::busy};

struct Response {
  int status = 200;
};
struct Slow : std::runtime_error {
  Slow() : std::runtime_error{"slow"} {}
};

const RetryIfErrorValue if_busy{[](Errc error) { return error == Errc::busy; }};
const FailsIf not_ok{[](const Response& response) { return response.status >= 400; }};

std::string told(const Recorder& trace) {
  std::string text;
  for (const auto& event : trace.events()) {
    if (!text.empty()) text += ", ";
    text += to_string(event.kind.value());
    if (event.kind == encore::EventKind::attempt_failed || event.kind == encore::EventKind::call_finished)
      text.append(" ").append(to_string(event.reason));
  }
  return text;
}
constexpr auto failed_once = "attempt_started, attempt_failed not_retryable, call_finished not_retryable";
constexpr auto succeeded_once = "attempt_started, attempt_succeeded, call_finished succeeded";

// What observers hear of one call of a callable that returns `value`, on a thread, in a coroutine and driven by hand.
template <class Value, class... Option>
std::string told_of(const Value& value, const Option&... options) {
  FakeClock clock;
  Recorder on_a_thread, in_a_coroutine, by_hand;
  const RetryPolicy policy{clock, encore::NoJitter{}, options...};
  static_cast<void>(policy.with(on_a_thread).run([&] { return value; }));

  ManualExecutor executor{clock};
  const auto attempt = [&]() -> Task<Value> { co_return value; };
  static_cast<void>(executor.run(co_run(policy.with(in_a_coroutine), attempt, executor.sleeper())));
  CHECK(told(in_a_coroutine) == told(on_a_thread));

  const auto driven = policy.with(by_hand);
  encore::Retrying retrying{driven, {}};
  static_cast<void>(retrying.begin());
  for (auto next = retrying.returned(value); next.goes_on(); next = retrying.returned(value))
    static_cast<void>(retrying.resume());
  CHECK(told(by_hand) == told(on_a_thread));
  return told(on_a_thread);
}

}  // namespace

TEST_CASE("a result like std::expected with an error is a failure, retried or not [B8]", "[fails_if]") {
  CHECK(told_of(denied, if_busy) == failed_once);
  CHECK(told_of(denied, encore::RetryOn<Slow>{}) == failed_once);
  CHECK(told_of(denied, RetryIf{[](const Response&) { return true; }} || if_busy) == failed_once);
  CHECK(told_of(Result{17}, if_busy) == succeeded_once);
  CHECK(told_of(busy, if_busy, encore::MaxRetries{1}) ==
        "attempt_started, attempt_failed none, attempt_started, attempt_failed retries_exhausted, "
        "call_finished retries_exhausted");
  CHECK(told_of(std::optional<int>{}, encore::RetryOn<Slow>{}) ==
        succeeded_once);  // an empty optional may mean "none"
}

TEST_CASE("the outcome of an inner call is a failure if it has no value [B8]", "[fails_if]") {
  const encore::Outcome<int> without{encore::Failure{.reason = StopReason::retries_exhausted, .attempts = 3}};
  CHECK(told_of(without, encore::RetryOn<Slow>{}) == failed_once);
  const encore::Outcome<int> with{17, {StopReason::succeeded, 1, {}, {}, 0}};
  CHECK(told_of(with, encore::RetryOn<Slow>{}) == succeeded_once);
}

TEST_CASE(
    "FailsIf defines which values are failures without being retried, in addition to the default ones [B8]",
    "[fails_if]") {
  const RetryIf unavailable{[](const Response& response) { return response.status == 503; }};
  CHECK(told_of(Response{404}, unavailable, not_ok) == failed_once);
  CHECK(told_of(Response{404}, unavailable) == succeeded_once);
  CHECK(told_of(Response{200}, unavailable, not_ok) == succeeded_once);
  CHECK(told_of(Response{503}, unavailable, FailsIf{[](const Response&) { return false; }},
                encore::MaxRetries{0}) ==
        "attempt_started, attempt_failed retries_exhausted, call_finished retries_exhausted");
  CHECK(told_of(Response{404}, encore::RetryOn<Slow>{},
                FailsIf{[](const auto& value) { return value.status >= 400; }}) == failed_once);
}

TEST_CASE("with FailsIf a result without a value is a failure only if FailsIf says so [B8]", "[fails_if]") {
  const FailsIf unauthorised{[](Errc error) { return error == Errc::unauthorised; }};
  CHECK(told_of(denied, encore::RetryOn<Slow>{}, unauthorised) == failed_once);
  CHECK(told_of(busy, encore::RetryOn<Slow>{}, unauthorised) == succeeded_once);
  CHECK(told_of(busy, encore::RetryOn<Slow>{}, FailsIf{[](const Result&) { return false; }}) ==
        succeeded_once);
}

TEST_CASE("a failed value that is not retried is returned as it is, also inside an outcome [B8]",
          "[fails_if]") {
  FakeClock clock;
  const RetryPolicy policy{clock, if_busy};
  const auto attempt = [] { return denied; };
  CHECK(policy.run(attempt) == denied);
  const auto outcome = policy.with(encore::ReturnOutcome{}).run(attempt);
  REQUIRE(outcome.has_value());
  CHECK(*outcome == denied);
  CHECK(outcome.reason() == StopReason::not_retryable);
  CHECK(outcome.attempts() == 1);

  const auto format = policy.with(encore::FormatFailure{[](const encore::Failure&) { return Result{-1}; }});
  CHECK(format.run(attempt) == denied);
  CHECK(format.with(encore::HandleUnmatched{}).run(attempt) == Result{-1});
  CHECK(
      format.with(encore::HandleUnmatched{}, encore::NeverRetryIf{[](Errc) { return true; }}).run(attempt) ==
      denied);
}

TEST_CASE("a FailsIf that throws ends the call with the value, as a filter that throws does [B7, B8]",
          "[fails_if]") {
  FakeClock clock;
  const auto outcome = RetryPolicy{
      clock, encore::RetryOn<Slow>{}, encore::ReturnOutcome{}, FailsIf{[](const Response&) -> bool {
        throw 42;
      }}}.run([] { return Response{404}; });
  REQUIRE(outcome.has_value());
  CHECK(outcome->status == 404);
  CHECK(outcome.reason() == StopReason::predicate_threw);
}

TEST_CASE("without observers FailsIf is not evaluated [B8, P1]", "[fails_if]") {
  FakeClock clock;
  auto asked = 0;
  const FailsIf counting{[&](const Response&) { return ++asked > 0; }};
  const RetryPolicy policy{clock, encore::RetryOn<Slow>{}, counting};
  CHECK(policy.run([] { return Response{404}; }).status == 404);
  CHECK(asked == 0);
  CHECK(policy.with([](const encore::Event&) {}).run([] { return Response{404}; }).status == 404);
  CHECK(asked == 1);
}

TEST_CASE("guards and counters are notified of a failed value that is not retried [B8, H1]", "[fails_if]") {
  FakeClock clock;
  told::Log log;
  told::Gate<> gate{log};
  encore::Counters counters;
  const RetryPolicy policy{clock, if_busy, gate, counters};
  static_cast<void>(policy.run({.name = "lookup"}, [] { return denied; }));
  CHECK(log == told::Log{"a ? 1", "a began", "a failed for good"});
  const auto counted = counters.snapshot().of("lookup");
  CHECK(counted.ended[static_cast<std::size_t>(StopReason::not_retryable)] == 1);
  CHECK(counted.ended[static_cast<std::size_t>(StopReason::succeeded)] == 0);
}

TEST_CASE(
    "a returned failure that is not retried opens a breaker that counts it, and otherwise is an answer [B8, "
    "H3]",
    "[fails_if]") {
  FakeClock clock;
  const encore::Now now{clock};
  encore::CircuitBreaker counts{{.failures_to_open = 2, .count_permanent_failures = true}};
  encore::CircuitBreaker answers{{.failures_to_open = 2, .open_for = 30s}};
  const RetryPolicy policy{clock, if_busy, encore::MaxRetries{0}};
  for (int i = 0; i < 2; ++i) static_cast<void>(policy.with(counts).run([] { return denied; }));
  CHECK(counts.state(now) == CircuitState::open);

  const auto guarded = policy.with(answers);
  static_cast<void>(guarded.run([] { return busy; }));
  static_cast<void>(guarded.run([] { return denied; }));  // ends the row
  static_cast<void>(guarded.run([] { return busy; }));
  CHECK(answers.state(now) == CircuitState::closed);
  static_cast<void>(guarded.run([] { return busy; }));
  clock.advance(30s);
  REQUIRE(answers.state(now) == CircuitState::half_open);
  static_cast<void>(guarded.run([] { return denied; }));  // ends the probe
  CHECK(answers.state(now) == CircuitState::closed);
}
