// Guards of every kind in one policy in which everything throws now and then: what was admitted comes back, each once. (H1, H8)
#include <encore/before_retry.hpp>
#include <encore/detail/random.hpp>
#include <encore/guard/circuit_breaker.hpp>
#include <encore/guard/guard.hpp>
#include <encore/guard/per_call.hpp>
#include <encore/guard/retry_budget.hpp>
#include <encore/guard/retry_quota.hpp>
#include <encore/hint.hpp>
#include <encore/limits.hpp>
#include <encore/never_retry.hpp>
#include <encore/observer.hpp>
#include <encore/on_failure.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using encore::AdmissionRequest;
using encore::CircuitBreaker;
using encore::Now;
using encore::testing::FakeClock;

struct Broken : std::logic_error {
  using logic_error::logic_error;
};
struct Timeout : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Chance that threads share: which of them meets which draw does not matter here.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : draws_{seed * 1'000'000'000} {}
  bool happens(double share) const {
    return encore::shared::Random{encore::shared::mix(draws_.fetch_add(1))}.draw() < share;
  }
  void may_throw() const {
    if (happens(0.04)) throw Broken{"broken"};
  }

 private:
  mutable std::atomic<std::uint64_t> draws_;
};

struct BreakingClock {
  using role = encore::role::Clock;
  FakeClock& fake;
  const Dice& dice;
  BreakingClock(FakeClock& clock, const Dice& chance) : fake{clock}, dice{chance} {}
  BreakingClock(const BreakingClock&) = delete;
  encore::TimePoint now() const { return dice.may_throw(), fake.now(); }
  encore::WallTime wall() const { return fake.wall(); }
  void sleep_for(encore::Duration duration, const encore::StopView& stop) {
    dice.may_throw(), fake.sleep_for(duration, stop);
  }
};

/// Counts who is let in and who comes out, refuses some, and sends some back who have waited.
template <bool PerCall>
struct Turnstile {
  using role = encore::role::Guard;
  static constexpr auto refusal = encore::StopReason::refused_by_guard;
  static constexpr bool per_call = PerCall;

  struct Permit {
    Turnstile* gate;
    bool is_retry = false;
    bool told = false;
    Permit(Turnstile& of, bool retry) : gate{&of}, is_retry{retry} {}
    Permit(Permit&& other) noexcept
        : gate{std::exchange(other.gate, nullptr)},
          is_retry{other.is_retry},
          told{other.told} {}
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (gate != nullptr) ++gate->out;
    }
    void began(const Now&) { ++(is_retry ? gate->retries : gate->first_attempts); }
    bool still_admitted(const Now&) { return !gate->dice.happens(0.05); }
    void succeeded(const Now&) { tell(); }
    void failed(const Now&, bool) { tell(); }
    void tell() {
      if (std::exchange(told, true)) ++gate->told_twice;
    }
  };
  std::optional<Permit> admit(const AdmissionRequest& request) {
    if (dice.happens(0.05)) return std::nullopt;
    ++in;
    return Permit{*this, request.is_retry()};
  }

  explicit Turnstile(const Dice& chance) : dice{chance} {}
  Turnstile(const Turnstile&) = delete;
  const Dice& dice;
  std::atomic<std::int64_t> in{0};
  std::atomic<std::int64_t> out{0};
  std::atomic<std::int64_t> told_twice{0};
  std::atomic<std::int64_t> first_attempts{0};
  std::atomic<std::int64_t> retries{0};
};

/// One of each kind, all asked about the same calls.
struct Guards {
  explicit Guards(std::uint64_t seed) : dice{seed} {}

  Dice dice;
  FakeClock fake{{.max_attempts_without_progress = 1'000'000}};
  BreakingClock clock{fake, dice};
  CircuitBreaker attempts_breaker{{.failures_to_open = 4, .open_for = 5s, .probe_lease = 8'760h}};
  CircuitBreaker calls_breaker{{.failures_to_open = 3, .open_for = 5s, .probe_lease = 8'760h}};
  encore::RetryBudget budget{{.share = 0.5, .floor = 0, .memory = 8'760h, .max_saved = 1'000'000}};
  encore::RetryQuota<> quota{encore::AwsRetryQuota{.capacity = 1'000'000, .first_success = 0}};
  Turnstile<false> attempts{dice};
  Turnstile<true> calls{dice};

  auto policy() {
    const auto& chance = dice;
    return encore::RetryPolicy{
        clock,
        attempts_breaker,
        budget,
        attempts,
        calls,
        encore::PerCall{calls_breaker},
        quota,
        encore::RetryIf{[&chance](const Timeout&) { return chance.may_throw(), true; }} ||
            encore::RetryIfResult{[&chance](int n) { return chance.may_throw(), n < 0; }},
        encore::NeverRetryIf{[&chance](const std::out_of_range&) { return chance.may_throw(), true; }},
        encore::HintFrom{[&chance](const Timeout&) { return chance.may_throw(), 2s; }},
        encore::BeforeRetry{[&chance] { chance.may_throw(); }},
        encore::Observe{[&chance](const encore::Event&) { chance.may_throw(); }},
        encore::FormatFailure{[&chance](const encore::Failure&) { return chance.may_throw(), -1; }},
        encore::MaxRetries{4},
        encore::TimeBudget{20s},
        encore::ConstantBackoff{1s}};
  }

  void make_calls(int count) {
    const auto policy_now = policy();
    for (int i = 0; i < count; ++i) {
      std::stop_source source;
      const auto token = source.get_token();
      if (dice.happens(0.02)) source.request_stop();
      const auto tool = [&]() -> int {
        if (dice.happens(0.03)) source.request_stop();
        if (dice.happens(0.35)) throw Timeout{"slow"};
        if (dice.happens(0.05)) throw std::out_of_range{"never"};
        if (dice.happens(0.05)) throw 42;
        return dice.happens(0.2) ? -1 : 1;
      };
      try {
        static_cast<void>(policy_now.run({.stop = token}, tool));
      } catch (...) {}  // what leaves is not what this is about
      fake.advance(1s);
    }
  }

  void check() {
    CHECK(attempts.in == attempts.out);
    CHECK(calls.in == calls.out);
    CHECK(attempts.told_twice == 0);
    CHECK(calls.told_twice == 0);
    CHECK(budget.tokens(Now{fake}) ==
          0.5 * static_cast<double>(attempts.first_attempts) - static_cast<double>(attempts.retries));
    const auto spent = (1'000'000 - quota.tokens()) / 14;
    CHECK((spent == std::floor(spent) && spent >= 0 && spent <= static_cast<double>(attempts.retries)));
    // Nobody is under way, so a breaker that may be probed has its probe to give.
    fake.advance(5s);
    const Now now{fake};
    CHECK(attempts_breaker.admit({.now = now}));
    CHECK(calls_breaker.admit({.now = now}));
  }
};

TEST_CASE("each permit is returned once, whatever throws and wherever (fault 37) [H1]", "[conservation]") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    Guards guards{seed};
    guards.make_calls(2'000);
    guards.check();
    CHECK(guards.attempts.retries > 300);
    CHECK(guards.attempts.in - guards.attempts.first_attempts - guards.attempts.retries > 50);  // unspent
  }
}

TEST_CASE("each permit is returned once when many threads meet exceptions at once (fault 37) [H1, H8]",
          "[conservation][threads]") {
  Guards guards{6};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 8; ++thread) threads.emplace_back([&] { guards.make_calls(400); });
  }
  guards.check();
  CHECK(guards.attempts.retries > 0);  // how many depends on who moves the clock when
}

}  // namespace
