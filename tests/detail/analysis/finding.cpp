#include <encore/analysis/finding.hpp>

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

using encore::Finding, encore::TracedCall, encore::detail::count_in;

TEST_CASE("a finding counts a call with its attempts, its ceiling and its id", "[finding]") {
  Finding finding;
  count_in(finding, TracedCall{.scope = "s",
                               .id = "a",
                               .tool = "ship",
                               .resolved_name = "ship",
                               .reported_by_policy = true,
                               .attempt_count = 2});
  count_in(finding, TracedCall{.scope = "t",
                               .id = "b",
                               .tool = "ship",
                               .resolved_name = "ship_v2",
                               .max_attempts = 4,
                               .reported_by_policy = true,
                               .attempt_count = 3});
  CHECK(finding == Finding{.resolved_name = "ship_v2",
                           .calls = 2,
                           .attempts = 5,
                           .min_attempts_per_call = 2,
                           .max_attempts_per_call = 3,
                           .ceiling = 4,
                           .ids = {"a", "b"},
                           .scope = "s"});
}

TEST_CASE("a finding keeps the first ids of many calls, and counts them all", "[finding]") {
  Finding finding;
  for (int i = 0; i < 1'000; ++i) count_in(finding, TracedCall{.id = std::to_string(i)});
  CHECK(finding.calls == 1'000);
  CHECK(finding.ids == std::vector<std::string>{"0", "1", "2", "3", "4"});
}
