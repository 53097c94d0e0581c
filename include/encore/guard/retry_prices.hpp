// What retries cost and what earns them: the rules of the published retry budgets, as one value.
#pragma once
#include <encore/extremes.hpp>
#include <encore/guard/tokens.hpp>
#include <encore/setting.hpp>

namespace encore {

/// When a token bucket for retries is filled and drained. Any published kind is a row of these.
struct RetryPrices {
  Tokens capacity{};
  Tokens at_first{};             ///< in the bucket before anything happened
  Tokens least{};                ///< a retry is refused while there are fewer
  Tokens retry{};                ///< taken when a retry is admitted, given back if it does not begin
  Tokens retry_after_timeout{};  ///< the same after a timeout, for who can tell (`PricedTimeouts`)
  Tokens first_attempt{};        ///< added when a call's first attempt begins
  Tokens first_success{};        ///< added when that attempt succeeds
  Tokens retry_success{};        ///< added when a retry succeeds
  Tokens failure{};              ///< taken for each failure that is worth a retry
  bool refunds = false;          ///< a retry that did not fail for want of health gives back what it took
};

/// gRPC's `retryThrottling`: every failure takes a token, every success adds `token_ratio`, and there are no retries while
/// the bucket is half empty or less. Failures that are not worth a retry do not count. (gRPC proposal A6, 2017)
struct GrpcRetryThrottling {
  Count<"max_tokens", 1> max_tokens = 10;
  NonNegative<"token_ratio"> token_ratio = 0.1;

  constexpr operator RetryPrices() const {
    const Tokens all{max_tokens};
    const Tokens ratio{smaller_of<double>(token_ratio, max_tokens)};
    if (ratio == Tokens{})
      refuse_setting("token_ratio", "0", "is refused: after some failures nothing would be retried again");
    return {.capacity = all,
            .at_first = all,
            .least = all.half() + Tokens::smallest(),
            .first_success = ratio,
            .retry_success = ratio,
            .failure = 1};
  }
};

/// The retry quota of the AWS SDKs' standard mode: a retry takes 5 of 500 tokens, 10 after a timeout; it gets them back if it
/// succeeds; a call that succeeds at once adds 1. (Smithy's standard retry strategy; aws-sdk-go-v2, aws/retry/standard.go)
/// A retry that ends in a permanent failure gets them back too (aws-sdk-go-v2 #3186).
struct AwsRetryQuota {
  Count<"capacity"> capacity = 500;
  Count<"retry_cost"> retry_cost = 5;
  Count<"timeout_cost"> timeout_cost = 10;
  Count<"first_success"> first_success = 1;

  constexpr operator RetryPrices() const {
    const Tokens all{capacity};
    return {.capacity = all,
            .at_first = all,
            .retry = Tokens{retry_cost},
            .retry_after_timeout = Tokens{timeout_cost},
            .first_success = Tokens{first_success},
            .refunds = true};
  }
};

}  // namespace encore
