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
using encore::Severity;
using encore::TracedCall;

static_assert(severity(FindingKind::over_ceiling) == Severity::error);
static_assert(severity(FindingKind::no_end) == Severity::error);
static_assert(severity(FindingKind::outcome_unknown) == Severity::warning);
static_assert(severity(FindingKind::unfinished) == Severity::warning);
static_assert(severity(FindingKind::recovered) == Severity::info);

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
  CHECK(to_string(Severity::error) == "error");
}

}  // namespace
