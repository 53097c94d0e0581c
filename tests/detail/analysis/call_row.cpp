#include <encore/detail/analysis/call_row.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace {

using namespace std::chrono_literals;
using encore::AttemptEnd;
using encore::Finding;
using encore::FindingKind;
using encore::StopReason;
using encore::TracedCall;
using encore::detail::CallRow;

/// A call of so many attempts that failed, in records 10 n + 1 to 10 n + 9 and seconds n to n + 0.5.
TracedCall failing(std::uint64_t n, int attempts = 1) {
  const auto began = encore::WallTime{} + std::chrono::seconds{n};
  return {.id = "call-" + std::to_string(n),
          .tool = "search",
          .reported_by_policy = true,
          .attempt_count = attempts,
          .finished = true,
          .reason = StopReason::retries_exhausted,
          .error_type = "E",
          .began_at = began,
          .ended_at = began + 500ms,
          .first_record = n * 10 + 1,
          .last_record = n * 10 + 9};
}

TEST_CASE("a single call is not a row of repeated requests", "[call_row]") {
  CallRow row{"search"};
  CHECK(row.add(failing(1), 1min));
  CHECK(!row.finding());
}

TEST_CASE("calls that follow one another are a row of repeated requests, by the attempts of each",
          "[call_row]") {
  CallRow single{"search"};
  CHECK(single.add(failing(1), 1min));
  CHECK(single.add(failing(2), 1min));
  CHECK(single.finding() == Finding{.kind = FindingKind::repeated_without_retries,
                                    .tool = "search",
                                    .calls = 2,
                                    .attempts = 2,
                                    .min_attempts_per_call = 1,
                                    .max_attempts_per_call = 1,
                                    .rows = 1,
                                    .ids = {"call-1", "call-2"}});
  CallRow retried{"search"};
  CHECK(retried.add(failing(1, 3), 1min));
  CHECK(retried.add(failing(2, 1), 1min));
  REQUIRE(retried.finding());
  CHECK(retried.finding()->kind == FindingKind::repeated_after_exhaustion);
  CHECK(retried.finding()->attempts == 4);
}

TEST_CASE("a success belongs to the row of repeated requests that it ends", "[call_row]") {
  CallRow row{"search"};
  row.add(failing(1), 1min);
  auto good = failing(2);
  good.reason = StopReason::succeeded;
  good.error_type.clear();
  CHECK(row.add(good, 1min));
  CHECK(!row.add(failing(3), 1min));
  CHECK(row.finding()->calls == 2);
}

TEST_CASE("a call that overlaps, is not alone or comes late does not continue a row of repeated requests",
          "[call_row]") {
  const auto continues = [](const TracedCall& call) {
    CallRow row{"search"};
    row.add(failing(1), 1min);
    return row.add(call, 1min);
  };
  CHECK(continues(failing(2)));
  auto overlapping = failing(2);
  overlapping.first_record = 15;
  CHECK(!continues(overlapping));
  auto beside_others = failing(2);
  beside_others.alone = false;
  CHECK(!continues(beside_others));
  CHECK(continues(failing(61)));   // 59.5 s after the first had ended
  CHECK(!continues(failing(62)));  // 60.5 s
  auto undated = failing(99);
  undated.began_at.reset();
  CHECK(continues(undated));
}

}  // namespace
