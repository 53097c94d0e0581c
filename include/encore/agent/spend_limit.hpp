// A limit on the money that a run may spend.
#pragma once
#include <encore/agent/money.hpp>
#include <encore/agent/refusal.hpp>
#include <encore/agent/run_guard.hpp>
#include <encore/durable/saved_state.hpp>
#include <encore/guard/guard.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

class SpendMeter;

/// Refuses calls once this much was spent. The call that exceeds it is still made: its cost is known only afterwards. A limit of
/// zero refuses every call. (H7)
///   SpendLimit{usd(2)}
struct SpendLimit {
  using State = SpendMeter;
  Money limit;
};

/// Adds up what was spent on tools, on the model, and on failed attempts. Thread-safe, without a lock; not copyable. It guards a
/// run; as a guard of a policy it refuses attempts, including retries. (H7, H8)
///   SpendMeter spending{SpendLimit{usd(2)}};
///   RetryPolicy policy{RetryOn<TimeoutError>{}, spending};
///   policy.run([&] { auto answer = ask(); spending.record(usd(answer.cost)); return answer; });
class SpendMeter {
 public:
  explicit SpendMeter(const SpendLimit& limit) noexcept : limit_{limit.limit} {}

  /// A refusal if no call may begin; nothing if one may. Changes nothing.
  [[nodiscard]] std::optional<Refusal> admit(const IssuedCall& call = {}) const {
    const auto spent_now = spent();
    if (spent_now < limit_) return std::nullopt;
    return Refusal{
        .reason = refusal,
        .to_model = not_called(call.name, "the spend limit is reached. Do not call any tool again."),
        .to_person = "spend limit reached: " + to_string(spent_now) + '/' + to_string(limit_) + " USD",
        .ends_run = true};
  }

  /// Adds a cost, before or after the call. It cannot be negative or NaN: `usd` rejects that.
  void record(Money cost) noexcept {
    auto before = picodollars_.load(std::memory_order_relaxed);
    while (!picodollars_.compare_exchange_weak(before, (amount(before) + cost).picodollars(),
                                               std::memory_order_relaxed)) {}
  }

  Money spent() const noexcept { return amount(picodollars_.load(std::memory_order_relaxed)); }
  Money remaining() const noexcept { return limit_ - spent(); }
  Money limit() const noexcept { return limit_; }

  void new_run() noexcept { picodollars_.store(0, std::memory_order_relaxed); }

  std::string save() const { return StateLine{kind}.add("spent_usd", to_string(spent())).text() + '\n'; }
  /// Throws `std::invalid_argument` for text that `save` did not write, and changes nothing then.
  void restore(std::string_view text) {
    const auto spent = detail::read_usd("spent_usd", saved_line(text, kind).text("spent_usd"));
    picodollars_.store(spent.picodollars(), std::memory_order_relaxed);
  }

  // As a guard of a policy: asked before each attempt, and again after the wait before it. (H2)
  using role = encore::role::Guard;
  static constexpr auto refusal = StopReason::spend_limit_reached;

  class Permit {
   public:
    explicit Permit(const SpendMeter& meter) noexcept : meter_{&meter} {}
    Permit(Permit&&) = default;
    Permit& operator=(Permit&&) = default;
    bool still_admitted(const Now&) const noexcept { return meter_->spent() < meter_->limit_; }
    static void succeeded(const Now&) noexcept {}
    static void failed(const Now&, bool) noexcept {}

   private:
    const SpendMeter* meter_;
  };
  [[nodiscard]] std::optional<Permit> admit(const AdmissionRequest&) const noexcept {
    if (spent() >= limit_) return std::nullopt;
    return Permit{*this};
  }

 private:
  static constexpr std::string_view kind{"spend_limit"};
  static constexpr Money amount(std::int64_t picodollars) noexcept {
    return Money::of_picodollars(static_cast<std::uint64_t>(picodollars));
  }

  const Money limit_;
  std::atomic<std::int64_t> picodollars_{0};
};
static_assert(RunGuard<SpendLimit> && Guard<SpendMeter&>);

}  // namespace encore ENCORE_BUILD
