// A retry budget: retries stay a set share of the traffic, so that those who repeat themselves do not make an outage worse.
#pragma once
#include <encore/attributes.hpp>
#include <encore/clock.hpp>
#include <encore/duration.hpp>
#include <encore/extremes.hpp>
#include <encore/guard/allowance.hpp>
#include <encore/guard/guard.hpp>
#include <encore/guard/retry_prices.hpp>
#include <encore/guard/token_bucket.hpp>
#include <encore/guard/tokens.hpp>
#include <encore/ingredient.hpp>
#include <encore/setting.hpp>
#include <encore/stop_reason.hpp>

#include <chrono>
#include <optional>
#include <utility>

namespace encore {

struct RetryBudgetOptions {
  /// Retries per first attempt: 0.1 is one for every ten calls, and in a total outage 1.1 times the load (Google, Site
  /// Reliability Engineering, ch. 21). A share, not a percentage: 10 is refused.
  Share<"share"> share = 0.1;
  /// So many retries in each `floor_period` are allowed beyond that, for clients that are new or make few calls.
  /// 2 in 10 s: what one call makes by default (A1).
  Count<"floor"> floor = 2;
  Span<"floor_period"> floor_period = std::chrono::seconds{10};
  /// Good times save up no more retries than these, so that an outage does not begin with a storm. 100: as many as AWS's
  /// quota allows.
  Count<"most_saved", 1> most_saved = 100;

  constexpr operator RetryPrices() const {
    return {.capacity = Tokens{most_saved}, .retry = 1, .first_attempt = Tokens{double{share}}};
  }
};

/// A token bucket that keeps retries a set share of the traffic: each first attempt deposits the share, a retry takes one. (H4)
/// It refuses retries only, never a first attempt. Shared by naming it in several policies.
///   RetryBudget budget{{.share = 0.1, .floor = 10, .floor_period = 1s}};
///   RetryBudget like_grpc{GrpcRetryThrottling{.max_tokens = 10, .token_ratio = 0.1}};
///   RetryBudget like_aws{AwsRetryQuota{}};
/// Exact: what a retry took is spent or given back, to the millionth of a token. Thread-safe without a lock; the clock is
/// read only for a retry that the deposits do not pay for. While the bucket is full a success writes nothing: what it
/// would add has no room. (P10)
class RetryBudget {
 public:
  using role = encore::role::Guard;
  static constexpr StopReason refusal = StopReason::retry_budget_spent;
  static constexpr bool counts_retries = true;  // so `PerCall` refuses it

  /// The leave to make one attempt. A retry that does not begin gives back what it took; one that has begun is load, even
  /// if nobody ever tells how it ended.
  class Permit {
   public:
    Permit(Permit&& other) noexcept
        : budget_{std::exchange(other.budget_, nullptr)},
          paid_{other.paid_},
          kind_{other.kind_},
          begun_{other.begun_} {}
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (budget_ != nullptr && is_retry() && !begun_) budget_->give_back(*this);
    }

    void began(const Now&) noexcept {
      if (!is_retry() && !begun_ && budget_ != nullptr) budget_->bucket_.add(budget_->prices_.first_attempt);
      begun_ = true;
    }
    /// After the wait: are there as many tokens as a retry needs, what it has paid included? (H2)
    bool still_admitted(const Now&) const noexcept {
      return budget_ != nullptr &&
             (!is_retry() || budget_->bucket_.content() + paid_ >= budget_->prices_.least);
    }
    void succeeded(const Now&) noexcept {
      if (auto* const budget = std::exchange(budget_, nullptr)) budget->succeeded(*this);
    }
    void failed(const Now&, bool retryable) noexcept {
      if (auto* const budget = std::exchange(budget_, nullptr)) budget->failed(*this, retryable);
    }

   private:
    friend class RetryBudget;
    enum class Kind : unsigned char { first_attempt, paid, from_the_floor };
    Permit(RetryBudget& budget, Kind kind, Tokens paid) noexcept
        : budget_{&budget},
          paid_{paid},
          kind_{kind} {}
    bool is_retry() const noexcept { return kind_ != Kind::first_attempt; }
    RetryBudget* budget_;
    Tokens paid_;
    Kind kind_;
    bool begun_ = false;
  };

  RetryBudget() : RetryBudget{RetryBudgetOptions{}} {}
  explicit RetryBudget(const RetryBudgetOptions& options)
      : RetryBudget{options, {options.floor, options.floor_period}} {}
  /// One of the published kinds, or a kind of your own.
  explicit RetryBudget(const RetryPrices& prices) : RetryBudget{prices, {0, {}}} {}
  RetryBudget(const RetryBudget&) = delete;
  RetryBudget& operator=(const RetryBudget&) = delete;

  ENCORE_FORCE_INLINE std::optional<Permit> admit(const AdmissionRequest& request) {
    if (!request.is_retry()) return Permit{*this, Permit::Kind::first_attempt, {}};
    return admit_retry(request, prices_.retry);
  }
  /// The same for who knows that the attempt before ended by a timeout.
  std::optional<Permit> admit_after_timeout(const AdmissionRequest& request) {
    return admit_retry(request, prices_.retry_after_timeout);
  }

  /// The tokens that are there now, the floor not counted.
  double tokens() const noexcept { return bucket_.content().number(); }

 private:
  struct Floor {
    int count;
    Duration period;
  };
  RetryBudget(const RetryPrices& prices, Floor floor)
      : prices_{prices},
        bucket_{prices.capacity, prices.at_first},
        floor_{floor.count, floor.period} {}

  ENCORE_COLD std::optional<Permit> admit_retry(const AdmissionRequest& request, Tokens price) {
    if (bucket_.take(price, larger_of(price, prices_.least))) return Permit{*this, Permit::Kind::paid, price};
    if (!floor_.allows_nothing() && floor_.take(request.now()))
      return Permit{*this, Permit::Kind::from_the_floor, {}};
    return std::nullopt;
  }
  void succeeded(const Permit& permit) noexcept {
    if (!permit.is_retry()) return bucket_.add(prices_.first_success);
    bucket_.add(prices_.retry_success);
    if (prices_.refunds) bucket_.add(permit.paid_);
  }
  ENCORE_COLD void failed(const Permit& permit, bool retryable) noexcept {
    if (retryable)
      bucket_.drain(prices_.failure);
    else if (prices_.refunds)
      bucket_.add(permit.paid_);
  }
  ENCORE_COLD void give_back(const Permit& permit) noexcept {
    bucket_.add(permit.paid_);
    if (permit.kind_ == Permit::Kind::from_the_floor) floor_.give_back();
  }

  const RetryPrices prices_;
  TokenBucket bucket_;
  Allowance floor_;
};
static_assert(Guard<RetryBudget>);

}  // namespace encore
