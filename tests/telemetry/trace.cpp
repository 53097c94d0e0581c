#include <encore/analysis/diagnosis.hpp>
#include <encore/analysis/trace_reader.hpp>
#include <encore/backoff.hpp>
#include <encore/jitter.hpp>
#include <encore/limits.hpp>
#include <encore/retry_policy.hpp>
#include <encore/telemetry/trace.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using encore::EventKind;
using encore::EventRecord;
using encore::StopReason;
using encore::Trace;

struct Slow : std::runtime_error {
  Slow() : std::runtime_error{"host db-1"} {}
};

const auto policy = encore::RetryPolicy{encore::RetryOn<Slow>{}, encore::MaxRetries{1},
                                        encore::ConstantBackoff{250ms}, encore::NoJitter{}};

TEST_CASE("a trace of a run is stored, saved as JSON Lines, read back and diagnosed", "[trace]") {
  encore::testing::FakeClock clock;
  Trace trace;
  const auto traced = policy.with(clock, trace);
  int attempts = 0;
  traced.run({.id = "call-17", .name = "lookup"}, [&](const encore::Attempt& attempt) {
    attempt.note_status(++attempts == 1 ? 503 : 200);
    attempt.note_request_id("r-" + std::to_string(attempts));
    clock.advance(1s);
    if (attempts == 1) throw Slow{};
  });
  CHECK_THROWS_AS(traced.run({.id = "call-18", .name = "lookup"}, [] { throw Slow{}; }), Slow);

  const auto kept = trace.records();
  REQUIRE(kept.size() == 10);
  CHECK(kept[1].kind == EventKind::attempt_failed);
  CHECK(kept[1].request_id == "r-1");
  CHECK(kept[1].elapsed == 1s);
  CHECK(kept[1].message.empty());
  CHECK(kept[9].reason == StopReason::retries_exhausted);

  encore::TraceReader reader;
  encore::Diagnosis diagnosis;
  std::vector<EventRecord> read;
  trace.save([&](std::string_view line) {
    if (const auto* const record = reader.read(line)) read.push_back(*record), diagnosis.add(*record);
  });
  CHECK(read == kept);
  diagnosis.finish();
  const auto totals = diagnosis.tools().at(0);
  CHECK(totals.calls == 2);
  CHECK(totals.attempts == 4);
  CHECK(totals.recovered == 1);
  CHECK(totals.exhausted == 1);
  CHECK(totals.slept == 500ms);
  CHECK(totals.worked == 2s);
}

TEST_CASE("a trace evicts its oldest records, and reports that", "[trace]") {
  Trace trace{{.max_records = 3}};
  for (int ordinal = 1; ordinal <= 5; ++ordinal) trace.add({.call_id = "a", .ordinal = ordinal});
  CHECK(trace.dropped() == 2);
  const auto kept = trace.records();
  REQUIRE(kept.size() == 3);
  CHECK(kept.front().ordinal == 3);
  CHECK(kept.back().ordinal == 5);
  trace.clear();
  CHECK(trace.records().empty());
  CHECK(trace.dropped() == 0);
}

TEST_CASE("a trace stores the text of exceptions on request [F6]", "[trace]") {
  encore::testing::FakeClock clock;
  Trace trace{{.exception_text = true}};
  CHECK_THROWS(policy.with(clock, trace).run([] { throw Slow{}; }));
  CHECK(trace.json_lines().find("host db-1") != std::string::npos);
}

TEST_CASE("a trace with room for no records is invalid, and the error names the field [C3]", "[trace]") {
  CHECK_THROWS_AS((Trace{{.max_records = 0}}), std::invalid_argument);
}

TEST_CASE("a trace stores calls on several threads, each in its order", "[trace][threads]") {
  constexpr int threads = 4;
  constexpr int calls = 200;
  Trace trace{{.max_records = threads * calls * 3}};
  const auto traced = policy.with(trace);
  {
    std::vector<std::jthread> running;
    for (int thread = 0; thread < threads; ++thread)
      running.emplace_back([&, thread] {
        for (int call = 0; call < calls; ++call) {
          const auto id = std::to_string(thread) + "-" + std::to_string(call);
          traced.run({.id = id}, [] {});
        }
      });
  }
  encore::Diagnosis diagnosis;
  for (const auto& record : trace.records()) diagnosis.add(record);
  diagnosis.finish();
  CHECK(trace.dropped() == 0);
  CHECK(diagnosis.findings().empty());
  CHECK(diagnosis.tools().at(0).succeeded == threads * calls);
}

}  // namespace
