// The retry quotas of gRPC and of the AWS SDKs: a bucket of tokens that successes fill.
#pragma once
#include <encore/clock.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/detail/guard/tokens.hpp>
#include <encore/engine/verdict.hpp>
#include <encore/guard/guard.hpp>
#include <encore/option.hpp>
#include <encore/predicate.hpp>
#include <encore/setting.hpp>
#include <encore/stop_reason.hpp>
#include <encore/thrown.hpp>

#include <atomic>
#include <concepts>
#include <optional>
#include <utility>

namespace encore ENCORE_BUILD {

namespace detail {

/// What fills and drains a quota. It is full at first.
struct QuotaPrices {
  Tokens capacity{};
  Tokens min_for_retry{};    ///< a retry is refused while there are fewer
  Tokens retry{};            ///< taken when a retry is admitted, returned if it does not begin
  Tokens throttled_retry{};  ///< the same after a failure that was throttling
  Tokens first_success{};    ///< added when a first attempt succeeds
  Tokens retry_success{};    ///< added when a retry succeeds
  Tokens failure{};          ///< taken for each retryable failure
  bool refunds = false;      ///< a retry that succeeds, or fails permanently, returns what it took
};

struct NoThrottling {
  using role = encore::role::Predicate;
  static constexpr bool matches(const Thrown&) noexcept { return false; }
};

}  // namespace detail

/// gRPC's `retryThrottling`: every failure takes a token, every success adds `token_ratio`, and there are no retries while the
/// bucket is half full or less. Failures that are not retryable do not count. (gRPC proposal A6, 2017)
struct GrpcRetryThrottling {
  Count<"max_tokens", 1> max_tokens = 10;
  NonNegative<"token_ratio"> token_ratio = 0.1;

  constexpr operator detail::QuotaPrices() const {
    const detail::Tokens all{max_tokens};
    const detail::Tokens ratio{shared::smaller_of<double>(token_ratio, max_tokens)};
    if (ratio == detail::Tokens{})
      refuse_setting("token_ratio", "0",
                     "is invalid: after some failures no call would ever be retried again");
    return {.capacity = all,
            .min_for_retry = all.half() + detail::Tokens::smallest(),
            .first_success = ratio,
            .retry_success = ratio,
            .failure = 1};
  }
};

/// The retry quota of the AWS SDKs' standard mode as of 2026: a retry takes 14 of 500 tokens, or 5 after throttling; a retry that
/// succeeds returns them, and a call that succeeds at the first attempt adds 1. (AWS SDKs and Tools Reference Guide, retry
/// behavior) A retry that ends in a permanent failure returns them too (aws-sdk-go-v2 #3186). Until 2026 a retry took 5:
/// `AwsRetryQuota{.retry_cost = 5}`.
struct AwsRetryQuota {
  Count<"capacity"> capacity = 500;
  Count<"retry_cost", 1> retry_cost = 14;
  /// After a failure that matches the predicate of `RetryQuota`.
  Count<"throttled_cost", 1> throttled_cost = 5;
  Count<"first_success"> first_success = 1;

  constexpr operator detail::QuotaPrices() const {
    return {.capacity = detail::Tokens{capacity},
            .retry = detail::Tokens{retry_cost},
            .throttled_retry = detail::Tokens{throttled_cost},
            .first_success = detail::Tokens{first_success},
            .refunds = true};
  }
};

/// Bounds the retries of an outage by a number of tokens, not by a share of the traffic, as gRPC and AWS do. It refuses only
/// retries, never a first attempt. To share it, name it in several policies. With AWS's quota a predicate says which failures,
/// thrown or returned, are throttling, whose retries cost less; if it throws, the failure is not throttling.
///   RetryQuota like_grpc{GrpcRetryThrottling{.max_tokens = 10, .token_ratio = 0.1}};
///   RetryQuota like_aws{AwsRetryQuota{}, RetryOn<ThrottlingError>{} || RetryIfResult{[](const Response& response) {
///                                          return response.status == 429; }}};
/// From full, a total outage gets 4 retries with gRPC's example settings, 35 with AWS's, 100 if all are throttled. For a bound
/// that grows with the traffic use `RetryBudget`.
/// Exact to the millionth of a token. Thread-safe without a lock; reads no clock; while it is full a success writes nothing
/// (P10).
template <class Throttled = detail::NoThrottling>
class RetryQuota {
 public:
  using role = encore::role::Guard;
  static constexpr StopReason refusal = StopReason::retry_budget_spent;
  static constexpr bool counts_retries = true;  // so it cannot be given to `PerCall`

  /// The permission to make one attempt. A retry that does not begin returns what it took; one that has begun is load, even if
  /// its end is never reported.
  class Permit {
   public:
    Permit(Permit&& other) noexcept
        : quota_{std::exchange(other.quota_, nullptr)},
          paid_{other.paid_},
          is_retry_{other.is_retry_},
          begun_{other.begun_} {}
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (quota_ != nullptr && !begun_) quota_->add(paid_);
    }

    void began(const Now&) noexcept { begun_ = true; }
    /// After the wait: false if there are fewer tokens than a retry needs, including what it has paid. (H2)
    bool still_admitted(const Now&) const noexcept {
      return quota_ != nullptr && (!is_retry_ || quota_->content() + paid_ >= quota_->prices_.min_for_retry);
    }
    void succeeded(const Now&) noexcept {
      if (auto* const quota = std::exchange(quota_, nullptr)) quota->succeeded(*this);
    }
    void failed(const Now&, bool retryable) noexcept {
      if (auto* const quota = std::exchange(quota_, nullptr)) quota->failed(*this, retryable);
    }

   private:
    friend class RetryQuota;
    Permit(RetryQuota* quota, bool is_retry, detail::Tokens paid) noexcept
        : quota_{quota},
          paid_{paid},
          is_retry_{is_retry} {}
    RetryQuota* quota_;
    detail::Tokens paid_;
    bool is_retry_;
    bool begun_ = false;
  };

  explicit RetryQuota(const GrpcRetryThrottling& prices)
    requires std::same_as<Throttled, detail::NoThrottling>
      : prices_(prices) {}
  explicit RetryQuota(const AwsRetryQuota& prices, Throttled throttled = {})
      : prices_(prices),
        throttled_(std::move(throttled)) {}
  RetryQuota(const RetryQuota&) = delete;
  RetryQuota& operator=(const RetryQuota&) = delete;

  ENCORE_FORCE_INLINE std::optional<Permit> admit(const AdmissionRequest& request) {
    if (!request.is_retry()) return Permit{this, false, {}};
    return admit_retry(prices_.retry);
  }
  /// Admits a retry after this failure.
  template <class Failed>
    requires requires(const Throttled& throttled, const Failed& failure) { throttled.matches(failure); }
  std::optional<Permit> admit(const AdmissionRequest&, const Failed& failure) {
    auto ignored = StopReason::none;
    const auto throttled = detail::evaluate([&] { return throttled_.matches(failure); }, ignored);
    return admit_retry(throttled ? prices_.throttled_retry : prices_.retry);
  }

  /// The number of tokens in the bucket now.
  double tokens() const noexcept { return content().number(); }

 private:
  detail::Tokens content() const noexcept { return content_.load(std::memory_order_relaxed); }

  ENCORE_COLD std::optional<Permit> admit_retry(detail::Tokens price) {
    const auto needed = shared::larger_of(price, prices_.min_for_retry);
    auto content = this->content();
    do {
      if (content < needed) return std::nullopt;
    } while (!replace(content, content - price));
    return Permit{this, true, price};
  }
  void succeeded(const Permit& permit) noexcept {
    if (!permit.is_retry_) return add(prices_.first_success);
    add(prices_.retry_success);
    if (prices_.refunds) add(permit.paid_);
  }
  ENCORE_COLD void failed(const Permit& permit, bool retryable) noexcept {
    if (!retryable && prices_.refunds) add(permit.paid_);
    if (retryable) {
      auto content = this->content();
      while (!replace(content, shared::larger_of(content - prices_.failure, detail::Tokens{}))) {}
    }
  }
  // What exceeds the capacity is lost.
  void add(detail::Tokens tokens) noexcept {
    auto content = this->content();
    while (!replace(content, shared::smaller_of(content + tokens, prices_.capacity))) {}
  }
  // Writes nothing if nothing changes, so that threads whose calls succeed do not slow each other down.
  bool replace(detail::Tokens& expected, detail::Tokens desired) noexcept {
    return expected == desired ||
           content_.compare_exchange_weak(expected, desired, std::memory_order_relaxed);
  }

  const detail::QuotaPrices prices_;
  std::atomic<detail::Tokens> content_{prices_.capacity};
  [[no_unique_address]] Throttled throttled_{};
};
RetryQuota(const GrpcRetryThrottling&) -> RetryQuota<>;
RetryQuota(const AwsRetryQuota&) -> RetryQuota<>;
template <Predicate P>
RetryQuota(const AwsRetryQuota&, P) -> RetryQuota<P>;
static_assert(Guard<RetryQuota<>> && std::atomic<detail::Tokens>::is_always_lock_free);

}  // namespace encore ENCORE_BUILD
