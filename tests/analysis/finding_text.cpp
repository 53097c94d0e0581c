#include "../telemetry/flat_json.hpp"
#include <encore/analysis/finding_text.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

namespace {

using namespace std::chrono_literals;
using encore::Finding;
using encore::FindingKind;
using encore::what_happened;
using encore::what_next;

Finding of(FindingKind kind) {
  return {.kind = kind,
          .tool = "search",
          .detail = "TimeoutError",
          .calls = 7,
          .attempts = 15,
          .min_attempts_per_call = 1,
          .max_attempts_per_call = 3,
          .requests = 45,
          .ceiling = 2,
          .rows = 2,
          .slept = 1500ms,
          .worked = 250ms,
          .max_overrun = 1234567890ns,
          .ids = {"a", "b", "c", "d", "e"}};
}

TEST_CASE(
    "the text of every kind of finding says what happened, with its ids and numbers, and what to do next",
    "[finding_text]") {
  for (std::size_t i = 0; i < encore::finding_kind_count; ++i) {
    const auto finding = of(static_cast<FindingKind>(i));
    CAPTURE(to_string(finding.kind));
    const auto said = what_happened(finding);
    const auto names_ids = said.find("a, b, c, d, e and 2 more") != std::string::npos;
    CHECK((names_ids || finding.kind == FindingKind::without_id ||
           finding.kind == FindingKind::mostly_waiting));
    CHECK(said.back() != '.');
    CHECK(said.find("  ") == std::string::npos);
    CHECK(what_next(finding).ends_with('.'));
    CHECK(what_next(finding).find('\n') == std::string::npos);
  }
}

TEST_CASE("finding texts are grammatical for one call and for many", "[finding_text]") {
  CHECK(what_happened(of(FindingKind::exhausted)) ==
        "a, b, c, d, e and 2 more used all their attempts: 1 to 3 attempts each of at most 2, the last "
        "failure TimeoutError");
  CHECK(what_happened(of(FindingKind::repeated_after_exhaustion)) ==
        "7 calls in 2 rows, 1 to 3 attempts each, 15 in all (a, b, c, d, e and 2 more): separate calls with "
        "their own retries, not one call over its limit");
  CHECK(what_happened(of(FindingKind::mostly_waiting)) == "7 calls slept 1.5 s and worked 0.25 s");
  CHECK(
      what_happened(of(FindingKind::wait_past_deadline)) ==
      "a, b, c, d, e and 2 more: a wait ended, or an attempt began, up to 1.234 s after the call's deadline");
  CHECK(what_happened({.kind = FindingKind::refused,
                       .detail = "circuit_open",
                       .calls = 1,
                       .min_attempts_per_call = 0,
                       .max_attempts_per_call = 0,
                       .ids = {"a"}}) == "a was refused by a guard after 0 attempts: circuit_open");
  CHECK(what_happened({.kind = FindingKind::not_retryable,
                       .detail = "E",
                       .calls = 1,
                       .min_attempts_per_call = 2,
                       .max_attempts_per_call = 2,
                       .ids = {"a"}}) == "a stopped after 2 attempts: the filter does not match E");
}

TEST_CASE("a finding's text does not claim an attempt of a call that was refused", "[finding_text]") {
  auto finding = of(FindingKind::repeated_without_retries);
  finding.min_attempts_per_call = 0, finding.max_attempts_per_call = 1, finding.rows = 1;
  CHECK(what_happened(finding).starts_with(
      "7 calls in a row made at most one attempt each (a, b, c, d, e and 2 more): "));
  finding.min_attempts_per_call = 1;
  CHECK(what_happened(finding).starts_with("7 calls in a row made one attempt each ("));
}

TEST_CASE("no text from a log acts on a terminal or breaks the line of a finding", "[finding_text]") {
  auto finding = of(FindingKind::exhausted);
  finding.detail = "E\x1B[2J\nforged";
  finding.ids = {"\x1B[31m", std::string(10'000, 'x'), "a b", "\xFF", "d"};
  for (std::size_t i = 0; i < encore::finding_kind_count; ++i) {
    finding.kind = static_cast<FindingKind>(i);
    const auto said = what_happened(finding);
    CHECK(tests::is_one_clean_line(said));
    CHECK(said.size() < 1'000);
  }
  CHECK(what_happened(finding).starts_with(R"("\u001b[31m", "xxxx)"));
}

}  // namespace
