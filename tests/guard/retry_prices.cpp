#include <encore/guard/retry_prices.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <limits>
#include <stdexcept>

using encore::AwsRetryQuota, encore::GrpcRetryThrottling, encore::RetryPrices, encore::Tokens;

namespace {

// gRPC proposal A6: from full, -1 for a failure, +tokenRatio for a success, no retry at maxTokens / 2 or less.
constexpr RetryPrices grpc = GrpcRetryThrottling{.max_tokens = 10, .token_ratio = 0.1};
static_assert(grpc.capacity == Tokens{10} && grpc.at_first == Tokens{10});
static_assert(grpc.failure == Tokens{1});
static_assert(grpc.first_success == Tokens{0.1} && grpc.retry_success == Tokens{0.1});
static_assert(grpc.least > Tokens{5} && grpc.least == Tokens{5} + Tokens::smallest());
static_assert(grpc.retry == Tokens{} && grpc.first_attempt == Tokens{} && !grpc.refunds);
static_assert(RetryPrices(GrpcRetryThrottling{.max_tokens = 5}).least == Tokens{2.5} + Tokens::smallest());

// AWS's standard mode: 500 tokens; a retry takes 5, after a timeout 10, and gets them back by success; 1 for success at once.
constexpr RetryPrices aws = AwsRetryQuota{};
static_assert(aws.capacity == Tokens{500} && aws.at_first == Tokens{500});
static_assert(aws.retry == Tokens{5} && aws.retry_after_timeout == Tokens{10} && aws.refunds);
static_assert(aws.first_success == Tokens{1} && aws.retry_success == Tokens{});
static_assert(aws.failure == Tokens{} && aws.first_attempt == Tokens{} && aws.least == Tokens{});

TEST_CASE("settings that cannot work are refused by name [C3]", "[retry_prices]") {
  using Catch::Matchers::ContainsSubstring;
  using Catch::Matchers::MessageMatches;
  CHECK_THROWS_MATCHES((GrpcRetryThrottling{.max_tokens = 0}), std::invalid_argument,
                       MessageMatches(ContainsSubstring("max_tokens")));
  CHECK_THROWS_MATCHES((GrpcRetryThrottling{.token_ratio = -0.1}), std::invalid_argument,
                       MessageMatches(ContainsSubstring("token_ratio")));
  CHECK_THROWS_MATCHES((GrpcRetryThrottling{.token_ratio = std::numeric_limits<double>::quiet_NaN()}),
                       std::invalid_argument, MessageMatches(ContainsSubstring("token_ratio")));
  CHECK_THROWS_MATCHES(RetryPrices(GrpcRetryThrottling{.token_ratio = 1e-9}), std::invalid_argument,
                       MessageMatches(ContainsSubstring("token_ratio")));
  CHECK_THROWS_MATCHES((AwsRetryQuota{.retry_cost = -5}), std::invalid_argument,
                       MessageMatches(ContainsSubstring("retry_cost")));
}

TEST_CASE("a ratio larger than the bucket fills it, and overflows nothing", "[retry_prices]") {
  const RetryPrices prices = GrpcRetryThrottling{.max_tokens = 10, .token_ratio = 1e300};
  CHECK(prices.first_success == Tokens{10});
}

}  // namespace
