#include <encore/agent/policy_text.hpp>
#include <encore/never_retry.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/retry_settings.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <stdexcept>
#include <string>

struct PolicyTextTimeout : std::runtime_error {
  using runtime_error::runtime_error;
};
struct PolicyTextQuota : std::runtime_error {
  using runtime_error::runtime_error;
};
template <>
inline constexpr std::string_view encore::error_name<PolicyTextQuota> = "quota_spent";

namespace mine {
struct OwnPredicate {
  using role = encore::role::Predicate;
  static bool matches(const encore::Thrown&) { return true; }
};
}  // namespace mine

namespace {

using namespace encore;
using namespace std::chrono_literals;

TEST_CASE("a policy's text names what it retries, so that a wider filter has another text", "[policy_text]") {
  CHECK(policy_text(RetryPolicy{RetryOn<PolicyTextTimeout>{}}) == "RetryOn<PolicyTextTimeout>");
  CHECK(policy_text(RetryPolicy{RetryOn<PolicyTextTimeout, std::logic_error>{}}) ==
        "RetryOn<PolicyTextTimeout, std::logic_error>");
  CHECK(policy_text(RetryPolicy{RetryOnEveryException{}}) == "RetryOnEveryException");
  CHECK(policy_text(RetryPolicy{mine::OwnPredicate{}}) == "mine::OwnPredicate");
}

TEST_CASE("a policy's text uses registered type names, and shows only that there is a function",
          "[policy_text]") {
  CHECK(policy_text(RetryPolicy{RetryOn<PolicyTextQuota>{}}) == "RetryOn<quota_spent>");
  CHECK(policy_text(RetryPolicy{RetryIf{[](const PolicyTextTimeout&) { return true; }}}) == "RetryIf");
}

TEST_CASE("a policy's text shows compositions as they were written", "[policy_text]") {
  CHECK(policy_text(RetryPolicy{RetryOn<PolicyTextTimeout>{} || RetryIfNoValue{}}) ==
        "(RetryOn<PolicyTextTimeout> || RetryIfNoValue)");
  CHECK(policy_text(RetryPolicy{!RetryOn<std::logic_error>{} && RetryOn<std::exception>{}}) ==
        "(!RetryOn<std::logic_error> && RetryOn<std::exception>)");
}

TEST_CASE("a policy's text includes never-lists, unmatched failures and time limits", "[policy_text]") {
  CHECK(policy_text(RetryPolicy{RetryOnEveryException{}, NeverRetry<PolicyTextQuota>{}, HandleUnmatched{},
                                TimeBudget{1500ms}, AttemptTimeout{250ms}}) ==
        "RetryOnEveryException, NeverRetry<quota_spent>, HandleUnmatched, within 1.5 s, each attempt at most "
        "0.25 s");
  RetrySettings settings;
  CHECK(policy_text(RetryPolicy{RetryOnEveryException{}, settings}) == "RetryOnEveryException");
  settings.time_budget = 5s;
  CHECK(policy_text(RetryPolicy{RetryOnEveryException{}, settings}) == "RetryOnEveryException, within 5 s");
}

}  // namespace
