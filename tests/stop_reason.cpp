#include <encore/stop_reason.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>

namespace {

using encore::consults_strategy;
using encore::stop_reason_count;
using encore::StopReason;
using encore::to_string;

static_assert(stop_reason_count == 26);
static_assert(sizeof(StopReason) == 1);
static_assert(to_string(StopReason::cancelled_on_entry) == "cancelled_on_entry");
static_assert(to_string(StopReason::refused_by_guard) == "refused_by_guard");

/// The table of rule G7, with the name that logs and counters know.
struct Named {
  StopReason reason;
  std::string_view name;
  bool consulted;
};
constexpr Named table[]{
    {StopReason::none, "none", false},
    {StopReason::succeeded, "succeeded", false},
    {StopReason::excluded_tool, "excluded_tool", false},
    {StopReason::not_retryable, "not_retryable", false},
    {StopReason::never_retry_type, "never_retry_type", false},
    {StopReason::predicate_threw, "predicate_threw", false},
    {StopReason::retries_exhausted, "retries_exhausted", true},
    {StopReason::deadline, "deadline", true},
    {StopReason::too_little_time_left, "too_little_time_left", true},
    {StopReason::hint_over_cap, "hint_over_cap", true},
    {StopReason::hint_past_deadline, "hint_past_deadline", true},
    {StopReason::cancelled, "cancelled", true},
    {StopReason::circuit_open, "circuit_open", true},
    {StopReason::retry_budget_spent, "retry_budget_spent", true},
    {StopReason::call_limit_reached, "call_limit_reached", true},
    {StopReason::step_limit_reached, "step_limit_reached", true},
    {StopReason::loop_detected, "loop_detected", true},
    {StopReason::spend_limit_reached, "spend_limit_reached", true},
    {StopReason::refused_by_guard, "refused_by_guard", true},
    {StopReason::not_repeatable, "not_repeatable", true},
    {StopReason::unknown_outcome, "unknown_outcome", true},
    {StopReason::nested_made_single, "nested_made_single", false},
    {StopReason::expired_on_entry, "expired_on_entry", true},
    {StopReason::cancelled_on_entry, "cancelled_on_entry", true},
    {StopReason::unknown_tool, "unknown_tool", true},
    {StopReason::run_over, "run_over", true},
};
static_assert(std::size(table) == stop_reason_count);

}  // namespace

TEST_CASE("every stop reason has its own name, and knows whether the failure strategy handles it [G7]",
          "[stop_reason]") {
  std::set<std::string_view> names;
  for (const auto& [reason, name, consulted] : table) {
    CAPTURE(name);
    CHECK(to_string(reason) == name);
    CHECK(consults_strategy(reason) == consulted);
    names.insert(to_string(reason));
  }
  CHECK(names.size() == stop_reason_count);
}

TEST_CASE("a stop reason has one category, and refusals are distinguished from failures [G4, H2]",
          "[stop_reason]") {
  using encore::StopCategory;
  CHECK(category(StopReason::none) == StopCategory::unfinished);
  CHECK(category(StopReason::excluded_tool) == StopCategory::ran_once);
  CHECK(category(StopReason::predicate_threw) == StopCategory::not_matched);
  CHECK(category(StopReason::unknown_outcome) == StopCategory::single);
  CHECK(category(StopReason::hint_over_cap) == StopCategory::out_of_time);
  CHECK(category(StopReason::expired_on_entry) == StopCategory::out_of_time);
  CHECK(category(StopReason::cancelled_on_entry) == StopCategory::cancelled);
  int refusals = 0;
  for (std::size_t i = 0; i < stop_reason_count; ++i)
    refusals += is_refusal(static_cast<StopReason>(i)) ? 1 : 0;
  CHECK(refusals == 11);
  CHECK(is_refusal(StopReason::expired_on_entry));
  CHECK(is_refusal(StopReason::cancelled_on_entry));
  CHECK(is_refusal(StopReason::run_over));
  CHECK(!is_refusal(StopReason::deadline));
}

TEST_CASE("stop reason names fit into metrics and logs as they are: lower case and underscores [G7]",
          "[stop_reason]") {
  for (std::size_t i = 0; i < stop_reason_count; ++i) {
    const auto name = to_string(static_cast<StopReason>(i));
    CHECK(!name.empty());
    CHECK(std::all_of(name.begin(), name.end(), [](char c) { return c == '_' || (c >= 'a' && c <= 'z'); }));
  }
}

TEST_CASE("a failing test shows a stop reason by its name", "[stop_reason]") {
  std::ostringstream out;
  out << encore::StopReason::hint_past_deadline;
  CHECK(out.str() == "hint_past_deadline");
}
