#include <encore/analysis/finding.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::chrono_literals;
using encore::Duration;
using encore::Finding;
using encore::FindingKind;
using encore::TracedCall;
using encore::Weight;

static_assert(weight(FindingKind::over_ceiling) == Weight::broken);
static_assert(weight(FindingKind::no_end) == Weight::broken);
static_assert(weight(FindingKind::outcome_unknown) == Weight::look);
static_assert(weight(FindingKind::unfinished) == Weight::look);
static_assert(weight(FindingKind::recovered) == Weight::expected);

TEST_CASE("each kind of finding has a name of its own, in the order of the kinds", "[finding]") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < encore::finding_kind_count; ++i)
    names.insert(to_string(static_cast<FindingKind>(i)));
  CHECK(names.size() == encore::finding_kind_count);
  CHECK(to_string(FindingKind::over_ceiling) == "over_ceiling");
  CHECK(to_string(FindingKind::no_end) == "no_end");
  CHECK(to_string(FindingKind::repeated_without_retries) == "repeated_without_retries");
  CHECK(to_string(FindingKind::exhausted) == "exhausted");
  CHECK(to_string(FindingKind::unfinished) == "unfinished");
  CHECK(to_string(Weight::broken) == "broken");
}

TEST_CASE("a finding counts a call with its attempts, its ceiling and its id", "[finding]") {
  Finding finding;
  encore::detail::count_in(finding, TracedCall{.scope = "s",
                                               .id = "a",
                                               .tool = "ship",
                                               .resolved_name = "ship",
                                               .told_by_policy = true,
                                               .attempt_count = 2});
  encore::detail::count_in(finding, TracedCall{.scope = "t",
                                               .id = "b",
                                               .tool = "ship",
                                               .resolved_name = "ship_v2",
                                               .max_attempts = 4,
                                               .told_by_policy = true,
                                               .attempt_count = 3});
  CHECK(finding == Finding{.resolved_name = "ship_v2",
                           .calls = 2,
                           .attempts = 5,
                           .fewest_attempts = 2,
                           .most_attempts = 3,
                           .ceiling = 4,
                           .ids = {"a", "b"},
                           .scope = "s"});
}

TEST_CASE("a finding keeps the first ids of many calls, and counts them all", "[finding]") {
  Finding finding;
  for (int i = 0; i < 1'000; ++i) encore::detail::count_in(finding, TracedCall{.id = std::to_string(i)});
  CHECK(finding.calls == 1'000);
  CHECK(finding.ids == std::vector<std::string>{"0", "1", "2", "3", "4"});
}

}  // namespace
