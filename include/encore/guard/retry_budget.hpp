// A retry budget: retries stay a set share of the traffic, so that those who repeat themselves do not make an outage worse.
#pragma once
#include <encore/clock.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>
#include <encore/guard/guard.hpp>
#include <encore/guard/retry_account.hpp>
#include <encore/guard/tokens.hpp>
#include <encore/ingredient.hpp>
#include <encore/setting.hpp>
#include <encore/stop_reason.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace encore ENCORE_BUILD {

struct RetryBudgetOptions {
  /// Retries per first attempt: 0.1 is one for every ten calls, and in a long total outage 1.1 times the load (Google, Site
  /// Reliability Engineering, ch. 21). A share, not a percentage: 10 is refused.
  Share<"share"> share = 0.1;
  /// So many retries are there at first, for clients that are new or make few calls, and whenever deposits have filled them up
  /// again: time alone does not. 2: what one call makes by default (A1).
  Count<"floor"> floor = 2;
  /// How long a deposit beyond the floor lasts, to within a tenth: from 10 ns to a year.
  Span<"memory"> memory = std::chrono::seconds{10};
  /// Of that, no more than these are saved, however busy the client was: 100, as many as AWS's quota allowed until 2026.
  Count<"most_saved", 1> most_saved = 100;
  /// Retries that time itself deposits, whatever the traffic; `memory` of them are there at first. 0: none. With these a client
  /// that makes no calls at all may retry, and load grows to 1 + share + floor_per_second / calls per second.
  Count<"floor_per_second"> floor_per_second = 0;
  /// Does a retry that succeeds give back what it took, as in the AWS SDKs? An outage is then met with a full floor.
  bool success_refunds = false;
};

/// Keeps retries a set share of the traffic: each first attempt deposits the share, a retry takes one. (H4) It refuses retries
/// only, never a first attempt. Shared by naming it in several policies, which have one clock.
///   RetryBudget budget{{.share = 0.1, .floor = 2, .memory = 10s}};
///   RetryBudget like_finagle{{.share = 0.2, .floor = 0, .floor_per_second = 10}};   // Finagle, Linkerd, tower
/// In a total outage, in every interval however long and whatever came before:
///   retries <= share * (first attempts in it and in the `memory` before it) + floor
/// (with `floor_per_second`, and so many for each second of both). A retry counts when it begins: one whose deposits have aged
/// in its wait, while no calls made new ones, is refused on waking (H2).
/// Thread-safe; exact to the millionth of a token. A first attempt reads the clock once and takes no lock, but for one in each
/// tenth of the memory; when the tenth has already deposited `most_saved`, it writes nothing (P10). A retry takes a lock.
class RetryBudget {
 public:
  using role = encore::role::Guard;
  static constexpr StopReason refusal = StopReason::retry_budget_spent;
  static constexpr bool counts_retries = true;  // so `PerCall` refuses it

  /// The leave to make one attempt. A retry that does not begin gives back what it took; one that has begun is load, even
  /// if nobody ever tells how it ended.
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
    /// After the wait: does the budget still bear it? What it took at first has aged meanwhile. (H2)
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
    void end(bool well) noexcept {
      if (budget_ == nullptr || stage_ != Stage::begun) return;
      auto& budget = *std::exchange(budget_, nullptr);
      if (well && budget.refunds_) budget.account_.give_back(true);
    }
    RetryBudget* budget_;
    Stage stage_;
  };

  RetryBudget() : RetryBudget{RetryBudgetOptions{}} {}
  explicit RetryBudget(const RetryBudgetOptions& options)
      : account_{Tokens{double{options.share}}, options.floor, options.memory, options.most_saved,
                 options.floor_per_second},
        refunds_{options.success_refunds} {
    if (Duration{options.memory} < detail::RetryAccount::least_memory)
      refuse_setting("memory", std::to_string(Duration{options.memory}.count()) + "ns",
                     "is invalid: it must be at least 10 ns");
  }
  RetryBudget(const RetryBudget&) = delete;
  RetryBudget& operator=(const RetryBudget&) = delete;

  ENCORE_FORCE_INLINE std::optional<Permit> admit(const AdmissionRequest& request) {
    if (!request.is_retry()) return Permit{this, Permit::Stage::first_attempt};
    if (!account_.promise(request.now())) return std::nullopt;
    return Permit{this, Permit::Stage::admitted};
  }

  /// The retries that would be admitted now, and the part of the next one that is already there.
  double tokens(const Now& now) { return account_.left_at(now()); }

 private:
  detail::RetryAccount account_;
  const bool refunds_;
};
static_assert(Guard<RetryBudget>);

}  // namespace encore ENCORE_BUILD
