// A retry budget that takes more for a retry after a timeout.
#pragma once
#include <encore/address_of.hpp>
#include <encore/guard/guard.hpp>
#include <encore/guard/retry_budget.hpp>
#include <encore/ingredient.hpp>
#include <encore/predicate.hpp>
#include <encore/stop_reason.hpp>

#include <optional>
#include <utility>

namespace encore {

/// Tells a retry budget which exceptions are timeouts, whose retries have a price of their own: `AwsRetryQuota` takes 10
/// instead of 5, since the first request may still be at work. A view: the budget must outlive it. As thread-safe as the
/// predicate. A failure that is a returned value has the ordinary price.
///   RetryBudget quota{AwsRetryQuota{}};
///   RetryPolicy policy{RetryOn<HttpError>{}, PricedTimeouts{quota, RetryOn<TimeoutError>{}}};
template <Predicate P>
  requires JudgesExceptions<P>
class PricedTimeouts {
 public:
  using role = encore::role::Guard;
  using Permit = RetryBudget::Permit;
  static constexpr StopReason refusal = RetryBudget::refusal;
  static constexpr bool counts_retries = RetryBudget::counts_retries;

  constexpr PricedTimeouts(RetryBudget& budget, P timeouts)
      : budget_{detail::address_of(budget)},
        timeouts_(std::move(timeouts)) {}

  std::optional<Permit> admit(const AdmissionRequest& request) const {
    const bool timed_out = request.after != nullptr && timeouts_.matches(*request.after);
    return timed_out ? budget_->admit_after_timeout(request) : budget_->admit(request);
  }

 private:
  RetryBudget* budget_;
  [[no_unique_address]] P timeouts_;
};

}  // namespace encore
