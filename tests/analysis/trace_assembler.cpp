#include <encore/analysis/trace_assembler.hpp>

#include <catch2/catch_test_macros.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace {

using encore::EventKind;
using encore::EventRecord;
using encore::TraceAssembler;
using encore::TracedCall;

EventRecord event(EventKind kind, std::string_view id, std::string_view tool = "search") {
  return {.kind = kind, .call_id = std::string{id}, .call_name = std::string{tool}, .ordinal = 1};
}
EventRecord began(std::string_view id) { return event(EventKind::attempt_started, id); }
EventRecord ended(std::string_view id) { return event(EventKind::call_finished, id); }
EventRecord seen(std::string_view id) {
  return {.call_id = std::string{id}, .call_name = "search", .status = 200};
}

std::vector<TracedCall> assemble(const std::vector<EventRecord>& records, int max_calls = 100) {
  std::vector<TracedCall> calls;
  const auto keep = [&](const TracedCall& call) { calls.push_back(call); };
  TraceAssembler assembler{{.max_calls = max_calls}};
  for (const auto& record : records) assembler.add(record, keep);
  assembler.finish(keep);
  assembler.finish(keep);  // there is nothing left
  return calls;
}
std::string ids_of(const std::vector<TracedCall>& calls) {
  std::string ids;
  for (const auto& call : calls) ids.append(ids.empty() ? "" : " ").append(call.id);
  return ids;
}

TEST_CASE("assembled calls come in the order of their last records", "[trace_assembler]") {
  const auto calls = assemble({began("a"), began("b"), began("c"), ended("b"), ended("a")});
  CHECK(ids_of(calls) == "c b a");
  CHECK(!calls[0].finished);
  CHECK(calls[1].first_record == 2);
  CHECK(calls[1].last_record == 4);
}

TEST_CASE("the same id in two scopes makes two traced calls [I2]", "[trace_assembler]") {
  auto a = began("call_0");
  auto b = began("call_0");
  a.scope = "aaaa";
  b.scope = "bbbb";
  CHECK(assemble({a, b, a, b}).size() == 2);
  // Neither text runs into the other.
  a.scope = "a", a.call_id = "bc";
  b.scope = "ab", b.call_id = "c";
  CHECK(assemble({a, b}).size() == 2);
}

TEST_CASE("an id that is used again begins a new traced call", "[trace_assembler]") {
  const auto calls = assemble({began("a"), ended("a"), began("a"), ended("a")});
  REQUIRE(calls.size() == 2);
  CHECK(!calls[0].id_reused);
  CHECK(calls[1].id_reused);
}

TEST_CASE("another program's record of a call is added to it after its end too", "[trace_assembler]") {
  const auto calls = assemble({began("a"), ended("a"), seen("a"), seen("b")});
  REQUIRE(ids_of(calls) == "a b");
  CHECK(calls[0].request_count == 1);
  CHECK(calls[0].last_record == 2);  // which is when it ended
  CHECK(!calls[1].reported_by_policy);
}

TEST_CASE("records without an id are calls of their own", "[trace_assembler]") {
  const auto calls = assemble({seen(""), seen("")});
  REQUIRE(calls.size() == 2);
  CHECK(calls[0].request_count == 1);
}

TEST_CASE("ended calls are evicted first, then the open one with the oldest last record",
          "[trace_assembler]") {
  std::vector<TracedCall> calls;
  const auto keep = [&](const TracedCall& call) { calls.push_back(call); };
  TraceAssembler assembler{{.max_calls = 3}};
  for (const auto& record : {began("a"), began("b"), ended("b"), began("c"), began("d")})
    assembler.add(record, keep);
  CHECK(ids_of(calls) == "b");
  CHECK(!calls[0].evicted);
  assembler.add(began("a"), keep);
  assembler.add(began("e"), keep);
  CHECK(ids_of(calls) == "b c");
  CHECK(calls[1].evicted);
  assembler.finish(keep);
  CHECK(ids_of(calls) == "b c d a e");
  CHECK(!calls[3].evicted);
}

TEST_CASE("a later record of an evicted call begins another call, which is marked as continued [F1]",
          "[trace_assembler]") {
  auto again = event(EventKind::attempt_started, "a");
  again.ordinal = 2;
  auto end = ended("a");
  end.ordinal = 2;
  const auto calls =
      assemble({began("a"), began("b"), again, end, began("c"), began("a"), seen("b"), seen("d")}, 1);
  CHECK(ids_of(calls) == "a b a c a b d");
  std::string evicted, continued;
  for (const auto& call : calls) {
    evicted.append(call.evicted ? call.id : "-");
    continued.append(call.continued ? call.id : "-");
  }
  CHECK(evicted == "ab-cab-");    // the second "a" had ended, and "d" was still there at the end
  CHECK(continued == "--a--b-");  // the third "a" begins with its first attempt: an id that is used again
  CHECK(calls[2].reported_attempt_count() == 2);
}

TEST_CASE("a traced call that begins while an evicted one may still run counts as overlapping",
          "[trace_assembler]") {
  const auto calls = assemble({began("a"), began("b"), began("c")}, 1);
  CHECK(calls[0].alone);
  CHECK(!calls[1].alone);
  CHECK(!calls[2].alone);
}

TEST_CASE("a traced call that began while another of its tool ran counts as overlapping",
          "[trace_assembler]") {
  auto other_tool = began("x");
  other_tool.call_name = "fetch";
  auto other_scope = began("y");
  other_scope.scope = "elsewhere";
  const auto calls =
      assemble({began("a"), other_tool, other_scope, began("b"), ended("a"), ended("b"), began("c")});
  std::string alone;
  for (const auto& call : calls)
    if (call.alone) alone += call.id;
  CHECK(alone == "xyac");
}

TEST_CASE("a traced call knows the last record of the previous call of its tool, evicted or not",
          "[trace_assembler]") {
  auto other_tool = began("x");
  other_tool.call_name = "fetch";
  for (const auto max_calls : {1, 100}) {
    const auto calls = assemble(
        {began("a"), seen("b"), ended("a"), other_tool, began("c"), ended("c"), began("d")}, max_calls);
    std::string previous;
    for (const auto* const id : {"a", "b", "c", "d", "x"})
      for (const auto& call : calls)
        if (call.id == id && !call.continued)
          previous.append(id).append(std::to_string(call.previous_record)).append(1, ' ');
    CHECK(previous == "a0 b1 c3 d6 x0 ");
  }
}

TEST_CASE("with more tools and scopes than are remembered, a call follows the latest one that was forgotten",
          "[trace_assembler]") {
  std::vector<EventRecord> records{began("first")};
  for (int tool = 0; tool < 5'000; ++tool) {
    records.push_back(began("call-" + std::to_string(tool)));
    records.back().call_name = "tool-" + std::to_string(tool);
  }
  records.push_back(began("last"));
  const auto calls = assemble(records, 10'000);
  CHECK(calls.back().id == "last");
  CHECK(calls.back().previous_record == 5'001 - 4'096);
}

TEST_CASE("an ended call is not counted as under way, nor subtracted twice when it is evicted",
          "[trace_assembler]") {
  std::vector<TracedCall> calls;
  const auto keep = [&](const TracedCall& call) { calls.push_back(call); };
  TraceAssembler assembler{{.max_calls = 2}};
  // "a" ends and makes room while "b" runs: "c" is not alone.
  for (const auto& record : {began("a"), ended("a"), began("b"), began("c")}) assembler.add(record, keep);
  CHECK(ids_of(calls) == "a");
  assembler.finish(keep);
  std::string alone;
  for (const auto& call : calls)
    if (call.alone) alone += call.id;
  CHECK(alone == "ab");
  CHECK(assembler.evicted_count() == 1);
}

TEST_CASE("attempts of inner calls are added up for the outer call, known or not [J1]", "[trace_assembler]") {
  auto inner = ended("in-1");
  inner.ordinal = 3;
  inner.outer_id = "out";
  inner.outer_ordinal = 1;
  auto again = inner;
  again.call_id = "in-2";
  again.outer_ordinal = 2;
  for (const auto known : {true, false}) {
    const auto calls =
        known ? assemble({began("out"), inner, again, ended("out")}) : assemble({inner, again});
    int outer_calls = 0;
    for (const auto& call : calls) {
      if (call.id != "out") continue;
      ++outer_calls;
      CHECK(call.inner_calls == 2);
      CHECK(call.inner_attempts == 6);
      CHECK(call.reported_by_policy == known);
    }
    CHECK(outer_calls == 1);
  }
}

TEST_CASE("however many calls a log has, a bounded number is kept and each is delivered once",
          "[trace_assembler]") {
  int handed_on = 0;
  const auto count = [&](const TracedCall&) { ++handed_on; };
  TraceAssembler assembler{{.max_calls = 7}};
  for (int i = 0; i < 1'000; ++i) {
    const auto id = std::to_string(i);
    assembler.add(began(id), count);
    if (i % 3 != 0) assembler.add(ended(id), count);
    CHECK(handed_on >= i - 7);
  }
  assembler.finish(count);
  CHECK(handed_on == 1'000);
}

}  // namespace
