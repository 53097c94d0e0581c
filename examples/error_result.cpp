// Failures as values: what a call came to, without an exception leaving it.
#include <encore/encore.hpp>
#include <encore/telemetry/format.hpp>
#include <encore/testing/fake_clock.hpp>

#include <fmt/core.h>

#include <exception>
#include <stdexcept>

using namespace std::chrono_literals;

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};
struct Response {
  int status = 0;
};

int main() {
  encore::testing::FakeClock clock;  // nothing here really waits
  const encore::RetryPolicy policy{
      encore::RetryOn<TimeoutError>{}, encore::MaxRetries{2},
      encore::ConstantBackoff{100ms},  encore::NoJitter{},
      encore::ReturnOutcome{},         clock,
  };

  // An outcome holds the value …
  const encore::Outcome<int> units = policy.run({.id = "call-17"}, [](const encore::Attempt& attempt) {
    if (attempt.ordinal == 1) throw TimeoutError{"no answer"};
    return 17;
  });
  fmt::print("{} units after {} attempts\n", units.value(), units.attempts());

  // … or says why there is none, and what failed last.
  const auto failed = policy.run({.id = "call-18", .name = "inventory_lookup"},
                                 []() -> int { throw TimeoutError{"no answer"}; });
  fmt::print("{}; instead: {}\n", failed, failed.value_or(0));
  try {
    std::rethrow_exception(failed.failure().error);
  } catch (const TimeoutError& error) {
    fmt::print("the exception itself: {}\n", error.what());
  }

  // A returned value can be the failure. The last one is kept.
  const auto by_status =
      policy.with(encore::RetryIfResult{[](const Response& response) { return response.status == 503; }});
  const auto busy = by_status.run({.id = "call-19"}, [] { return Response{503}; });
  fmt::print("{}, last status {}\n", busy.reason(), busy.last_value()->status);

  // What the policy does not retry is not its business: that leaves at once, as the exception it is.
  try {
    static_cast<void>(
        policy.run({.id = "call-20"}, []() -> int { throw std::invalid_argument{"blank sku"}; }));
  } catch (const std::invalid_argument& error) {
    fmt::print("not retried: {}\n", error.what());
  }
}
