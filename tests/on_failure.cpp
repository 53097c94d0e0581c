#include <encore/limits.hpp>
#include <encore/nesting.hpp>
#include <encore/never_retry.hpp>
#include <encore/observer.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <exception>
#include <iterator>
#include <new>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::Failure, encore::FormatFailure, encore::RetryOn, encore::RetryPolicy, encore::StopReason;

namespace {

struct TimeoutError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct GatewayTimeout final : TimeoutError {
  explicit GatewayTimeout(int g) : TimeoutError{"gateway"}, gateway{g} {}
  int gateway;
};
struct NotStandard {
  int value = 7;
};

// Throws what it is told, and remembers where the exception object was.
template <class E>
struct Thrower {
  E error;
  int calls = 0;
  const void* last = nullptr;
  int operator()() {
    ++calls;
    try {
      throw error;
    } catch (const E& thrown) {
      last = &thrown;
      throw;
    }
  }
};
template <class E>
Thrower(E) -> Thrower<E>;

// ---- rethrow (G1) -------------------------------------------------------------------------------------------------------

TEST_CASE(
    "a call that is exhausted rethrows the last exception: the same object (fault 12: Azure #7130; fault 27) "
    "[G1]",
    "[on_failure]") {
  FakeClock clock;
  Thrower tool{GatewayTimeout{5}};
  const RetryPolicy policy{clock, RetryOn<TimeoutError>{}};
  const auto check = [&](const auto& under_test) {
    tool.calls = 0;
    try {
      under_test.run(tool);
      FAIL("it must throw");
    } catch (const GatewayTimeout& error) {  // the most derived type: not sliced to what the filter says
      CHECK(static_cast<const void*>(&error) == tool.last);
      CHECK(error.gateway == 5);
    }
    CHECK(tool.calls == 3);
  };
  check(policy);
  check(policy.with(encore::Observe{[](const encore::Event&) {}}));
  check(policy.with(encore::TimeBudget{1h}, encore::MaxRetries{2}));
  check(policy.with(encore::WhenNested{}));
}

TEST_CASE("an exception that is not a std::exception is rethrown as the same object too [G1]",
          "[on_failure]") {
  FakeClock clock;
  Thrower tool{NotStandard{8}};
  try {
    RetryPolicy{clock, RetryOn<NotStandard>{}, encore::Observe{[](const encore::Event&) {}}}.run(tool);
    FAIL("it must throw");
  } catch (const NotStandard& error) {
    CHECK(static_cast<const void*>(&error) == tool.last);
    CHECK(error.value == 8);
  }
  CHECK(tool.calls == 3);
}

TEST_CASE("the exception of a call that was stopped in a wait is the same object [G1, K1]", "[on_failure]") {
  FakeClock clock;
  Thrower tool{GatewayTimeout{6}};
  std::stop_source source;
  const auto token = source.get_token();
  clock.after(300ms, [&] { source.request_stop(); });
  try {
    RetryPolicy{clock, RetryOn<TimeoutError>{}, encore::NoJitter{}}.run({.stop = token}, tool);
    FAIL("it must throw");
  } catch (const GatewayTimeout& error) {
    CHECK(static_cast<const void*>(&error) == tool.last);
  }
  CHECK(tool.calls == 1);
  CHECK(clock.sleeps() == Durations{300ms});
}

TEST_CASE("if the last failure is a value, the call returns that value [G1]", "[on_failure]") {
  FakeClock clock;
  const RetryPolicy policy{
      clock, RetryOn<TimeoutError>{} || encore::RetryIfResult{[](int units) { return units < 0; }}};
  Scripted<int> values{returns(-1), returns(-2), returns(-3)};
  CHECK(policy.run(values) == -3);
  Scripted<int> mixed{throws<TimeoutError>("slow"), throws<TimeoutError>("slow"), returns(-3)};
  CHECK(policy.run(mixed) == -3);
  Scripted<int> thrown_last{returns(-1), returns(-2), throws<GatewayTimeout>(3)};
  CHECK_THROWS_AS(policy.run(thrown_last), GatewayTimeout);
}

// ---- error result (G2) --------------------------------------------------------------------------------------------------

TEST_CASE("an outcome of a failure has the reason and the last failure, attempts and times [G2]",
          "[on_failure]") {
  FakeClock clock;
  const RetryPolicy policy{clock, RetryOn<TimeoutError>{}, encore::NoJitter{}, encore::ReturnOutcome{}};
  Scripted<int> tool{clock, throws<TimeoutError>("first").takes(10ms),
                     throws<TimeoutError>("second").takes(20ms), throws<GatewayTimeout>(3).takes(30ms)};
  const encore::Outcome<int> outcome = policy.run({.id = "call-17", .name = "lookup"}, tool);
  REQUIRE_FALSE(outcome);
  CHECK(outcome.reason() == StopReason::retries_exhausted);
  CHECK(outcome.attempts() == 3);
  CHECK(outcome.slept() == 3s);
  CHECK(outcome.elapsed() == 3s + 60ms);
  const Failure& failure = outcome.failure();
  CHECK(failure.call_id == "call-17");
  CHECK(failure.call_name == "lookup");
  CHECK(failure.max_attempts == 3);
  CHECK(failure.attempts == 3);
  CHECK(failure.slept == 3s);
  CHECK(failure.elapsed == 3s + 60ms);
  CHECK_THROWS_AS(std::rethrow_exception(failure.error), GatewayTimeout);
  CHECK(outcome.last_value() == nullptr);
}

TEST_CASE("an outcome of a success has the value, the attempts and the times [G2, G6]", "[on_failure]") {
  FakeClock clock;
  const RetryPolicy policy{clock, RetryOn<TimeoutError>{}, encore::NoJitter{}, encore::ReturnOutcome{}};
  Scripted<int> tool{clock, throws<TimeoutError>("slow").takes(10ms), returns(17).takes(20ms)};
  const auto outcome = policy.run(tool);
  REQUIRE(outcome);
  CHECK(outcome.value() == 17);
  CHECK(outcome.reason() == StopReason::succeeded);
  CHECK(outcome.attempts() == 2);
  CHECK(outcome.slept() == 1s);
  CHECK(outcome.elapsed() == 1s + 30ms);
}

TEST_CASE("an outcome keeps the failed value of the last attempt [G2]", "[on_failure]") {
  FakeClock clock;
  const RetryPolicy policy{clock, encore::RetryIfResult{[](const std::string& text) { return text.empty(); }},
                           encore::ReturnOutcome{}};
  Scripted<std::string> tool{always(returns(std::string{}))};
  const auto outcome = policy.run(tool);
  REQUIRE_FALSE(outcome);
  CHECK(outcome.failure().error == nullptr);
  REQUIRE(outcome.last_value() != nullptr);
  CHECK(outcome.last_value()->empty());

  Scripted<std::string> thrown{throws<TimeoutError>("not listed")};
  CHECK_THROWS_AS(policy.run(thrown), TimeoutError);
}

// ---- formatter (G3) -----------------------------------------------------------------------------------------------------

TEST_CASE("an earlier attempt's exception is not the last failure where that is a value [G2]",
          "[on_failure]") {
  FakeClock clock;
  const RetryPolicy policy{clock,
                           RetryOn<TimeoutError>{} || encore::RetryIfResult{[](int n) { return n < 0; }},
                           encore::MaxRetries{1}, encore::TimeBudget{1h}, encore::ReturnOutcome{}};
  Scripted<int> tool{throws<TimeoutError>("slow"), returns(-1)};
  const auto outcome = policy.run(tool);
  CHECK(outcome.failure().error == nullptr);
  REQUIRE(outcome.last_value() != nullptr);
  CHECK(*outcome.last_value() == -1);
}

TEST_CASE("a formatter may take the last failed value beside the failure, or ask the failure for it [G3, G8]",
          "[on_failure]") {
  struct Reply {
    int status;
    std::string text{};
  };
  FakeClock clock;
  const auto ends = [&](auto formatter) {
    const RetryPolicy policy{clock, RetryOn<TimeoutError>{} || encore::RetryIfResult{[](const Reply& reply) {
                                      return reply.status >= 500;
                                    }},
                             FormatFailure{formatter}};
    std::stop_source stopped;
    stopped.request_stop();
    const auto token = stopped.get_token();
    return policy.run([] { return Reply{503}; }).text + ',' +
           policy.run([]() -> Reply { throw TimeoutError{"slow"}; }).text + ',' +
           policy.run({.stop = token}, [] { return Reply{200}; }).text;
  };
  CHECK(ends([](const Failure& failure) {
          const auto* const last = failure.last_value<Reply>();
          CHECK(failure.last_value<int>() == nullptr);
          const auto copy = failure;
          CHECK(copy.last_value<Reply>() == nullptr);  // the value may be gone before it
          return Reply{0, last != nullptr ? std::to_string(last->status) : "none"};
        }) == "503,none,none");
  CHECK(ends([](const Failure&, const Reply* last) {
          return Reply{0, last != nullptr ? std::to_string(last->status) : "none"};
        }) == "503,none,none");
  struct Both {
    Reply operator()(const Failure&) const { return {0, "none"}; }
    Reply operator()(const Failure&, const Reply& last) const { return {0, std::to_string(last.status)}; }
  };
  CHECK(ends(Both{}) == "503,none,none");
}

TEST_CASE(
    "a failure of a call without an id has an id and the name, for exceptions and values alike [A4, G3]",
    "[on_failure]") {
  FakeClock clock;
  const auto throws_always = []() -> std::string { throw TimeoutError{"slow"}; };
  const auto returns_nothing = [] { return std::string{}; };
  const encore::RetryIfResult is_empty{[](const std::string& text) { return text.empty(); }};
  const FormatFailure told{[](const Failure& failure) { return failure.call_id + ' ' + failure.call_name; }};
  const auto policy = [&](auto predicate, auto strategy) {
    return RetryPolicy{clock, predicate, strategy, encore::MaxRetries{1}};
  };
  const auto ids = {
      policy(RetryOn<TimeoutError>{}, told).run({.name = "lookup"}, throws_always),
      policy(is_empty, told).run({.name = "lookup"}, returns_nothing),
  };
  for (const auto& text : ids) {
    CHECK(text.starts_with("encore-"));
    CHECK(text.ends_with(" lookup"));
  }
  CHECK(*ids.begin() != *std::next(ids.begin()));
  CHECK(policy(RetryOn<TimeoutError>{}, told).run({.id = "call-1", .name = "lookup"}, throws_always) ==
        "call-1 lookup");
  CHECK(policy(is_empty, told).run({.id = "call-2", .name = "lookup"}, returns_nothing) == "call-2 lookup");

  const auto thrown = policy(RetryOn<TimeoutError>{}, encore::ReturnOutcome{})
                          .run({.id = "call-3", .name = "lookup"}, throws_always);
  CHECK(thrown.failure().call_id + ' ' + thrown.failure().call_name == "call-3 lookup");
  const auto returned =
      policy(is_empty, encore::ReturnOutcome{}).run({.id = "call-4", .name = "lookup"}, returns_nothing);
  CHECK(returned.failure().call_id + ' ' + returned.failure().call_name == "call-4 lookup");
}

TEST_CASE("a formatter gets the whole failure and turns it into the result [G3]", "[on_failure]") {
  FakeClock clock;
  const RetryPolicy policy{
      clock, RetryOn<TimeoutError>{}, encore::NoJitter{}, FormatFailure{[](const Failure& failure) {
        CHECK_THROWS_AS(std::rethrow_exception(failure.error), GatewayTimeout);
        return failure.call_id + ' ' + failure.call_name + ' ' + std::string{to_string(failure.reason)} +
               ' ' + std::to_string(failure.attempts) + '/' + std::to_string(*failure.max_attempts) + ' ' +
               std::to_string(failure.elapsed / 1ms) + ' ' + std::to_string(failure.slept / 1ms);
      }}};
  Scripted<std::string> tool{clock, always(throws<GatewayTimeout>(1).takes(5ms))};
  CHECK(policy.run({.id = "call-17", .name = "lookup"}, tool) ==
        "call-17 lookup retries_exhausted 3/3 3015 3000");
}

TEST_CASE("an exception from a formatter propagates [G3]", "[on_failure]") {
  FakeClock clock;
  const RetryPolicy policy{clock, RetryOn<TimeoutError>{},
                           FormatFailure{[](const Failure&) -> int { throw NotStandard{}; }}};
  Scripted<int> tool{always(throws<TimeoutError>("slow"))};
  CHECK_THROWS_AS(policy.run(tool), NotStandard);
  CHECK(tool.calls() == 3);
}

TEST_CASE("a formatter's result is converted to the callable's, and for void it is only notified [G3]",
          "[on_failure]") {
  FakeClock clock;
  const RetryPolicy policy{clock, RetryOn<TimeoutError>{}};
  Scripted<std::optional<std::string>> text{always(throws<TimeoutError>("slow"))};
  CHECK(policy.with(FormatFailure{[](const Failure&) { return "formatted"; }}).run(text) == "formatted");
  int heard = 0;
  Scripted<void> nothing{always(throws<TimeoutError>("slow"))};
  policy.with(FormatFailure{[&heard](const Failure& failure) { return heard = failure.attempts; }})
      .run(nothing);
  CHECK(heard == 3);
}

TEST_CASE("a formatter may return references and results that cannot be moved [G3, A6]", "[on_failure]") {
  struct Immovable {
    explicit Immovable(int n) : value{n} {}
    Immovable(const Immovable&) = delete;
    int value;
  };
  FakeClock clock;
  const RetryPolicy policy{clock, RetryOn<TimeoutError>{}};
  int fallback = -1;
  const FormatFailure refers{[&fallback](const Failure&) -> int& { return fallback; }};
  CHECK(&policy.with(refers).run([]() -> int& { throw TimeoutError{"slow"}; }) == &fallback);
  CHECK(&policy.with(refers).run([]() -> const int& { throw TimeoutError{"slow"}; }) == &fallback);
  const FormatFailure makes{[](const Failure& failure) { return Immovable{failure.attempts}; }};
  CHECK(policy.with(makes).run([]() -> Immovable { throw TimeoutError{"slow"}; }).value == 3);
}

TEST_CASE("a formatter handles a failed value as well [G3]", "[on_failure]") {
  FakeClock clock;
  const RetryPolicy policy{
      clock, encore::RetryIfResult{[](int units) { return units < 0; }},
      FormatFailure{[](const Failure& failure) { return failure.error == nullptr ? 100 : 200; }}};
  Scripted<int> tool{always(returns(-1))};
  CHECK(policy.run(tool) == 100);
}

// ---- which failures it answers for (B3, G7) ------------------------------------------------------------------------------

template <class Policy>
void check_leaves_untouched(const Policy& policy, auto error) {
  Thrower tool{error};
  try {
    static_cast<void>(policy.run(tool));
    FAIL("it must throw");
  } catch (const decltype(error)& thrown) {
    CHECK(static_cast<const void*>(&thrown) == tool.last);
  }
  CHECK(tool.calls == 1);
}

TEST_CASE(
    "a failure that the filter does not match propagates unchanged, and no strategy is asked (fault 25: "
    "langchain #38845) [B3]",
    "[on_failure]") {
  FakeClock clock;
  const RetryPolicy policy{clock, RetryOn<GatewayTimeout>{}, encore::NeverRetry<std::bad_alloc>{}};
  const FormatFailure format{
      [](const Failure&) -> int { throw std::logic_error{"no strategy is to be asked"}; }};
  const auto check = [&](auto error) {
    check_leaves_untouched(policy, error);
    check_leaves_untouched(policy.with(encore::ReturnOutcome{}), error);
    check_leaves_untouched(policy.with(format), error);
    check_leaves_untouched(policy.with(format, encore::Observe{[](const encore::Event&) {}}), error);
  };
  check(std::invalid_argument{"unmatched"});
  check(TimeoutError{"the base of what is listed"});
  check(NotStandard{});
  check(42);
  check(std::bad_alloc{});
  check(encore::Cancelled{});
  CHECK(clock.sleeps().empty());
}

TEST_CASE("unmatched failures are passed to the strategy on request [B3]", "[on_failure]") {
  FakeClock clock;
  const RetryPolicy policy{clock, RetryOn<TimeoutError>{}, encore::HandleUnmatched{}};
  Scripted<int> tool{always(throws<std::invalid_argument>("unmatched"))};
  const auto outcome = policy.with(encore::ReturnOutcome{}).run(tool);
  REQUIRE_FALSE(outcome);
  CHECK(outcome.reason() == StopReason::not_retryable);
  CHECK_THROWS_AS(std::rethrow_exception(outcome.failure().error), std::invalid_argument);
  CHECK(policy.with(FormatFailure{[](const Failure& failure) { return failure.attempts; }}).run(tool) == 1);
  CHECK_THROWS_AS(policy.run(tool), std::invalid_argument);  // and to rethrow it is the same as ever
  CHECK(tool.calls() == 3);
  CHECK(clock.sleeps().empty());
}

TEST_CASE("a failure that is never retried propagates even if unmatched ones are handled [B3, B4, G7]",
          "[on_failure]") {
  FakeClock clock;
  const RetryPolicy policy{clock,
                           RetryOn<TimeoutError>{},
                           encore::HandleUnmatched{},
                           encore::ReturnOutcome{},
                           encore::NeverRetry<std::bad_alloc>{},
                           encore::NeverRetryIf{[](const std::invalid_argument&) { return true; }}};
  check_leaves_untouched(policy, encore::Cancelled{});
  check_leaves_untouched(policy, std::bad_alloc{});
  check_leaves_untouched(policy, std::invalid_argument{"listed"});
  check_leaves_untouched(policy, std::system_error{std::make_error_code(std::errc::operation_canceled)});
}

}  // namespace
