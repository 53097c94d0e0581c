// What a policy must not refuse. What it refuses, and in which words, stands in must_not_compile/.
#include "../empty_permit.hpp"
#include <encore/before_retry.hpp>
#include <encore/engine/options_check.hpp>
#include <encore/guard/guard.hpp>
#include <encore/nesting.hpp>
#include <encore/observer.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_policy.hpp>
#include <encore/retry_settings.hpp>

#include <catch2/catch_test_macros.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace {

// One type of the user's own for each role, each joined by its one line.
struct OwnClock {
  using role = encore::role::Clock;
  std::vector<encore::Duration>* slept;
  encore::TimePoint now() const { return {}; }
  encore::WallTime wall() const { return {}; }
  void sleep_for(encore::Duration duration, const encore::StopView&) const { slept->push_back(duration); }
};
struct OwnPredicate {
  using role = encore::role::Predicate;
  bool matches(const encore::Thrown& failure) const { return std::string{failure.what()} == "busy"; }
};
struct OwnBackoff {
  using role = encore::role::Backoff;
  constexpr encore::Duration operator()(int retry) const { return (retry + 1) * 40ms; }
};
struct OwnJitter {
  using role = encore::role::Jitter;
  constexpr encore::Duration operator()(const encore::JitterInput& input) const { return input.delay / 2; }
};
struct OwnStrategy {
  using role = encore::role::OnFailure;
  static constexpr auto mode = encore::TerminalMode::formatted;
  template <class R>
  using result = R;
  template <class R>
  R failed(encore::Failure&& failure) const {
    return R{-failure.attempts};
  }
};
struct OwnGuard {
  using role = encore::role::Guard;
  static constexpr auto refusal = encore::StopReason::refused_by_guard;
  using Permit = encore_tests::EmptyPermit;
  int* asked;
  std::optional<Permit> admit(const encore::AdmissionRequest&) const {
    ++*asked;
    return Permit{};
  }
};

// A guard and a clock that change as they are used: fit to be held by reference only.
struct CountingGuard : OwnGuard {
  int admitted = 0;
  std::optional<Permit> admit(const encore::AdmissionRequest&) { return ++admitted, Permit{}; }
};
using encore::detail::AsSeen, encore::detail::keeps_promise;
static_assert(keeps_promise<AsSeen<CountingGuard&>, encore::role::Guard>);
static_assert(!keeps_promise<AsSeen<CountingGuard>, encore::role::Guard>);
static_assert(keeps_promise<AsSeen<OwnGuard>, encore::role::Guard>);

struct Reconnect {
  void operator()() const {}
};
struct ReconnectMutably {
  void operator()() {}
};
static_assert(encore::detail::CanPrepare<Reconnect>);
static_assert(!encore::detail::CanPrepare<ReconnectMutably>);

}  // namespace

TEST_CASE("a user's type becomes an option in any role with one line", "[options_check]") {
  std::vector<encore::Duration> slept;
  auto asked = 0;
  auto events = 0;
  // The observer is a temporary that can be moved and not copied.
  const encore::RetryPolicy policy{
      OwnGuard{&asked},
      OwnStrategy{},
      OwnJitter{},
      OwnBackoff{},
      OwnPredicate{},
      OwnClock{&slept},
      [&, kept = std::make_unique<int>(0)](const encore::Event&) { ++events, ++*kept; },
  };
  const auto result = policy.run({.id = "call-17"}, []() -> int { throw std::runtime_error{"busy"}; });
  CHECK(result == -3);
  CHECK(asked == 3);
  CHECK(events == 7);  // three starts, three failures, one end
  CHECK(slept == std::vector<encore::Duration>{20ms, 40ms});
}

TEST_CASE("settings and single options can be combined where they have different roles", "[options_check]") {
  const encore::RetrySettings settings{.max_retries = 4};
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, settings, encore::ReturnOutcome{},
                                   encore::WhenNested{}, encore::HandleUnmatched{}};
  CHECK(policy.max_retries() == 4);
}
