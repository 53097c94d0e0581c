// A retry budget: retries stay a set share of the traffic, so that those who repeat themselves do not make an outage worse.
#pragma once
#include <encore/attributes.hpp>
#include <encore/clock.hpp>
#include <encore/duration.hpp>
#include <encore/extremes.hpp>
#include <encore/guard/guard.hpp>
#include <encore/guard/tokens.hpp>
#include <encore/ingredient.hpp>
#include <encore/setting.hpp>
#include <encore/stop_reason.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace encore {

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
      if (budget_ != nullptr && stage_ != Stage::begun) budget_->give_back(stage_ == Stage::woken);
    }

    void began(const Now& now) {
      if (budget_ == nullptr || stage_ == Stage::begun) return;
      if (stage_ == Stage::first_attempt)
        std::exchange(budget_, nullptr)->deposit(now);
      else
        begin_retry();
    }
    /// After the wait: does the budget still bear it? What it took at first has aged meanwhile. (H2)
    bool still_admitted(const Now& now) {
      if (budget_ == nullptr) return false;
      if (stage_ == Stage::admitted && budget_->take(now())) stage_ = Stage::woken;
      return stage_ != Stage::admitted;
    }
    void succeeded(const Now&) noexcept { end(true); }
    void failed(const Now&, bool) noexcept { end(false); }

   private:
    friend class RetryBudget;
    enum class Stage : unsigned char { first_attempt, admitted, woken, begun };
    Permit(RetryBudget* budget, Stage stage) noexcept : budget_{budget}, stage_{stage} {}
    ENCORE_COLD void begin_retry() {
      if (stage_ == Stage::admitted) budget_->take();
      stage_ = Stage::begun;
    }
    void end(bool well) noexcept {
      if (budget_ == nullptr || stage_ != Stage::begun) return;
      auto& budget = *std::exchange(budget_, nullptr);
      if (well && budget.refunds_) budget.give_back(true);
    }
    RetryBudget* budget_;
    Stage stage_;
  };

  RetryBudget() : RetryBudget{RetryBudgetOptions{}} {}
  explicit RetryBudget(const RetryBudgetOptions& options)
      : share_{sum(Tokens{double{options.share}})},
        floor_{Tokens{options.floor}.millionths()},
        most_saved_{Tokens{options.most_saved}.millionths()},
        tenth_{smaller_of(Duration{options.memory}, longest_wait) / tenths},
        per_tenth_{sum(tokens_of(options.floor_per_second, tenth_))},
        refunds_{options.success_refunds},
        deposited_{sum(tokens_of(options.floor_per_second, tenth_ * tenths))} {
    if (tenth_ == Duration::zero()) refuse_setting("memory", "0s", "is refused: it must be at least 10 ns");
  }
  RetryBudget(const RetryBudget&) = delete;
  RetryBudget& operator=(const RetryBudget&) = delete;

  ENCORE_FORCE_INLINE std::optional<Permit> admit(const AdmissionRequest& request) {
    if (!request.is_retry()) return Permit{this, Permit::Stage::first_attempt};
    return promise(request.now());
  }

  /// The retries that would be admitted now, and the part of the next one that is already there.
  double tokens(const Now& now) {
    const auto time = now();
    const std::lock_guard lock{mutex_};
    advance(time);
    return static_cast<double>(left(promised_)) / one;
  }

 private:
  // The bound, and why it holds. `deposited_` and `made_` count, in millionths of a token, what was ever put in and what retries
  // took, so `left(made_)`, which is floor + deposited - made, is what is there; a retry that begins finds at least one and takes
  // it. Whoever looks first lets go (in `settle`) of what is more than
  //   floor + what was deposited in the last `memory`.                                                                     (1)
  // Let r be the first retry of an interval [a, b]. The retries in it take what was there at r, which by (1) is no more than
  // floor + deposits in [r - memory, r], and what came later, deposits in [r, b]. Since a <= r: no more than floor + deposits in
  // [a - memory, b]. Where nobody looks nothing needs to be let go of: the next deposits would have filled it up again.
  // A deposit is dated at the beginning of its tenth of the memory, which is no later than it was made.
  // `promised_` counts the retries that wait as well, so that no more are admitted than the deposits pay for.

  using Sum = std::uint64_t;  // may wrap: only differences mean anything
  static constexpr std::int64_t one = 1'000'000;
  static constexpr int tenths = 10;

  static Sum sum(Tokens tokens) noexcept { return static_cast<Sum>(tokens.millionths()); }
  static std::int64_t between(Sum from, Sum to) noexcept { return static_cast<std::int64_t>(to - from); }
  static Tokens tokens_of(int per_second, Duration span) noexcept {
    return Tokens{smaller_of(per_second * std::chrono::duration<double>{span}.count(), 2e9)};
  }

  void deposit(const Now& now) {
    if (share_ == 0) return;
    const auto time = now();
    if (!is_in_this_tenth(time)) [[unlikely]]
      turn(time);
    if (between(deposited_.load(std::memory_order_relaxed), full_at_.load(std::memory_order_relaxed)) > 0)
      deposited_.fetch_add(share_, std::memory_order_relaxed);
  }
  // A thread that read the clock just before another one went on to the next tenth is late, and deposits there.
  bool is_in_this_tenth(TimePoint time) const noexcept {
    const auto left = time_between(time, tenth_ends_.load(std::memory_order_relaxed));
    return left > Duration::zero() && left <= 2 * tenth_;
  }
  ENCORE_COLD void turn(TimePoint time) {
    const std::lock_guard lock{mutex_};
    advance(time);
  }

  ENCORE_COLD std::optional<Permit> promise(TimePoint time) {
    const std::lock_guard lock{mutex_};
    advance(time);
    if (left(promised_) < one) return std::nullopt;
    promised_ += one;
    settle();
    return Permit{this, Permit::Stage::admitted};
  }
  bool take(TimePoint time) {
    const std::lock_guard lock{mutex_};
    advance(time);
    if (left(made_) < one) return false;
    made_ += one;
    settle();
    return true;
  }
  void take() {
    const std::lock_guard lock{mutex_};
    made_ += one;
    settle();
  }
  ENCORE_COLD void give_back(bool taken) {
    const std::lock_guard lock{mutex_};
    promised_ -= one;
    if (taken) made_ -= one;
    settle();
  }

  // ---- with the lock held ----

  std::int64_t left(Sum spent) const noexcept {
    return floor_ + between(spent, deposited_.load(std::memory_order_relaxed));
  }
  Sum& begin_of_tenth(int number) noexcept { return tenths_[static_cast<std::size_t>(number % tenths)]; }

  // Goes on to the tenth of this time. A clock that was set back begins a new one. (D7)
  void advance(TimePoint time) noexcept {
    const auto ends = tenth_ends_.load(std::memory_order_relaxed);
    if (!is_in_this_tenth(time)) {
      const auto late = time_between(ends, time);
      const auto set_back = time < ends;
      auto steps = late / tenth_ >= tenths ? tenths : static_cast<int>(late / tenth_) + 1;
      if (!started_) steps = 0;
      for (; steps > 0; --steps) {
        newest_ = (newest_ + 1) % tenths;
        begin_of_tenth(newest_) = deposited_.fetch_add(per_tenth_, std::memory_order_relaxed);
      }
      const auto since_its_begin = started_ && !set_back ? late % tenth_ : Duration::zero();
      tenth_ends_.store(later(time, tenth_ - since_its_begin), std::memory_order_relaxed);
      started_ = true;
    }
    settle();
  }
  // Lets go of what has aged, and notes from where on a deposit would change nothing.
  void settle() noexcept {
    const auto all = deposited_.load(std::memory_order_relaxed);
    const auto saved = smaller_of(between(begin_of_tenth(newest_ + 1), all), most_saved_);
    const auto raise = [](Sum& number, Sum least) { number = between(number, least) > 0 ? least : number; };
    raise(made_, all - static_cast<Sum>(saved));
    raise(promised_, made_);
    auto full_at = begin_of_tenth(newest_);
    raise(full_at, promised_);
    full_at_.store(full_at + static_cast<Sum>(most_saved_), std::memory_order_relaxed);
  }

  const Sum share_;
  const std::int64_t floor_;
  const std::int64_t most_saved_;
  const Duration tenth_;
  const Sum per_tenth_;
  const bool refunds_;
  std::atomic<Sum> deposited_;
  std::atomic<Sum> full_at_{0};
  std::atomic<TimePoint> tenth_ends_{(TimePoint::min)()};
  std::mutex mutex_;
  Sum made_ = 0;                      // what retries took that have begun, and what has aged
  Sum promised_ = 0;                  // the same with those that wait: never less
  std::array<Sum, tenths> tenths_{};  // what had been deposited when each tenth began
  int newest_ = 0;
  bool started_ = false;
};
static_assert(Guard<RetryBudget>);

}  // namespace encore
