#include <encore/telemetry/tool_counts.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

namespace {

using namespace std::chrono_literals;
using encore::CountersSnapshot;
using encore::StopReason;
using encore::ToolCounts;

ToolCounts with_ends(std::string tool, std::initializer_list<std::pair<StopReason, std::uint64_t>> ends) {
  ToolCounts counts{.tool = std::move(tool)};
  for (const auto& [reason, count] : ends) {
    counts.ended[static_cast<std::size_t>(reason)] = count;
    counts.calls += count;
  }
  return counts;
}

TEST_CASE("refusals are calls that guards and entry checks stopped, and nothing else", "[tool_counts]") {
  // As the table of rule G7 and the guards' own rules have them.
  CHECK(with_ends("t", {{StopReason::circuit_open, 1},
                        {StopReason::retry_budget_spent, 10},
                        {StopReason::call_limit_reached, 100},
                        {StopReason::step_limit_reached, 1'000},
                        {StopReason::loop_detected, 10'000},
                        {StopReason::spend_limit_reached, 100'000},
                        {StopReason::refused_by_guard, 1'000'000},
                        {StopReason::expired_on_entry, 10'000'000},
                        {StopReason::cancelled_on_entry, 100'000'000},
                        {StopReason::unknown_tool, 1'000'000'000},
                        {StopReason::run_over, 10'000'000'000}})
            .refused() == 11'111'111'111);
  CHECK(with_ends("t", {{StopReason::succeeded, 1},
                        {StopReason::retries_exhausted, 1},
                        {StopReason::deadline, 1},
                        {StopReason::cancelled, 1},
                        {StopReason::not_repeatable, 1}})
            .refused() == 0);
}

TEST_CASE("counted calls under way are those that have not ended", "[tool_counts]") {
  auto counts = with_ends("t", {{StopReason::succeeded, 3}, {StopReason::retries_exhausted, 2}});
  CHECK(counts.exhausted() == 2);
  CHECK(counts.under_way() == 0);
  counts.calls = 9;
  CHECK(counts.under_way() == 4);
  counts.calls = 1;  // read between a call's end and its begin
  CHECK(counts.under_way() == 0);
}

TEST_CASE("the difference of two tool counts is what was counted since, tool by tool", "[tool_counts]") {
  auto before = with_ends("ship", {{StopReason::succeeded, 3}});
  before.attempts = 4, before.retries = 1, before.slept = 1s, before.recovered = 1;
  auto after = with_ends("ship", {{StopReason::succeeded, 5}, {StopReason::deadline, 1}});
  after.attempts = 9, after.retries = 3, after.slept = 4s, after.recovered = 2, after.failed_at_once = 1,
  after.error_results = 2, after.outcomes_unknown = 1, after.dispatched_again = 4;
  const auto other = with_ends("lookup", {{StopReason::succeeded, 7}});

  auto expected = with_ends("ship", {{StopReason::succeeded, 2}, {StopReason::deadline, 1}});
  expected.attempts = 5, expected.retries = 2, expected.slept = 3s, expected.recovered = 1,
  expected.failed_at_once = 1, expected.error_results = 2, expected.outcomes_unknown = 1,
  expected.dispatched_again = 4;
  CHECK(CountersSnapshot{{other, after}} - CountersSnapshot{{before}} == CountersSnapshot{{expected, other}});
}

TEST_CASE("tool counts that restarted are taken as they are", "[tool_counts]") {
  const auto before = with_ends("ship", {{StopReason::succeeded, 30}});
  const auto after = with_ends("ship", {{StopReason::succeeded, 5}});
  CHECK((after - before) == after);
}

TEST_CASE("tool counts of one name are added up", "[tool_counts]") {
  auto a = with_ends("ship", {{StopReason::succeeded, 3}});
  a.attempts = 4, a.slept = 1s, a.error_results = 1, a.outcomes_unknown = 1;
  auto b = with_ends("ship", {{StopReason::deadline, 2}});
  b.attempts = 6, b.slept = 2s, b.retries = 1, b.recovered = 1, b.failed_at_once = 1, b.outcomes_unknown = 2,
  b.dispatched_again = 3;
  auto both = with_ends("ship", {{StopReason::succeeded, 3}, {StopReason::deadline, 2}});
  both.attempts = 10, both.slept = 3s, both.error_results = 1, both.retries = 1, both.recovered = 1,
  both.failed_at_once = 1, both.outcomes_unknown = 3, both.dispatched_again = 3;
  CHECK(CountersSnapshot{{a, b}} == CountersSnapshot{{both}});
}

TEST_CASE("a counter snapshot is sorted by name, and has zeros for a tool that was not seen",
          "[tool_counts]") {
  const CountersSnapshot snapshot{{with_ends("b", {{StopReason::succeeded, 1}}), with_ends("a", {})}};
  CHECK(snapshot.tools().front().tool == "a");
  CHECK(snapshot.of("b").calls == 1);
  CHECK(snapshot.of("c") == ToolCounts{.tool = "c"});
}

}  // namespace
