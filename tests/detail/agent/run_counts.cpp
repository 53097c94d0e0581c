#include <encore/agent/run_counts.hpp>
#include <encore/never_retry.hpp>

#include <catch2/catch_test_macros.hpp>

#include <stdexcept>
#include <string>

namespace {

using encore::CallLimitExceeded;
using encore::RunCounts;
using encore::RunLimit;
using encore::ThreadLimit;
using encore::detail::is_over;
using encore::detail::limits_exceeded;
using encore::detail::LimitsAgree;

constexpr ThreadLimit no_thread_limit{};
constexpr RunLimit no_run_limit{};

static_assert(RunCounts{} == RunCounts{.thread = 0, .run = 0});
static_assert(!is_over({5, 5}, no_thread_limit, no_run_limit));
static_assert(!is_over({3, 2}, 3, 2));
static_assert(is_over({4, 2}, 3, 2) && is_over({3, 3}, 3, 2));
static_assert(is_over({1, 0}, 0, no_run_limit) && is_over({0, 1}, no_thread_limit, 0));
static_assert(is_over({std::int64_t{1} << 40, 0}, 2'147'483'647, no_run_limit));

TEST_CASE("call limits are valid if there is at least one, and the run's is not over the thread's [H5]",
          "[run_counts]") {
  CHECK_NOTHROW(LimitsAgree{3, 3});
  CHECK_NOTHROW(LimitsAgree{5, 3});
  CHECK_NOTHROW(LimitsAgree{0, no_run_limit});
  CHECK_NOTHROW(LimitsAgree{no_thread_limit, 7});
  CHECK_THROWS_AS((LimitsAgree{3, 4}), std::invalid_argument);
  CHECK_THROWS_AS((LimitsAgree{no_thread_limit, no_run_limit}), std::invalid_argument);
}

TEST_CASE("only the call limits that are exceeded are named, as count/limit", "[run_counts]") {
  CHECK(limits_exceeded({4, 3}, 3, 2) == "thread 4/3, run 3/2");
  CHECK(limits_exceeded({3, 3}, 3, 2) == "run 3/2");
  CHECK(limits_exceeded({4, 3}, 3, no_run_limit) == "thread 4/3");
  CHECK(limits_exceeded({3, 2}, 3, 2).empty());
}

TEST_CASE("CallLimitExceeded carries counts and limits, and no policy retries it [B4, H5]", "[run_counts]") {
  try {
    encore::detail::throw_call_limit_exceeded("step limit reached: run 3/2", {7, 3}, no_thread_limit, 2);
  } catch (const std::runtime_error& error) {
    CHECK(std::string{error.what()} == "encore: step limit reached: run 3/2");
    const auto& exceeded = dynamic_cast<const CallLimitExceeded&>(error);
    CHECK(exceeded.thread_count() == 7);
    CHECK(exceeded.run_count() == 3);
    CHECK_FALSE(exceeded.thread_limit());
    CHECK(exceeded.run_limit() == 2);
    CHECK(dynamic_cast<const encore::Unretryable*>(&error) != nullptr);
  }
}

}  // namespace
