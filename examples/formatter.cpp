// What a model is told when a tool gives up: a message made of the failure, in which nothing leaks.
#include <encore/agent/model_text.hpp>
#include <encore/encore.hpp>
#include <encore/telemetry/format.hpp>
#include <encore/testing/fake_clock.hpp>

#include <fmt/core.h>

#include <stdexcept>
#include <string>

using namespace std::chrono_literals;

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};
struct NotFound : std::runtime_error {
  using runtime_error::runtime_error;
};

struct ToolMessage {
  std::string call_id;
  bool is_error = false;
  std::string content;
};

// The detail stays in the log, which few may read; the call's id joins the two.
ToolMessage for_the_model(const encore::Failure& failure) {
  fmt::print("log:   {:x}\n", failure);
  return {failure.call_id, true, encore::tell_model(failure)};
}

int main() {
  encore::testing::FakeClock clock;  // nothing here really waits
  const encore::RetryPolicy policy{
      encore::RetryOn<TimeoutError>{},
      encore::MaxRetries{1},
      encore::ConstantBackoff{100ms},
      encore::NoJitter{},
      encore::FormatFailure{for_the_model},
      encore::HandleUnmatched{},  // a failure that is not retried is a message, too
      clock,
  };
  const auto ask = [&](std::string_view id, auto look_up) {
    const ToolMessage message = policy.run({.id = id, .name = "inventory_lookup"}, look_up);
    fmt::print("model: {} {}: {}\n\n", message.call_id, message.is_error ? "error" : "ok", message.content);
  };
  ask("call-17", []() -> ToolMessage { return {"call-17", false, "17 units"}; });
  ask("call-18", []() -> ToolMessage { throw TimeoutError{"no answer from stock-3.internal:8080"}; });
  ask("call-19", []() -> ToolMessage { throw NotFound{"no row for sku A-99 in db-2"}; });
}
