#include "../telemetry/short_log.hpp"
#include <encore/analysis/diagnosis_text.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <string>

namespace {

using namespace std::chrono_literals;

TEST_CASE("a diagnosis text lists the totals of each tool, then the findings, the most severe first",
          "[diagnosis_text]") {
  const auto diagnosis = tests::diagnose(R"(
{"id":"call-17","tool":"inventory_lookup","n":1,"error":"TimeoutError","took":1}
{"id":"call-17","tool":"inventory_lookup","n":2,"took":0.5}
{"id":"call-18","tool":"ship","n":1,"error":"TimeoutError"}
{"id":"call-18","tool":"ship","n":2,"error":"TimeoutError"}
{"id":"call-18","tool":"ship","n":3,"error":"TimeoutError"}
)",
                                         {.max_attempts = 2});
  CHECK(diagnosis_text(diagnosis) ==
        R"(inventory_lookup: 1 call, 2 attempts; 1 succeeded, 1 of them after retries; worked 1.5 s
ship: 1 call, 3 attempts; 1 failed

Errors
ship: call-18 made 3 attempts where at most 2 are allowed.
  -> Look for a second layer that retries, or for a number of retries used as a number of attempts.

Warnings
ship: call-18 used all its attempts: 3 attempts of at most 2, the last failure TimeoutError.
  -> The limit worked: look at the state of the dependency at that time, and at how many calls recover thanks to retries.

As intended
inventory_lookup: call-17 succeeded after retries, in 2 attempts.
  -> Nothing: this is what retries are for.
)");
}

TEST_CASE("a diagnosis text without findings says that there are none", "[diagnosis_text]") {
  CHECK(diagnosis_text(tests::diagnose("")) == "the log reports no calls\n");
}

TEST_CASE("a diagnosis text's totals name only what is known, and mark lower bounds as such",
          "[diagnosis_text]") {
  CHECK(encore::totals_text({.tool = "search",
                             .calls = 9,
                             .attempts = 14,
                             .requests = 2,
                             .succeeded = 5,
                             .recovered = 2,
                             .failed = 3,
                             .exhausted = 1,
                             .unfinished = 1,
                             .observer_errors = 1,
                             .slept = 750ms,
                             .worked = 2s,
                             .worked_is_known = false}) ==
        "search: 9 calls, 14 attempts; 5 succeeded, 2 of them after retries; 3 failed, 1 of them exhausted; "
        "1 unfinished; 2 requests in other logs; 1 observer exception; slept 0.75 s; worked at least 2 s");
  CHECK(encore::totals_text({.calls = 1, .attempts = 1, .succeeded = 1}) ==
        "(no name): 1 call, 1 attempt; 1 succeeded");
}

TEST_CASE("a diagnosis text reports calls that were evicted too early", "[diagnosis_text]") {
  encore::Diagnosis diagnosis{{.max_calls = 1}};
  for (const auto* const id : {"a", "b"})
    diagnosis.add(
        encore::EventRecord{.kind = encore::EventKind::call_finished, .call_id = id, .call_name = "t"});
  diagnosis.finish();
  CHECK(diagnosis_text(diagnosis).ends_with(
      "1 call evicted before the log's end: later lines about them are not counted as theirs.\n"));
}

}  // namespace
