// LIBRARIES: spdlog::spdlog
// A policy's events in the log that a program has already: one line each, at the level that it deserves.
#include <encore/encore.hpp>
#include <encore/telemetry/format.hpp>
#include <encore/testing/fake_clock.hpp>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <stdexcept>

using namespace std::chrono_literals;

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};

spdlog::level::level_enum level_of(const encore::Event& event) {
  using enum encore::EventKind;
  if (event.kind == attempt_failed) return event.will_retry ? spdlog::level::warn : spdlog::level::err;
  return event.kind == call_finished ? spdlog::level::info : spdlog::level::debug;
}

int main() {
  const auto log = spdlog::stdout_logger_st("tools");
  log->set_level(spdlog::level::debug);
  log->set_pattern("[%n] [%l] %v");

  encore::testing::FakeClock clock;  // nothing here really waits
  const encore::RetryPolicy policy{
      encore::RetryOn<TimeoutError>{},
      encore::MaxRetries{1},
      encore::ConstantBackoff{250ms},
      encore::NoJitter{},
      clock,
      encore::Observe{[log](const encore::Event& event) { log->log(level_of(event), "{}", event); }},
  };

  policy.run({.id = "call-17", .name = "inventory_lookup"}, [&](const encore::Attempt& attempt) {
    clock.advance(40ms);
    attempt.note_status(attempt.ordinal == 1 ? 504 : 200);
    attempt.note_request_id(attempt.ordinal == 1 ? "req-801" : "req-802");
    if (attempt.ordinal == 1) throw TimeoutError{"no answer from stock-3.internal:8080"};
  });

  // The same for machines, in the names of OpenTelemetry's conventions: {:j} instead of {}, one JSON object a line.
  const auto in_json =
      policy.without<encore::role::Observer>().with(encore::Observe{[log](const encore::Event& event) {
        if (event.kind == encore::EventKind::attempt_failed) log->info("{:j}", event);
      }});
  try {
    in_json.run({.id = "call-18", .name = "inventory_lookup"}, [] { throw TimeoutError{"no answer"}; });
  } catch (const TimeoutError&) {}  // the last one, rethrown
}
