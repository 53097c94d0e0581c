// What the consumer projects build on encore::fmt: a call that gives up, as text by fmt.
#include <encore/encore.hpp>
#include <encore/telemetry/format.hpp>

#include <fmt/core.h>

#include <chrono>
#include <stdexcept>

using namespace std::chrono_literals;

int main() {
  const encore::RetryPolicy policy{
      encore::RetryOn<std::runtime_error>{},
      encore::MaxRetries{2},
      encore::ConstantBackoff{.delay = 0s},
      encore::ReturnOutcome{},
  };
  const auto outcome = policy.run([]() -> int { throw std::runtime_error{"down"}; });
  fmt::print("{}\n", outcome);
  return fmt::format("{}", outcome.reason()) == "retries_exhausted" ? 0 : 1;
}
