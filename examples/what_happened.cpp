// What happened, in numbers and in words: counters, a trace that is saved and read back, its diagnosis, and what another policy
// would have changed.
#include <encore/analysis/diagnosis.hpp>
#include <encore/analysis/diagnosis_text.hpp>
#include <encore/analysis/trace_reader.hpp>
#include <encore/encore.hpp>
#include <encore/telemetry/counters.hpp>
#include <encore/telemetry/prometheus_text.hpp>
#include <encore/telemetry/shadow_policy.hpp>
#include <encore/telemetry/trace.hpp>
#include <encore/testing/fake_clock.hpp>

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>

using namespace std::chrono_literals;
using namespace encore;

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};

int main() {
  testing::FakeClock clock;  // nothing here really waits
  const RetryPolicy policy{clock, RetryOn<TimeoutError>{}, MaxRetries{2}, ConstantBackoff{250ms}, NoJitter{}};

  Counters counters;
  Trace trace;
  ShadowPolicy shadow{policy.with(MaxRetries{1})};
  const auto watched = policy.with(counters, trace, shadow);

  // Answers when it has been asked so often.
  const auto look_up = [&](std::string_view id, int times) {
    try {
      watched.run({.id = id, .name = "inventory_lookup"}, [&](const Attempt& attempt) {
        clock.advance(1s);
        if (attempt.ordinal < times) throw TimeoutError{"no answer"};
      });
    } catch (const TimeoutError&) {}
  };
  look_up("call-17", 3);
  look_up("call-18", 9);  // it never will
  look_up("call-19", 9);  // the model asks again
  look_up("call-20", 1);

  fmt::print("COUNTERS, for Prometheus\n");
  const auto page = prometheus_text(counters.snapshot());
  for (std::string_view rest = page; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1)) {
    const auto line = rest.substr(0, rest.find('\n'));
    if (line.find("_attempts_total{") != line.npos || line.find("_ended_total{") != line.npos)
      fmt::print("{}\n", line);
  }

  // Usually the log is a file, and others have written into it.
  auto log = trace.json_lines();
  log.insert(0, "Server listening on port 8080\n");

  fmt::print("\nDIAGNOSIS of the saved trace\n");
  TraceReader reader;
  Diagnosis diagnosis;
  for (std::string_view rest = log; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1))
    if (const auto* const record = reader.read(rest.substr(0, rest.find('\n')))) diagnosis.add(*record);
  diagnosis.finish();
  fmt::print("{}", diagnosis_text(diagnosis));
  fmt::print("\nskipped {}", skipped_text(reader));

  fmt::print("\nWITH ONE RETRY INSTEAD OF TWO\n");
  for (const auto& tool : shadow.counts())
    fmt::print("{}: {} attempts fewer in {} calls, and {} call lost that recovered\n", tool.tool,
               tool.attempts_avoided, tool.calls, tool.recoveries_lost);
}
