#include "../telemetry/short_log.hpp"
#include <encore/analysis/diagnosis.hpp>
#include <encore/analysis/diagnosis_text.hpp>
#include <encore/analysis/finding_text.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::chrono_literals;
using encore::Diagnosis;
using encore::Finding;
using encore::FindingKind;
using encore::what_happened;
using tests::diagnose;
using tests::kinds_of;
using tests::only;
using Kinds = std::vector<std::string>;
using Ids = std::vector<std::string>;

/// Is it said what to look at, and does that speak of the thing?
bool points_to(const Finding& finding, std::string_view thing) {
  return what_next(finding).find(thing) != std::string_view::npos;
}

// ---- six requests in an API's log: one call, two calls, or six -------------------------------------------------------

TEST_CASE("diagnosis: one id with three attempts is one call that spent its budget", "[diagnosis]") {
  const auto diagnosis = diagnose(R"(
{"id":"call-17","tool":"inventory_lookup","n":1,"error":"TimeoutError"}
{"id":"call-17","tool":"inventory_lookup","n":2,"error":"TimeoutError"}
{"id":"call-17","tool":"inventory_lookup","n":3,"error":"TimeoutError"}
)",
                                  {.max_attempts = 3});
  CHECK(kinds_of(diagnosis) == Kinds{"exhausted"});
  const auto exhausted = only(diagnosis, FindingKind::exhausted);
  CHECK(exhausted == Finding{.kind = FindingKind::exhausted,
                             .tool = "inventory_lookup",
                             .detail = "TimeoutError",
                             .calls = 1,
                             .attempts = 3,
                             .min_attempts_per_call = 3,
                             .max_attempts_per_call = 3,
                             .ceiling = 3,
                             .looks_transient = true,
                             .ids = {"call-17"}});
  CHECK(what_happened(exhausted) ==
        "call-17 used all its attempts: 3 attempts of at most 3, the last failure TimeoutError");
}

TEST_CASE(
    "diagnosis: two ids with three attempts each are two calls that the model chose, not one over its "
    "ceiling",
    "[diagnosis]") {
  const auto diagnosis = diagnose(R"(
{"id":"call-17","tool":"inventory_lookup","n":1,"error":"TimeoutError"}
{"id":"call-17","tool":"inventory_lookup","n":2,"error":"TimeoutError"}
{"id":"call-17","tool":"inventory_lookup","n":3,"error":"TimeoutError"}
{"id":"call-18","tool":"inventory_lookup","n":1,"error":"TimeoutError"}
{"id":"call-18","tool":"inventory_lookup","n":2,"error":"TimeoutError"}
{"id":"call-18","tool":"inventory_lookup","n":3,"error":"TimeoutError"}
)",
                                  {.max_attempts = 3});
  CHECK(kinds_of(diagnosis) == Kinds{"exhausted", "repeated_after_exhaustion"});
  const auto row = only(diagnosis, FindingKind::repeated_after_exhaustion);
  CHECK(row.ids == Ids{"call-17", "call-18"});
  CHECK(what_happened(row) ==
        "2 calls in a row, 3 attempts each, 6 in all (call-17 and call-18): separate calls with their own "
        "retries, not one call over its limit");
  CHECK(points_to(row, "the error result that the model got"));
}

TEST_CASE(
    "diagnosis: three ids with one attempt each mean that nothing was retried and the model repeated the "
    "request",
    "[diagnosis]") {
  const auto diagnosis = diagnose(R"(
{"id":"call-17","tool":"inventory_lookup","n":1,"error":"TimeoutError"}
{"id":"call-18","tool":"inventory_lookup","n":1,"error":"TimeoutError"}
{"id":"call-19","tool":"inventory_lookup","n":1,"error":"TimeoutError"}
)",
                                  {.max_attempts = 3});
  CHECK(kinds_of(diagnosis) == Kinds{"repeated_without_retries", "not_retried"});
  const auto row = only(diagnosis, FindingKind::repeated_without_retries);
  CHECK(row.ids == Ids{"call-17", "call-18", "call-19"});
  CHECK(row.attempts == 3);
  CHECK(what_happened(row) ==
        "3 calls in a row made one attempt each (call-17, call-18 and call-19): nothing retried them, and "
        "each began after the previous one had failed");
  const auto alone = only(diagnosis, FindingKind::not_retried);
  CHECK(alone.looks_transient);
  CHECK(points_to(alone, "the filter names the type"));
}

TEST_CASE("diagnosis: for six requests without ids it cannot say which of these it was", "[diagnosis]") {
  std::string log;
  for (int i = 0; i < 6; ++i)
    log += R"({"tool":"inventory_lookup","status":504})"
           "\n";
  const auto diagnosis = diagnose(log, {.max_attempts = 3});
  CHECK(kinds_of(diagnosis) == Kinds{"without_id"});
  const auto found = only(diagnosis, FindingKind::without_id);
  CHECK(found.attempts == 6);
  CHECK(points_to(found, "Log the call's id"));
}

TEST_CASE("diagnosis: interleaved calls are distinguished by their ids and numbers, not by time",
          "[diagnosis]") {
  const auto diagnosis = diagnose(R"(
{"id":"call-17","tool":"inventory_lookup","n":1,"error":"TimeoutError","t":"2026-01-01T10:00:05Z"}
{"id":"call-22","tool":"inventory_lookup","n":1,"error":"TimeoutError","t":"2026-01-01T10:00:02Z"}
{"id":"call-17","tool":"inventory_lookup","n":2,"t":"2026-01-01T10:00:03Z"}
{"id":"call-22","tool":"inventory_lookup","n":2,"t":"2026-01-01T10:00:01Z"}
)",
                                  {.max_attempts = 3});
  CHECK(kinds_of(diagnosis) == Kinds{"recovered"});
  CHECK(only(diagnosis, FindingKind::recovered).ids == Ids{"call-17", "call-22"});
  CHECK(diagnosis.tools().front().recovered == 2);
}

// ---- a spent budget against a filter that missed ----------------------------------------------------------------------

TEST_CASE(
    "diagnosis: an exception that an adapter translated missed the filter, though its text says timeout",
    "[diagnosis]") {
  const auto diagnosis = diagnose(R"(
{"event":"attempt_started","id":"call-17","tool":"inventory_lookup","n":1,"of":3}
{"event":"attempt_failed","id":"call-17","tool":"inventory_lookup","n":1,"of":3,"error":"RuntimeError","message":"dependency timeout","again":false,"reason":"not_retryable"}
{"event":"call_finished","id":"call-17","tool":"inventory_lookup","attempts":1,"of":3,"error":"RuntimeError","reason":"not_retryable","mode":"exception","slept":0}
)");
  CHECK(kinds_of(diagnosis) == Kinds{"not_retryable"});
  const auto found = only(diagnosis, FindingKind::not_retryable);
  CHECK(found.looks_transient);
  CHECK(what_happened(found) == "call-17 failed at once: the filter does not match RuntimeError");
  CHECK(points_to(found, "translates exceptions"));
}

TEST_CASE("diagnosis: bad input that was not retried is distinguished from a filter that missed",
          "[diagnosis]") {
  const auto diagnosis = diagnose(R"(
{"event":"attempt_started","id":"call-17","tool":"inventory_lookup","n":1,"of":3}
{"event":"attempt_failed","id":"call-17","tool":"inventory_lookup","n":1,"of":3,"error":"ValueError","message":"sku must not be blank","again":false,"reason":"not_retryable"}
{"event":"call_finished","id":"call-17","tool":"inventory_lookup","attempts":1,"of":3,"error":"ValueError","reason":"not_retryable","mode":"exception","slept":0}
)");
  const auto found = only(diagnosis, FindingKind::not_retryable);
  CHECK(!found.looks_transient);
  CHECK(points_to(found, "One attempt is right for bad input"));
}

TEST_CASE("diagnosis: a tool outside of the filter ran once, under the name it resolves to", "[diagnosis]") {
  const auto diagnosis = diagnose(R"(
{"event":"attempt_started","id":"call-17","tool":"inventory_lookup","resolved":"inventory_lookup_v2","n":1,"of":3}
{"event":"attempt_failed","id":"call-17","tool":"inventory_lookup","resolved":"inventory_lookup_v2","n":1,"of":3,"error":"TimeoutError","again":false,"reason":"excluded_tool"}
{"event":"call_finished","id":"call-17","tool":"inventory_lookup","resolved":"inventory_lookup_v2","attempts":1,"of":3,"error":"TimeoutError","reason":"excluded_tool","mode":"exception","slept":0}
)");
  CHECK(kinds_of(diagnosis) == Kinds{"ran_once"});
  const auto found = only(diagnosis, FindingKind::ran_once);
  CHECK(what_happened(found) ==
        "call-17 ran once and failed: the retry filter does not name this tool, which resolves to "
        "inventory_lookup_v2");
  CHECK(points_to(found, "add its name, as resolved, to the filter"));
}

TEST_CASE("diagnosis: an id in the backend's log that no policy reported bypassed the policy",
          "[diagnosis]") {
  const std::string policy = R"(
{"event":"attempt_started","id":"call-17","tool":"inventory_lookup","n":1,"of":3}
{"event":"attempt_succeeded","id":"call-17","tool":"inventory_lookup","n":1,"of":3}
{"event":"call_finished","id":"call-17","tool":"inventory_lookup","attempts":1,"of":3,"reason":"succeeded","mode":"result","slept":0}
)";
  const std::string backend = R"(
{"id":"call-17","tool":"inventory_lookup","status":200,"request":"r-1"}
{"id":"call-18","tool":"inventory_lookup","status":503,"request":"r-2"}
)";
  for (const auto& log : {policy + backend, backend + policy}) {
    const auto diagnosis = diagnose(log);
    CHECK(kinds_of(diagnosis) == Kinds{"never_reached_policy", "not_retried"});
    const auto found = only(diagnosis, FindingKind::never_reached_policy);
    CHECK(found.ids == Ids{"call-18"});
    CHECK(what_happened(found) == "call-18 never reached a policy: 1 attempt, and no policy reported it");
    CHECK(points_to(found, "a renamed tool, a wrapper or a typo"));
  }
  // Without a policy's log that cannot be said.
  CHECK(kinds_of(diagnose(backend)) == Kinds{"not_retried"});
}

// ---- composition ------------------------------------------------------------------------------------------------------

TEST_CASE("diagnosis: a call that reached the ceiling without an exception was swallowed by another layer",
          "[diagnosis]") {
  const auto diagnosis = diagnose(R"(
{"event":"attempt_started","id":"call-17","tool":"inventory_lookup","n":1,"of":2}
{"event":"attempt_failed","id":"call-17","tool":"inventory_lookup","n":1,"of":2,"error":"TimeoutError","again":true,"wait":0.25}
{"event":"attempt_started","id":"call-17","tool":"inventory_lookup","n":2,"of":2}
{"event":"attempt_failed","id":"call-17","tool":"inventory_lookup","n":2,"of":2,"error":"TimeoutError","again":false,"reason":"retries_exhausted"}
)");
  CHECK(kinds_of(diagnosis) == Kinds{"no_end"});
  const auto found = only(diagnosis, FindingKind::no_end);
  CHECK(found.attempts == 2);
  CHECK(points_to(found, "then add the other layers one at a time"));
}

TEST_CASE("diagnosis: a log that ends while a call runs or waits supports no further conclusion",
          "[diagnosis]") {
  const auto waiting = R"(
{"event":"attempt_started","id":"call-17","tool":"inventory_lookup","n":1,"of":2}
{"event":"attempt_failed","id":"call-17","tool":"inventory_lookup","n":1,"of":2,"error":"TimeoutError","again":true,"wait":0.25}
)";
  CHECK(kinds_of(diagnose(waiting)) == Kinds{"unfinished"});
  CHECK(kinds_of(diagnose(R"({"event":"attempt_started","id":"call-17","n":1})")) == Kinds{"unfinished"});
}

TEST_CASE("diagnosis: a policy inside a policy multiplied the requests", "[diagnosis]") {
  std::string log;
  for (const auto* const n : {"1", "2"}) {
    const auto add = [&](std::string line) {
      for (auto at = line.find('#'); at != line.npos; at = line.find('#')) line.replace(at, 1, n);
      log += line + "\n";
    };
    add(R"({"event":"attempt_started","id":"call-17","tool":"inventory_lookup","n":#,"of":2})");
    add(R"({"event":"attempt_started","id":"http-#","tool":"http","n":1,"of":2})");
    add(R"({"event":"attempt_failed","id":"http-#","tool":"http","n":1,"of":2,"error":"E","again":true,"wait":1,"outer":"call-17","outer_n":#})");
    add(R"({"event":"attempt_started","id":"http-#","tool":"http","n":2,"of":2})");
    add(R"({"event":"attempt_failed","id":"http-#","tool":"http","n":2,"of":2,"error":"E","again":false,"reason":"retries_exhausted","outer":"call-17","outer_n":#})");
    add(R"({"event":"call_finished","id":"http-#","tool":"http","attempts":2,"of":2,"error":"E","reason":"retries_exhausted","mode":"exception","slept":1,"outer":"call-17","outer_n":#})");
    add(std::string{
            R"({"event":"attempt_failed","id":"call-17","tool":"inventory_lookup","n":#,"of":2,"error":"E",)"} +
        (*n == '1' ? R"("again":true,"wait":1})" : R"("again":false,"reason":"retries_exhausted"})"));
  }
  const std::string end =
      R"({"event":"call_finished","id":"call-17","tool":"inventory_lookup","attempts":2,"of":2,"error":"E","reason":"retries_exhausted","mode":"exception","slept":1})";
  const auto found = only(diagnose(log + end), FindingKind::layers_multiplied);
  CHECK(found.tool == "inventory_lookup");
  CHECK(what_happened(found) ==
        "call-17: 2 attempts became 4 requests, because a policy inside each attempt retried too");
  CHECK(points_to(found, "make_single"));

  // The outer policy need not be traced.
  std::string inner;
  tests::each_record(log, [](const encore::EventRecord&) {});
  for (std::size_t begin = 0; begin < log.size();) {
    const auto size = log.find('\n', begin) - begin + 1;
    if (const auto line = log.substr(begin, size); line.find("http") != line.npos) inner += line;
    begin += size;
  }
  const auto from_inner = only(diagnose(inner), FindingKind::layers_multiplied);
  CHECK(from_inner.ids == Ids{"call-17"});
  CHECK(from_inner.attempts == 2);
  CHECK(from_inner.requests == 4);
  CHECK(diagnose(inner).tools().size() == 1);  // what is known only as the outer call of others is none
}

TEST_CASE(
    "diagnosis: a transport that repeated a request within one attempt is reported [I3, J1] (fault 63: "
    "libcurl)",
    "[diagnosis]") {
  const auto diagnosis = diagnose(R"(
{"event":"attempt_started","id":"call-17","tool":"charge","n":1,"of":1}
{"event":"attempt_succeeded","id":"call-17","tool":"charge","n":1,"of":1,"status":200,"sent":true,"encore.dispatched_again":true,"answered":true}
{"event":"call_finished","id":"call-17","tool":"charge","attempts":1,"of":1,"reason":"succeeded","mode":"result","slept":0}
)");
  CHECK(kinds_of(diagnosis) == Kinds{"layers_multiplied"});
  const auto found = only(diagnosis, FindingKind::layers_multiplied);
  CHECK(what_happened(found) ==
        "call-17: 1 attempt became 2 requests or more, because the transport sent a request again before it "
        "got an answer");
  CHECK(points_to(found, "duplicates in the dependency's records"));
}

TEST_CASE("diagnosis: a client below the policy repeated what the policy sent once", "[diagnosis]") {
  const auto diagnosis = diagnose(R"(
{"event":"attempt_started","id":"call-17","tool":"inventory_lookup","n":1,"of":3}
{"id":"call-17","tool":"inventory_lookup","status":503}
{"id":"call-17","tool":"inventory_lookup","status":503}
{"id":"call-17","tool":"inventory_lookup","status":200}
{"event":"attempt_succeeded","id":"call-17","tool":"inventory_lookup","n":1,"of":3}
{"event":"call_finished","id":"call-17","tool":"inventory_lookup","attempts":1,"of":3,"reason":"succeeded","mode":"result","slept":0}
)");
  CHECK(kinds_of(diagnosis) == Kinds{"layers_multiplied"});
  const auto found = only(diagnosis, FindingKind::layers_multiplied);
  CHECK(what_happened(found) ==
        "call-17: 1 attempt became 3 requests, because a layer below the policy repeated them");
  CHECK(points_to(found, "AlreadyRetries"));
}

TEST_CASE("diagnosis: a fourth attempt where three are allowed is over the ceiling", "[diagnosis]") {
  const auto diagnosis = diagnose(R"(
{"id":"call-17","tool":"inventory_lookup","n":1,"error":"TimeoutError"}
{"id":"call-17","tool":"inventory_lookup","n":2,"error":"TimeoutError"}
{"id":"call-17","tool":"inventory_lookup","n":3,"error":"TimeoutError"}
{"id":"call-17","tool":"inventory_lookup","n":4}
)",
                                  {.max_attempts = 3});
  CHECK(kinds_of(diagnosis) == Kinds{"over_ceiling", "recovered"});
  CHECK(what_happened(only(diagnosis, FindingKind::over_ceiling)) ==
        "call-17 made 4 attempts where at most 3 are allowed");
}

TEST_CASE("diagnosis: a call that changes its id from attempt to attempt is found by the missing numbers",
          "[diagnosis]") {
  const auto diagnosis = diagnose(R"(
{"id":"call-17","tool":"inventory_lookup","n":1,"error":"TimeoutError"}
{"id":"call-18","tool":"inventory_lookup","n":2,"error":"TimeoutError"}
{"id":"call-19","tool":"inventory_lookup","n":3,"error":"TimeoutError"}
)");
  const auto found = only(diagnosis, FindingKind::ordinal_missing);
  CHECK(found.ids == Ids{"call-18", "call-19"});
  CHECK(points_to(found, "the id changed between attempts"));
}

TEST_CASE("diagnosis: a call that began before the log did lacks no attempts", "[diagnosis]") {
  const auto diagnosis = diagnose(R"(
{"t":"2026-01-01T10:00:00Z","event":"attempt_started","id":"a","tool":"search","n":3,"of":3,"elapsed":4}
{"t":"2026-01-01T10:00:01Z","event":"attempt_succeeded","id":"a","tool":"search","n":3,"of":3,"elapsed":5}
{"t":"2026-01-01T10:00:01Z","event":"call_finished","id":"a","tool":"search","attempts":3,"of":3,"reason":"succeeded","slept":3,"elapsed":5}
{"t":"2026-01-01T10:00:02Z","event":"attempt_started","id":"b","tool":"fetch","n":2,"of":3,"elapsed":1}
)");
  CHECK(kinds_of(diagnosis) == Kinds{"ordinal_missing", "mostly_waiting", "unfinished", "recovered"});
  CHECK(only(diagnosis, FindingKind::ordinal_missing).ids == Ids{"b"});  // it began after the log did
  CHECK(only(diagnosis, FindingKind::recovered).attempts == 3);
}

TEST_CASE("diagnosis: repeated attempt numbers mean that several calls share an id", "[diagnosis]") {
  const auto diagnosis = diagnose(R"(
{"id":"call_0","tool":"inventory_lookup","n":1,"error":"TimeoutError"}
{"id":"call_0","tool":"inventory_lookup","n":2,"error":"TimeoutError"}
{"id":"call_0","tool":"inventory_lookup","n":1,"error":"TimeoutError"}
{"id":"call_0","tool":"inventory_lookup","n":2,"error":"TimeoutError"}
)");
  CHECK(points_to(only(diagnosis, FindingKind::ordinal_repeated), "several calls share this id"));
  const auto told = diagnose(R"(
{"event":"attempt_started","id":"call_0","n":1}
{"event":"attempt_succeeded","id":"call_0","n":1}
{"event":"call_finished","id":"call_0","attempts":1,"reason":"succeeded","mode":"result","slept":0}
{"event":"attempt_started","id":"call_0","n":1}
{"event":"attempt_succeeded","id":"call_0","n":1}
{"event":"call_finished","id":"call_0","attempts":1,"reason":"succeeded","mode":"result","slept":0}
)");
  CHECK(kinds_of(told) == Kinds{"id_reused"});
  CHECK(told.tools().front().calls == 2);
}

// ---- side effects and time --------------------------------------------------------------------------------------------

TEST_CASE("diagnosis: a shipment that was sent, not answered and sent again may have been made twice",
          "[diagnosis]") {
  const auto diagnosis = diagnose(R"(
{"id":"call-17","tool":"ship","n":1,"error":"ConnectionError","sent":true}
{"id":"call-17","tool":"ship","n":2,"status":201,"sent":true,"answered":true}
)");
  CHECK(kinds_of(diagnosis) == Kinds{"repeated_after_unknown_outcome", "recovered"});
  const auto found = only(diagnosis, FindingKind::repeated_after_unknown_outcome);
  CHECK(!found.with_key);
  CHECK(points_to(found, "duplicates in the dependency's records"));

  const auto with_key = only(diagnose(R"(
{"id":"call-17","tool":"ship","n":1,"error":"ConnectionError","sent":true,"key":true}
{"id":"call-17","tool":"ship","n":2,"status":201,"sent":true,"answered":true,"key":true}
)"),
                             FindingKind::repeated_after_unknown_outcome);
  CHECK(with_key.with_key);
  CHECK(points_to(with_key, "whether it treated the key as one action"));
}

TEST_CASE("diagnosis: a timeout before anything was sent is not an unknown outcome", "[diagnosis]") {
  CHECK(kinds_of(diagnose(R"(
{"id":"call-17","tool":"ship","n":1,"error":"ConnectionError","sent":false}
{"id":"call-17","tool":"ship","n":2,"status":201,"sent":true,"answered":true}
)")) == Kinds{"recovered"});
  CHECK(kinds_of(diagnose(R"(
{"event":"attempt_started","id":"call-17","tool":"ship","n":1,"of":3}
{"event":"attempt_failed","id":"call-17","tool":"ship","n":1,"of":3,"error":"ConnectionError","sent":true,"again":false,"reason":"unknown_outcome"}
{"event":"call_finished","id":"call-17","tool":"ship","attempts":1,"of":3,"error":"ConnectionError","reason":"unknown_outcome","unknown":true,"mode":"exception","slept":0}
)")) == Kinds{"outcome_unknown"});
}

TEST_CASE("diagnosis: a retry after the request's time was over is found by the deadline", "[diagnosis]") {
  const auto log = R"(
{"id":"call-17","tool":"report","n":1,"error":"TimeoutError","t":"2026-01-01T10:00:04Z","took":4}
{"id":"call-17","tool":"report","n":2,"t":"2026-01-01T10:00:10Z","took":4}
)";
  CHECK(kinds_of(diagnose(log)) == Kinds{"recovered"});  // nobody said that there was a deadline
  const auto diagnosis = diagnose(log, {.deadline = 5s});
  CHECK(kinds_of(diagnosis) == Kinds{"wait_past_deadline", "recovered"});
  const auto found = only(diagnosis, FindingKind::wait_past_deadline);
  CHECK(found.max_overrun == 1s);  // begun at 10:00:06, five seconds after 10:00:00
  CHECK(points_to(found, "TimeBudget"));

  const auto told = diagnose(R"(
{"event":"attempt_started","id":"call-17","tool":"report","n":1,"left":5}
{"event":"attempt_failed","id":"call-17","tool":"report","n":1,"error":"TimeoutError","again":true,"wait":3,"left":1.5}
)");
  CHECK(only(told, FindingKind::wait_past_deadline).max_overrun == 1500ms);
}

TEST_CASE("diagnosis: time spent waiting is compared with time spent working", "[diagnosis]") {
  const auto diagnosis = diagnose(R"(
{"event":"attempt_started","id":"call-17","tool":"search","n":1,"elapsed":0}
{"event":"attempt_failed","id":"call-17","tool":"search","n":1,"error":"TimeoutError","again":true,"wait":8,"elapsed":1}
{"event":"attempt_started","id":"call-17","tool":"search","n":2,"elapsed":9}
{"event":"attempt_succeeded","id":"call-17","tool":"search","n":2,"elapsed":10}
{"event":"call_finished","id":"call-17","tool":"search","attempts":2,"reason":"succeeded","mode":"result","slept":8,"elapsed":10}
)");
  CHECK(kinds_of(diagnosis) == Kinds{"mostly_waiting", "recovered"});
  CHECK(what_happened(only(diagnosis, FindingKind::mostly_waiting)) == "1 call slept 8 s and worked 2 s");
}

// ---- several processes, and no end of calls --------------------------------------------------------------------------

TEST_CASE("diagnosis: logs of several processes read together give the same findings as read apart",
          "[diagnosis]") {
  const auto process = [](std::string_view scope) {
    std::string log;
    for (
        const auto* const line :
        {R"({"event":"attempt_started","id":"call_0","tool":"search","n":1,"of":2,"scope":"#"})",
         R"({"event":"attempt_failed","id":"call_0","tool":"search","n":1,"of":2,"scope":"#","error":"E","again":true,"wait":1})",
         R"({"event":"attempt_started","id":"call_0","tool":"search","n":2,"of":2,"scope":"#"})",
         R"({"event":"attempt_failed","id":"call_0","tool":"search","n":2,"of":2,"scope":"#","error":"E","again":false,"reason":"retries_exhausted"})",
         R"({"event":"call_finished","id":"call_0","tool":"search","attempts":2,"of":2,"scope":"#","error":"E","reason":"retries_exhausted","mode":"exception","slept":1})"}) {
      std::string text{line};
      log.append(text.replace(text.find('#'), 1, scope)).append(1, '\n');
    }
    return log;
  };
  const auto a = process("aaaa");
  const auto b = process("bbbb");
  std::string both;
  for (std::size_t at_a = 0, at_b = 0; at_a < a.size();) {
    const auto end_a = a.find('\n', at_a) + 1;
    const auto end_b = b.find('\n', at_b) + 1;
    both.append(a, at_a, end_a - at_a).append(b, at_b, end_b - at_b);
    at_a = end_a, at_b = end_b;
  }
  for (const auto& log : {a + b, both}) {
    const auto diagnosis = diagnose(log);
    CHECK(kinds_of(diagnosis) == Kinds{"exhausted"});
    CHECK(only(diagnosis, FindingKind::exhausted).calls == 2);
    CHECK(diagnosis.tools().front().attempts == 4);
  }
}

TEST_CASE("diagnosis: calls that ran in parallel are not a row of repeated requests, however they ended",
          "[diagnosis]") {
  CHECK(kinds_of(diagnose(R"(
{"event":"attempt_started","id":"a","tool":"search","n":1}
{"event":"attempt_started","id":"b","tool":"search","n":1}
{"event":"call_finished","id":"a","tool":"search","attempts":1,"error":"E","reason":"retries_exhausted","mode":"exception","slept":0}
{"event":"attempt_started","id":"c","tool":"search","n":1}
{"event":"call_finished","id":"c","tool":"search","attempts":1,"error":"E","reason":"retries_exhausted","mode":"exception","slept":0}
{"event":"call_finished","id":"b","tool":"search","attempts":1,"error":"E","reason":"retries_exhausted","mode":"exception","slept":0}
)")) == Kinds{"exhausted"});
}

TEST_CASE(
    "diagnosis: an inner call that the outer one repeats under the same id is neither a reuse nor a repeated "
    "request [J1]",
    "[diagnosis]") {
  std::string log;
  for (const auto* const n : {"1", "2"}) {
    for (
        const auto* const line :
        {R"({"event":"attempt_started","id":"out/in","tool":"client","n":1})",
         R"({"event":"attempt_failed","id":"out/in","tool":"client","n":1,"error":"E","again":false,"reason":"nested_made_single","outer":"out","outer_n":#})",
         R"({"event":"call_finished","id":"out/in","tool":"client","attempts":1,"error":"E","reason":"nested_made_single","mode":"exception","slept":0,"outer":"out","outer_n":#})"}) {
      std::string text{line};
      if (const auto at = text.find('#'); at != text.npos) text.replace(at, 1, n);
      log.append(text).append(1, '\n');
    }
  }
  CHECK(kinds_of(diagnose(log)).empty());
}

TEST_CASE("diagnosis: calls of tools declared to run once are not a row of repeated requests",
          "[diagnosis]") {
  std::string log;
  for (const auto* const id : {"a", "b"})
    log +=
        R"({"event":"call_finished","id":")" + std::string{id} +
        R"(","tool":"ship","attempts":1,"error":"E","reason":"unknown_outcome","unknown":true,"mode":"exception","slept":0})"
        "\n";
  CHECK(kinds_of(diagnose(log)) == Kinds{"outcome_unknown"});
}

TEST_CASE("diagnosis: a call much later, or of another tool, or after a success is not a repetition",
          "[diagnosis]") {
  CHECK(kinds_of(diagnose(R"(
{"id":"a","tool":"search","n":1,"error":"E","t":"2026-01-01T10:00:00Z"}
{"id":"b","tool":"search","n":1,"error":"E","t":"2026-01-01T10:10:00Z"}
{"id":"c","tool":"fetch","n":1,"error":"E","t":"2026-01-01T10:10:01Z"}
{"id":"d","tool":"open","n":1,"t":"2026-01-01T10:10:02Z"}
{"id":"e","tool":"open","n":1,"error":"E","t":"2026-01-01T10:10:03Z"}
)")) == Kinds{"not_retried", "not_retried", "not_retried"});
}

TEST_CASE(
    "diagnosis: failures of one type are distinguished by the codes that were noted, in records of attempts "
    "and of ends alike",
    "[diagnosis]") {
  const auto diagnosis = tests::diagnose(R"(
{"event":"attempt_failed","id":"a","tool":"ask","n":1,"of":1,"error":"HttpError","code":"insufficient_quota","again":false,"reason":"retries_exhausted"}
{"event":"call_finished","id":"a","tool":"ask","attempts":1,"of":1,"error":"HttpError","code":"insufficient_quota","reason":"retries_exhausted","mode":"exception","slept":0}
{"event":"call_finished","id":"b","tool":"ask","attempts":1,"of":1,"error":"HttpError","code":"insufficient_quota","reason":"retries_exhausted","mode":"exception","slept":0}
{"event":"call_finished","id":"c","tool":"ask","attempts":1,"of":1,"error":"HttpError","code":"server_error","reason":"retries_exhausted","mode":"exception","slept":0}
{"id":"d","tool":"other","n":1,"error":"HttpError","code":"server_error"}
)");
  std::map<std::string, std::uint64_t> calls;
  for (const auto& finding : diagnosis.findings())
    if (finding.kind == FindingKind::exhausted || finding.kind == FindingKind::not_retried)
      calls[finding.tool + ' ' + finding.detail] += finding.calls;
  CHECK(calls == std::map<std::string, std::uint64_t>{{"ask HttpError/insufficient_quota", 2},
                                                      {"ask HttpError/server_error", 1},
                                                      {"other HttpError/server_error", 1}});
  CHECK(encore::diagnosis_text(diagnosis).find("a and b used all their attempts: 1 attempt each of at most "
                                               "1, the last failure HttpError/insufficient_quota.") !=
        std::string::npos);
}

TEST_CASE("diagnosis: memory does not grow with the log", "[diagnosis]") {
  Diagnosis diagnosis{{.max_calls = 10, .max_tools = 3, .max_findings = 4}};
  for (int i = 0; i < 1'000; ++i) {
    const auto number = std::to_string(i);
    diagnosis.add(encore::EventRecord{.call_id = "call-" + number,
                                      .call_name = "tool-" + number,
                                      .ordinal = 1,
                                      .error_type = "Error" + number});
  }
  diagnosis.finish();
  const auto tools = diagnosis.tools();
  REQUIRE(tools.size() == 4);
  CHECK(tools.front().tool == encore::other_tools);
  CHECK(tools.front().calls == 997);
  CHECK(tools.front().failed == 997);
  const auto findings = diagnosis.findings();
  CHECK(findings.size() <= 8);
  std::size_t calls = 0;
  for (const auto& finding : findings) {
    if (finding.kind == FindingKind::not_retried) calls += finding.calls;
    CHECK(finding.ids.size() <= Finding::max_stored_ids);
  }
  CHECK(calls == 1'000);  // and nothing is lost
}

TEST_CASE(
    "diagnosis: a call that was evicted before its end yields no finding, and one sentence says so (fault "
    "57)",
    "[diagnosis]") {
  Diagnosis diagnosis{{.max_calls = 2}};
  for (const auto* const id : {"a", "b", "c"})
    diagnosis.add(encore::EventRecord{
        .kind = encore::EventKind::attempt_started, .call_id = id, .call_name = "search", .ordinal = 1});
  diagnosis.finish();
  CHECK(kinds_of(diagnosis) == Kinds{"unfinished"});
  CHECK(only(diagnosis, FindingKind::unfinished).calls == 2);
  CHECK(diagnosis.evicted_count() == 1);
  CHECK(diagnosis.evicted_open_count() == 1);
  CHECK(encore::diagnosis_text(diagnosis).ends_with(
      "\n1 call evicted before the log's end, 1 of them unfinished: later lines about them are not counted "
      "as theirs, and the unfinished ones are judged by their ends only.\n"));
}

/// A log of calls that are all under way at once. Each fails twice, then succeeds.
Diagnosis of_calls_at_once(int calls, const encore::DiagnosisOptions& options, bool reported_by_policy) {
  Diagnosis diagnosis{options};
  encore::WallTime at{};
  const auto add = [&](int call, std::optional<encore::EventKind> kind, int ordinal) {
    const auto fails = ordinal < 3 && kind != encore::EventKind::attempt_started;
    const auto over = kind == encore::EventKind::call_finished;
    diagnosis.add(
        encore::EventRecord{.kind = kind,
                            .wall = at += 1us,
                            .call_id = "call-" + std::to_string(call),
                            .call_name = "lookup",
                            .ordinal = ordinal,
                            .max_attempts = 3,
                            .error_type = fails ? "Slow" : "",
                            .will_retry = fails && reported_by_policy,
                            .reason = over ? encore::StopReason::succeeded : encore::StopReason::none,
                            .mode = over ? encore::TerminalMode::result : encore::TerminalMode::none});
  };
  for (int ordinal = 1; ordinal <= 3; ++ordinal)
    for (int call = 0; call < calls; ++call) {
      if (!reported_by_policy) {
        add(call, std::nullopt, ordinal);
        continue;
      }
      add(call, encore::EventKind::attempt_started, ordinal);
      add(call, ordinal < 3 ? encore::EventKind::attempt_failed : encore::EventKind::attempt_succeeded,
          ordinal);
      if (ordinal == 3) add(call, encore::EventKind::call_finished, ordinal);
    }
  diagnosis.finish();
  return diagnosis;
}

TEST_CASE("diagnosis: many calls open at once, of which few are kept, yield no false finding (fault 57)",
          "[diagnosis]") {
  const auto diagnosis = of_calls_at_once(12'000, {.max_calls = 1'000}, true);
  CHECK(kinds_of(diagnosis) == Kinds{"recovered"});
  CHECK(only(diagnosis, FindingKind::recovered).calls == 12'000);
  REQUIRE(diagnosis.tools().size() == 1);
  const auto totals = diagnosis.tools().front();
  CHECK(totals.calls == 12'000);
  CHECK(totals.attempts == 36'000);
  CHECK(totals.recovered == 12'000);
  CHECK(totals.unfinished == 0);
  CHECK(diagnosis.evicted_open_count() == 12'000);
}

TEST_CASE(
    "diagnosis: of many calls that only other logs show, the evicted ones are not reported as failed (fault "
    "57)",
    "[diagnosis]") {
  const auto diagnosis = of_calls_at_once(3'000, {.max_calls = 1'000}, false);
  for (const auto& finding : diagnosis.findings()) CHECK(finding.calls == 0);

  Diagnosis one_after_another{{.max_calls = 10}};
  for (int call = 0; call < 100; ++call)
    one_after_another.add(encore::EventRecord{.call_id = "call-" + std::to_string(call),
                                              .call_name = "lookup",
                                              .ordinal = 1,
                                              .error_type = "Slow"});
  one_after_another.finish();  // none of which came again: what was found of them stands
  CHECK(only(one_after_another, FindingKind::not_retried).calls == 100);
}

TEST_CASE(
    "diagnosis: evictions remove findings and never add one, however a log's calls interleave (fault 57)",
    "[diagnosis]") {
  using encore::EventKind, encore::StopReason, encore::EventRecord;
  std::mt19937 random{20'240'507};
  const auto below = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  for (int log = 0; log < 400; ++log) {
    std::vector<std::vector<EventRecord>> calls;
    for (int call = 0; call < 40; ++call) {
      const auto id = "call-" + std::to_string(call);
      const auto tool = "tool-" + std::to_string(below(3));
      const auto seen_by_policy = below(3) > 0;
      const auto attempts = 1 + below(3);
      const auto good = below(2) == 0;
      auto& records = calls.emplace_back();
      const auto add = [&](std::optional<EventKind> kind, int ordinal, bool failed) -> EventRecord& {
        records.push_back({.kind = kind,
                           .call_id = id,
                           .call_name = tool,
                           .ordinal = ordinal,
                           .max_attempts = 3,
                           .error_type = failed ? "Slow" : ""});
        return records.back();
      };
      for (int ordinal = 1; ordinal <= attempts; ++ordinal) {
        const auto failed = ordinal < attempts || !good;
        if (seen_by_policy) {
          add(EventKind::attempt_started, ordinal, false);
          add(failed ? EventKind::attempt_failed : EventKind::attempt_succeeded, ordinal, failed).will_retry =
              ordinal < attempts;
        }
        if (!seen_by_policy || below(4) == 0) add(std::nullopt, ordinal, failed);
      }
      if (!seen_by_policy) continue;
      auto& end = add(EventKind::call_finished, attempts, !good);
      end.reason = good            ? StopReason::succeeded
                   : attempts == 3 ? StopReason::retries_exhausted
                                   : StopReason::not_retryable;
      if (below(5) == 0) end.outer_id = "call-" + std::to_string(below(40)), end.outer_ordinal = 1;
      if (below(8) == 0) records.pop_back();
    }
    std::vector<EventRecord> in_order;
    std::vector<std::size_t> next(calls.size());
    const auto at_once = 1 + below(20);
    for (std::size_t first = 0; first < calls.size();) {
      const auto span = std::min<std::size_t>(static_cast<std::size_t>(at_once), calls.size() - first);
      const auto one = first + static_cast<std::size_t>(below(static_cast<int>(span)));
      if (next[one] < calls[one].size()) in_order.push_back(calls[one][next[one]++]);
      while (first < calls.size() && next[first] == calls[first].size()) ++first;
    }
    const auto counted = [&](int max_calls) {
      Diagnosis diagnosis{{.max_calls = max_calls}};
      for (const auto& record : in_order) diagnosis.add(record);
      diagnosis.finish();
      std::map<std::string, std::uint64_t> counts;
      for (const auto& finding : diagnosis.findings())
        if (finding.kind != FindingKind::mostly_waiting)
          counts[std::string{to_string(finding.kind)} + ' ' + finding.tool + ' ' + finding.detail] +=
              finding.calls;
      return counts;
    };
    const auto all = counted(1'000);
    const auto few = counted(1 + below(6));
    for (const auto& [what, calls_of_it] : few) {
      CAPTURE(log, what);
      CHECK(calls_of_it <= (all.contains(what) ? all.at(what) : 0));
    }
  }
}

TEST_CASE(
    "diagnosis: a client's log that is read first does not make calls look as if they bypassed the policy "
    "(fault 57)",
    "[diagnosis]") {
  Diagnosis diagnosis{{.max_calls = 10}};
  for (int call = 0; call < 100; ++call)
    diagnosis.add(
        encore::EventRecord{.call_id = "call-" + std::to_string(call), .call_name = "lookup", .ordinal = 1});
  for (int call = 0; call < 100; ++call)
    for (const auto kind : {encore::EventKind::attempt_started, encore::EventKind::attempt_succeeded,
                            encore::EventKind::call_finished})
      diagnosis.add(encore::EventRecord{.kind = kind,
                                        .call_id = "call-" + std::to_string(call),
                                        .call_name = "lookup",
                                        .ordinal = 1,
                                        .reason = encore::StopReason::succeeded});
  diagnosis.finish();
  CHECK(kinds_of(diagnosis) == Kinds{});
}

TEST_CASE(
    "diagnosis: a row of repeated requests has no other call of its tool between, whichever log shows that "
    "call and whenever it is evicted",
    "[diagnosis]") {
  const auto failed = [](std::string id) {
    return encore::TracedCall{.id = std::move(id),
                              .tool = "search",
                              .reported_by_policy = true,
                              .attempt_count = 1,
                              .finished = true,
                              .reason = encore::StopReason::retries_exhausted,
                              .error_type = "E"};
  };
  auto first = failed("a"), second = failed("b");
  first.first_record = 1, first.last_record = 3;
  second.first_record = 7, second.last_record = 9;
  for (const auto between : {std::uint64_t{3}, std::uint64_t{5}}) {
    second.previous_record = between;
    Diagnosis diagnosis;
    diagnosis.add(first);
    diagnosis.add(second);
    diagnosis.finish();
    const auto kinds = kinds_of(diagnosis);
    CHECK((std::find(kinds.begin(), kinds.end(), "repeated_without_retries") != kinds.end()) ==
          (between == 3));
  }
}

TEST_CASE("diagnosis: calls of tools that are counted together are not a row: they may be of different tools",
          "[diagnosis]") {
  Diagnosis diagnosis{{.max_tools = 1}};
  for (const auto* const tool : {"first", "search", "fetch", "open"})
    diagnosis.add(encore::EventRecord{.call_id = tool, .call_name = tool, .ordinal = 1, .error_type = "E"});
  diagnosis.finish();
  CHECK(kinds_of(diagnosis) == Kinds{"not_retried", "not_retried"});
}

TEST_CASE(
    "diagnosis: calls that only other logs show, or whose id was reused, are not counted as evicted too "
    "early",
    "[diagnosis]") {
  Diagnosis seen{{.max_calls = 1}};
  for (const auto* const id : {"a", "b"}) seen.add(encore::EventRecord{.call_id = id, .status = 200});
  CHECK(seen.evicted_count() == 0);
  Diagnosis reused;
  for (const auto kind : {encore::EventKind::call_finished, encore::EventKind::attempt_started,
                          encore::EventKind::call_finished, encore::EventKind::attempt_started})
    reused.add(encore::EventRecord{.kind = kind, .call_id = "a", .ordinal = 1});
  CHECK(reused.evicted_count() == 0);
}

}  // namespace
