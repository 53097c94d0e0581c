#include "../invalid_setting.hpp"
#include <encore/durable/saved_call.hpp>
#include <encore/duration.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace std::chrono_literals;
using namespace encore;
using encore_tests::refusal_of;

namespace {

// 2026-01-01T00:00:00Z is 1'767'225'600 s after 1970-01-01.
constexpr WallTime new_year{1'767'225'600s};

const std::string line{
    R"({"state":"call","policy":"00000000000000ff","id":"job-7","name":"mail","resolved_name":"","operation_key":"k",)"
    R"("scope":"0123456789abcdef00000000000000aa","replay":"repeatable_with_key","under_way":0,"attempts":3,)"
    R"("key_used":1,"outcome_unknown":0,"wait_ns":"10000000000","previous_ns":"9000000001","slept_ns":"5",)"
    R"("elapsed_ns":"6","saved_at_ns":"1767225600000000000","due_ns":"1767225610000000001",)"
    R"("deadline_ns":"-1","stream":"fedcba9876543210"})"};

/// What is said of the line in which one thing is replaced by another.
std::string refusal_with(std::string_view what, std::string_view by) {
  auto changed = line;
  changed.replace(changed.find(what), what.size(), by);
  REQUIRE(changed != line);
  return refusal_of([&] { return SavedCall::read(changed); });
}

TEST_CASE("a saved call is one line with everything about it", "[saved_call]") {
  const auto call = SavedCall::read(line);
  CHECK(call.policy == Fingerprint{255});
  CHECK(call.id == "job-7");
  CHECK(call.name == "mail");
  CHECK(call.resolved_name.empty());
  CHECK(call.operation_key == "k");
  CHECK(call.scope == Scope{0x0123456789abcdefU, 0xaaU});
  CHECK(call.replay == ReplaySafety::repeatable_with_key);
  CHECK_FALSE(call.under_way);
  CHECK(call.attempts == 3);
  CHECK(call.key_used);
  CHECK_FALSE(call.outcome_unknown);
  CHECK(call.wait == 10s);
  CHECK(call.previous == 9s + 1ns);
  CHECK(call.slept == 5ns);
  CHECK(call.elapsed == 6ns);
  CHECK(call.saved_at == new_year);
  CHECK(call.due == new_year + 10s + 1ns);
  CHECK(call.deadline == WallTime{-1ns});
  CHECK(call.stream == 0xfedcba9876543210U);
  CHECK(call.text() == line);
}

TEST_CASE("a saved call omits what the call does not have", "[saved_call]") {
  const SavedCall call{.id = "a"};
  CHECK(call.text().find("deadline") == std::string::npos);
  CHECK(call.text().find("stream") == std::string::npos);
  const auto read = SavedCall::read(call.text());
  CHECK_FALSE(read.deadline);
  CHECK_FALSE(read.stream);
}

TEST_CASE("a saved call's values at the ends of the range are read back exactly", "[saved_call]") {
  const SavedCall call{.id = "\"\n\xE2\x82\xAC",
                       .attempts = 2'147'483'646,
                       .slept = Duration::max(),
                       .saved_at = WallTime::min(),
                       .due = WallTime::max(),
                       .stream = 0};
  const auto read = SavedCall::read(call.text());
  CHECK(read.id == call.id);
  CHECK(read.attempts == call.attempts);
  CHECK(read.slept == Duration::max());
  CHECK(read.saved_at == WallTime::min());
  CHECK(read.due == WallTime::max());
  CHECK(read.stream == 0);
}

TEST_CASE(
    "a saved call's texts that are not UTF-8 are read back byte for byte: another key would find nothing "
    "[I2]",
    "[saved_call]") {
  const SavedCall call{.id = "a\xFF", .name = "\xC0\xAF", .operation_key = "order-\x80"};
  const auto read = SavedCall::read(call.text());
  CHECK(read.id == call.id);
  CHECK(read.name == call.name);
  CHECK(read.operation_key == call.operation_key);
  CHECK(refusal_with(R"("id":"job-7")", R"("id_hex":"6")") ==
        R"(encore: id_hex = "6" is invalid: it must be hexadecimal digits, two for each byte)");
}

TEST_CASE("a call that was saved without its key continues with the one that it had then [I2]",
          "[saved_call]") {
  auto old = line;
  old.replace(old.find(R"("operation_key":"k")"), 19, R"("operation_key":"")");
  CHECK(SavedCall::read(old).operation_key == "0123456789abcdef00000000000000aa/job-7");
}

TEST_CASE("an invalid value of a saved call is rejected by its field's name", "[saved_call]") {
  CHECK(refusal_with(R"("id":"job-7")", R"("id":"")") ==
        "encore: id = \"\" is invalid: it must not be empty");
  CHECK(refusal_with(R"("attempts":3)", R"("attempts":0)") ==
        "encore: attempts = 0 is invalid: it must be from 1 to 2147483646");
  CHECK(refusal_with(R"("attempts":3)", R"("attempts":2147483647)") ==
        "encore: attempts = 2147483647 is invalid: it must be from 1 to 2147483646");
  CHECK(refusal_with(R"("under_way":0)", R"("under_way":2)") ==
        "encore: under_way = 2 is invalid: it must be from 0 to 1");
  CHECK(refusal_with("repeatable_with_key", "always") ==
        "encore: replay = \"always\" is invalid: it must be repeatable, repeatable_with_key, never or "
        "excluded");
  CHECK(refusal_with(R"("10000000000")", R"("-1")") ==
        "encore: wait_ns = \"-1\" is invalid: it must be from 0 to 31536000000000000 nanoseconds");
  // max_wait is 8,760 h = 31,536,000 s.
  CHECK(refusal_with(R"("10000000000")", R"("31536000000000001")") ==
        "encore: wait_ns = \"31536000000000001\" is invalid: it must be from 0 to 31536000000000000 "
        "nanoseconds");
  CHECK(refusal_with(R"("10000000000")", R"("31536000000000000")") == "not refused");
  CHECK(refusal_with("9000000001", "31536000000000000") == "not refused");
  CHECK(refusal_with("9000000001", "31536000000000001") ==
        "encore: previous_ns = \"31536000000000001\" is invalid: it must be from 0 to 31536000000000000 "
        "nanoseconds");
  CHECK(refusal_with(R"("5")", R"("5s")") == "encore: slept_ns = \"5s\" is invalid: it must be nanoseconds");
  CHECK(refusal_with(R"("5")", R"("9223372036854775808")") ==
        "encore: slept_ns = \"9223372036854775808\" is invalid: it must be nanoseconds");
  CHECK(refusal_with(R"("1767225600000000000")", R"("")") ==
        "encore: saved_at_ns = \"\" is invalid: it must be nanoseconds since 1970");
  CHECK(refusal_with("0123456789abcdef00", "0123456789abcdeg00") ==
        "encore: scope = \"0123456789abcdeg\" is invalid: it must be 16 hexadecimal digits");
  CHECK(refusal_with("0123456789abcdef00", "0123456789abcdef0") ==
        "encore: scope = \"0123456789abcdef0000000000000aa\" is invalid: it must be 32 hexadecimal digits");
  CHECK(refusal_with("fedcba9876543210", "fedcba987654321") ==
        "encore: stream = \"fedcba987654321\" is invalid: it must be 16 hexadecimal digits");
  CHECK(refusal_with("00000000000000ff", "-0000000000000ff") ==
        "encore: policy = \"-0000000000000ff\" is invalid: it must be 16 hexadecimal digits");
  CHECK(refusal_with(R"("wait_ns")", R"("weight_ns")") ==
        "encore: wait_ns = nothing is invalid: the saved line has no such field");
  CHECK(refusal_with(R"("state":"call")", R"("state":"spend_limit")") ==
        "encore: number of call lines = 0 is invalid: it must be 1");
}

TEST_CASE(
    "a saved unknown outcome's request and signature are read back byte for byte, and are optional [I3]",
    "[saved_call]") {
  auto call = SavedCall::read(line);
  CHECK(call.request_id.empty());
  CHECK(call.signature.empty());
  CHECK(call.text() == line);
  call.outcome_unknown = true;
  call.request_id = "req-\xff";
  call.signature = "mail to A";
  const auto back = SavedCall::read(call.text());
  CHECK(back.outcome_unknown);
  CHECK(back.request_id == "req-\xff");
  CHECK(back.signature == "mail to A");
}

TEST_CASE("a saved call that was cut off anywhere is rejected", "[saved_call]") {
  for (std::size_t size = 0; size < line.size(); ++size) {
    INFO(size);
    CHECK(refusal_of([&] { return SavedCall::read(std::string_view{line}.substr(0, size)); }) !=
          "not refused");
  }
}

}  // namespace
