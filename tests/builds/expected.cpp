// With C++23 an outcome converts to `std::expected`, and predicates look at results that are one. (B6, G2, L4)
#include "by_hand_clock.hpp"
#include "check.hpp"
#include <encore/encore.hpp>
#include <encore/guard/circuit_breaker.hpp>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <version>

#if !defined(__cpp_lib_expected)
#include <cstdio>
int main() {
  std::puts("skipped: this compiler and its library have no std::expected");
  return 77;
}
#else
#include <expected>

using namespace std::chrono_literals;

namespace {

const encore::RetryPolicy policy{encore::RetryOn<std::runtime_error>{}, encore::MaxRetries{1},
                                 encore::ConstantBackoff{.delay = 0s}, encore::ReturnOutcome{}};

void an_outcome_converts() {
  const std::expected<int, encore::Failure> good = policy.run([] { return 17; });
  check(good.has_value() && *good == 17);

  const std::expected<int, encore::Failure> bad =
      policy.run({.id = "call-17"}, []() -> int { throw std::runtime_error{"slow"}; });
  check(!bad.has_value() && bad.error().reason == encore::StopReason::retries_exhausted &&
        bad.error().attempts == 2 && bad.error().call_id == "call-17" && bad.error().error != nullptr);
}

void an_outcome_without_a_value_converts() {
  const std::expected<void, encore::Failure> good = policy.run([] {});
  check(good.has_value());
  const std::expected<void, encore::Failure> bad = policy.run([] { throw std::runtime_error{"slow"}; });
  check(!bad.has_value() && bad.error().attempts == 2);
}

void a_value_that_can_only_be_moved_is_moved_over() {
  std::expected<std::unique_ptr<int>, encore::Failure> good =
      policy.run([] { return std::make_unique<int>(17); });
  check(good.has_value() && **good == 17);
  auto outcome = policy.run([] { return std::make_unique<int>(18); });
  const std::expected<std::unique_ptr<int>, encore::Failure> moved = std::move(outcome);
  check(moved.has_value() && **moved == 18);
}

void a_value_that_resembles_an_outcome_is_not_confused_with_one() {
  const std::expected<bool, encore::Failure> no = policy.run([] { return false; });
  check(no.has_value() && !*no);
}

using Lookup = std::expected<int, std::string>;

void results_that_are_expected_are_judged() {
  HandClock clock;
  auto asked = 0;
  const encore::RetryPolicy until_there{encore::RetryIfNoValue{}, encore::NoJitter{}, clock};
  const auto found =
      until_there.run([&] { return ++asked < 3 ? Lookup{std::unexpect, "busy"} : Lookup{17}; });
  check(found == 17 && asked == 3);

  asked = 0;
  const encore::RetryPolicy if_busy{
      encore::RetryIfErrorValue{[](const std::string& error) { return error == "busy"; }}, encore::NoJitter{},
      clock};
  const auto refused = if_busy.run(
      [&] { return ++asked < 2 ? Lookup{std::unexpect, "busy"} : Lookup{std::unexpect, "gone"}; });
  check(refused == Lookup{std::unexpect, "gone"} && asked == 2);

  asked = 0;
  using Read = std::expected<std::string, std::error_code>;
  const encore::RetryPolicy by_code{encore::RetryOnErrorCode{std::errc::timed_out}, encore::NoJitter{},
                                    clock};
  const auto read = by_code.run([&] {
    return ++asked < 2 ? Read{std::unexpect, make_error_code(std::errc::timed_out)} : Read{"text"};
  });
  check(read == Read{"text"} && asked == 2);
}

// Found as expected_error_that_is_not_retried: it was reported as a success, and the breaker stayed closed. (B8)
void an_error_that_is_not_retried_is_a_failure() {
  HandClock clock;
  std::string reasons;
  encore::CircuitBreaker breaker{{.failures_to_open = 2, .count_permanent_failures = true}};
  const encore::RetryPolicy if_busy{encore::RetryIf{[](const std::string& error) { return error == "busy"; }},
                                    clock, breaker, encore::Observe{[&](const encore::Event& event) {
                                      if (event.kind == encore::EventKind::call_finished)
                                        reasons.append(to_string(event.reason)).append(" ");
                                    }}};
  const auto denied = [] { return Lookup{std::unexpect, "unauthorised"}; };
  check(if_busy.run(denied) == Lookup{std::unexpect, "unauthorised"});
  check(if_busy.run(denied) == Lookup{std::unexpect, "unauthorised"});
  check(reasons == "not_retryable not_retryable ");
  check(breaker.state(encore::Now{clock}) == encore::CircuitState::open);
}

}  // namespace

int main() {
  an_outcome_converts();
  an_outcome_without_a_value_converts();
  a_value_that_can_only_be_moved_is_moved_over();
  a_value_that_resembles_an_outcome_is_not_confused_with_one();
  results_that_are_expected_are_judged();
  an_error_that_is_not_retried_is_a_failure();
  return failed_checks;
}
#endif
