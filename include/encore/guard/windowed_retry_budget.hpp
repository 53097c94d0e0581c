// A retry budget whose deposits expire: retries stay a share of the traffic of the last few seconds.
#pragma once
#include <encore/clock.hpp>
#include <encore/duration.hpp>
#include <encore/extremes.hpp>
#include <encore/guard/guard.hpp>
#include <encore/guard/tokens.hpp>
#include <encore/ingredient.hpp>
#include <encore/setting.hpp>
#include <encore/stop_reason.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace encore {

/// Finagle's defaults, which Linkerd and tower took over. (Finagle, RetryBudget: 20 % of the requests of 10 s, and 10 a second)
struct WindowedRetryBudgetOptions {
  /// Retries per first attempt: a share, not a percentage. `percentCanRetry` (linkerd #2236), `retryRatio`.
  Share<"share"> share = 0.2;
  /// Retries allowed beyond that, on average over the window. `minRetriesPerSec`.
  Count<"floor_per_second"> floor_per_second = 10;
  /// How long a deposit lasts, to within a tenth. `ttl`.
  Span<"window"> window = std::chrono::seconds{10};
};

/// In any window there are no more retries than the share of its first attempts and its floor: in a total outage load grows
/// to 1 + share + floor_per_second / calls per second. (H4) Refuses retries only, never a first attempt.
///   WindowedRetryBudget budget{{.share = 0.2, .floor_per_second = 10, .window = 10s}};
/// Thread-safe. Each first attempt takes a lock and reads the clock, since its deposit is to expire: where that is too dear,
/// `RetryBudget` bounds what is saved by its number instead of its age.
class WindowedRetryBudget {
 public:
  using role = encore::role::Guard;
  static constexpr StopReason refusal = StopReason::retry_budget_spent;
  static constexpr bool counts_retries = true;

  /// The leave to make one attempt. A retry that does not begin gives back what it took.
  class Permit {
   public:
    Permit(Permit&& other) noexcept
        : budget_{std::exchange(other.budget_, nullptr)},
          slot_{other.slot_},
          is_retry_{other.is_retry_} {}
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (budget_ != nullptr && is_retry_) budget_->give_back(slot_);
    }
    void began(const Now& now) {
      auto* const budget = std::exchange(budget_, nullptr);
      if (budget != nullptr && !is_retry_) budget->deposit(now());
    }
    void succeeded(const Now&) noexcept { budget_ = nullptr; }
    void failed(const Now&, bool) noexcept { budget_ = nullptr; }

   private:
    friend class WindowedRetryBudget;
    Permit(WindowedRetryBudget& budget, bool is_retry, std::int64_t slot) noexcept
        : budget_{&budget},
          slot_{slot},
          is_retry_{is_retry} {}
    WindowedRetryBudget* budget_;  // null once the attempt has begun: what it took is spent
    std::int64_t slot_;
    bool is_retry_;
  };

  WindowedRetryBudget() : WindowedRetryBudget{WindowedRetryBudgetOptions{}} {}
  explicit WindowedRetryBudget(const WindowedRetryBudgetOptions& options)
      : share_{double{options.share}},
        reserve_{reserve(options)},
        slot_length_{smaller_of(Duration{options.window}, longest_wait) / tenths} {
    if (slot_length_ == Duration::zero())
      refuse_setting("window", "0s", "is refused: it must be at least 10 ns");
  }
  WindowedRetryBudget(const WindowedRetryBudget&) = delete;
  WindowedRetryBudget& operator=(const WindowedRetryBudget&) = delete;

  std::optional<Permit> admit(const AdmissionRequest& request) {
    if (!request.is_retry()) return Permit{*this, false, 0};
    const auto time = request.now();
    const std::lock_guard lock{mutex_};
    advance(time);
    if (sum_ + reserve_ < retry) return std::nullopt;
    add(Tokens{} - retry);
    return Permit{*this, true, newest_};
  }

  /// The retries that could be made now.
  double tokens(const Now& now) {
    const auto time = now();
    const std::lock_guard lock{mutex_};
    advance(time);
    return (sum_ + reserve_).number();
  }

 private:
  static constexpr int tenths = 10;
  static constexpr Tokens retry = 1;

  static Tokens reserve(const WindowedRetryBudgetOptions& options) {
    const auto seconds =
        std::chrono::duration<double>{smaller_of(Duration{options.window}, longest_wait)}.count();
    return Tokens{smaller_of(options.floor_per_second * seconds, 2e9)};
  }

  void deposit(TimePoint now) {
    const std::lock_guard lock{mutex_};
    advance(now);
    add(share_);
  }
  void give_back(std::int64_t slot) {
    const std::lock_guard lock{mutex_};
    if (slot <= newest_ - tenths) return;  // it has expired, and with it what was taken
    slots_[index(slot)] = slots_[index(slot)] + retry;
    sum_ = sum_ + retry;
  }

  // ---- with the lock held ----

  static std::size_t index(std::int64_t slot) noexcept { return static_cast<std::size_t>(slot % tenths); }
  void add(Tokens tokens) noexcept {
    slots_[index(newest_)] = slots_[index(newest_)] + tokens;
    sum_ = sum_ + tokens;
  }
  // Lets expire what is too old. A clock that was set back goes on from where it was. (D7)
  void advance(TimePoint now) noexcept {
    newest_ends_ =
        newest_ == 0 ? later(now, slot_length_) : smaller_of(newest_ends_, later(now, slot_length_));
    if (newest_ == 0) newest_ = 1;
    if (now < newest_ends_) return;
    const auto late = time_between(newest_ends_, now);
    const std::int64_t steps = late / slot_length_ + 1;
    for (std::int64_t step = 1; step <= smaller_of<std::int64_t>(steps, tenths); ++step) {
      auto& expired = slots_[index(newest_ + step)];
      sum_ = sum_ - std::exchange(expired, Tokens{});
    }
    newest_ += steps;
    newest_ends_ = later(now, slot_length_ - late % slot_length_);
  }

  const Tokens share_;
  const Tokens reserve_;
  const Duration slot_length_;
  std::mutex mutex_;
  std::array<Tokens, tenths> slots_{};  // what was deposited less what was taken, in each tenth of the window
  Tokens sum_{};
  std::int64_t newest_ = 0;  // number of the slot that is being filled; it is found at this number modulo 10
  TimePoint newest_ends_{};
};
static_assert(Guard<WindowedRetryBudget>);

}  // namespace encore
