// A retry budget: retries stay a set share of the traffic, so that they cannot make an outage much worse.
#pragma once
#include <encore/clock.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/detail/guard/retry_account.hpp>
#include <encore/detail/guard/tokens.hpp>
#include <encore/duration.hpp>
#include <encore/guard/guard.hpp>
#include <encore/option.hpp>
#include <encore/setting.hpp>
#include <encore/stop_reason.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace encore ENCORE_BUILD {

struct RetryBudgetOptions {
  /// Retries per first attempt: 0.1 is one for every ten calls, and in a long total outage 1.1 times the load (Google, Site
  /// Reliability Engineering, ch. 21). A share, not a percentage: 10 is invalid.
  Share<"share"> share = 0.1;
  /// The retries that are available at first, for clients that are new or make few calls, and whenever deposits have filled them
  /// up again: time alone does not. 2: what one call makes by default (A1).
  Count<"floor"> floor = 2;
  /// How long a deposit beyond the floor lasts, exact to a tenth: from 10 ns to a year.
  Span<"memory"> memory = std::chrono::seconds{10};
  /// No more than these are saved beyond the floor, however busy the client was. 100: AWS's quota allowed as many until 2026.
  Count<"max_saved", 1> max_saved = 100;
  /// Retries that are deposited every second, whatever the traffic; `memory` of them are available at first. With them a client
  /// that makes no calls may retry, and the load grows to 1 + share + floor_per_second / calls per second.
  Count<"floor_per_second"> floor_per_second = 0;
  /// Whether a retry that succeeds returns what it took, as in the AWS SDKs. An outage then begins with a full floor.
  bool success_refunds = false;
};

/// Keeps retries a set share of the traffic: each first attempt deposits the share, a retry takes one. (H4) It refuses only
/// retries, never a first attempt. To share it, name it in several policies; they must use one clock.
///   RetryBudget budget{{.share = 0.1, .floor = 2, .memory = 10s}};
///   RetryBudget like_finagle{{.share = 0.2, .floor = 0, .floor_per_second = 10}};   // Finagle, Linkerd, tower
/// In a total outage it holds in every interval, however long and whatever came before:
///   retries <= share * (first attempts in it and in the `memory` before it) + floor
/// (with `floor_per_second`, plus as many for each second of both). A retry counts when it begins: one whose deposits expired
/// during its wait, while no calls made new ones, is refused after the wait (H2).
/// Thread-safe; exact to the millionth of a token. A first attempt reads the clock once and takes no lock, except once in each
/// tenth of the memory; once a tenth has deposited `max_saved`, it writes nothing (P10). A retry takes a lock.
class RetryBudget {
 public:
  using role = encore::role::Guard;
  static constexpr StopReason refusal = StopReason::retry_budget_spent;
  static constexpr bool counts_retries = true;  // so it cannot be given to `PerCall`

  /// The permission to make one attempt. A retry that does not begin returns what it took; one that has begun is load, even if
  /// its end is never reported.
  class Permit {
   public:
    Permit(Permit&& other) noexcept : budget_{std::exchange(other.budget_, nullptr)}, stage_{other.stage_} {}
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (budget_ != nullptr && (stage_ == Stage::admitted || stage_ == Stage::woken))
        budget_->account_.give_back(stage_ == Stage::woken);
    }

    void began(const Now& now) {
      if (budget_ == nullptr || stage_ == Stage::begun) return;
      if (stage_ == Stage::first_attempt)
        deposit(now);
      else
        begin_retry();
    }
    /// After the wait: false if what the retry took has expired and nothing replaces it. (H2)
    bool still_admitted(const Now& now) {
      if (budget_ == nullptr) return false;
      if (stage_ == Stage::admitted && budget_->account_.take(now())) stage_ = Stage::woken;
      return stage_ != Stage::admitted;
    }
    void succeeded(const Now&) noexcept { end(true); }
    void failed(const Now&, bool) noexcept { end(false); }

   private:
    friend class RetryBudget;
    enum class Stage : unsigned char { first_attempt, admitted, woken, begun };
    Permit(RetryBudget* budget, Stage stage) noexcept : budget_{budget}, stage_{stage} {}
    void deposit(const Now& now) {
      auto& account = std::exchange(budget_, nullptr)->account_;
      if (account.takes_deposits()) account.deposit(now());
    }
    ENCORE_COLD void begin_retry() {
      if (stage_ == Stage::admitted) budget_->account_.take();
      stage_ = Stage::begun;
    }
    void end(bool success) noexcept {
      if (budget_ == nullptr || stage_ != Stage::begun) return;
      auto& budget = *std::exchange(budget_, nullptr);
      if (success && budget.refunds_) budget.account_.give_back(true);
    }
    RetryBudget* budget_;
    Stage stage_;
  };

  RetryBudget() : RetryBudget{RetryBudgetOptions{}} {}
  explicit RetryBudget(const RetryBudgetOptions& options)
      : account_{detail::Tokens{double{options.share}}, options.floor, options.memory, options.max_saved,
                 options.floor_per_second},
        refunds_{options.success_refunds} {
    if (Duration{options.memory} < detail::RetryAccount::min_memory)
      refuse_setting("memory", std::to_string(Duration{options.memory}.count()) + "ns",
                     "is invalid: it must be at least 10 ns");
  }
  RetryBudget(const RetryBudget&) = delete;
  RetryBudget& operator=(const RetryBudget&) = delete;

  ENCORE_FORCE_INLINE std::optional<Permit> admit(const AdmissionRequest& request) {
    if (!request.is_retry()) return Permit{this, Permit::Stage::first_attempt};
    if (!account_.reserve(request.now())) return std::nullopt;
    return Permit{this, Permit::Stage::admitted};
  }

  /// The number of retries that would be admitted now, with its fraction.
  double tokens(const Now& now) { return account_.left_at(now()); }

 private:
  detail::RetryAccount account_;
  const bool refunds_;
};
static_assert(Guard<RetryBudget>);

}  // namespace encore ENCORE_BUILD
