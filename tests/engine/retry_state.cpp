#include <encore/encore.hpp>
#include <encore/engine/retry_state.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <exception>
#include <optional>
#include <stdexcept>

using namespace encore;
using encore::testing::FakeClock;
using encore::testing::Recorder;
using namespace std::chrono_literals;

namespace {

struct Slow : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A call with everything it needs, driven by hand.
template <class Policy>
struct ByHand {
  const Policy& policy;
  Call call{.id = "call-1"};
  encore::detail::CallFrame frame{call, encore::detail::limits_of(policy, call, policy.clock().now()),
                                  Now{policy.clock()}};
  typename encore::detail::RetryState<encore::detail::PartsOf<Policy>>::Permits permits{};
  encore::detail::RetryState<encore::detail::PartsOf<Policy>> state{policy_parts(policy), frame, permits,
                                                                    policy.clock().now()};

  explicit ByHand(const Policy& its_policy, bool may_be_cancelled = true) : policy{its_policy} {
    if (may_be_cancelled) state.may_be_cancelled();
  }
  Decision fail() {
    try {
      throw Slow{"slow"};
    } catch (const std::exception& error) {
      return state.threw(&error);
    }
  }
};

}  // namespace

TEST_CASE("an exception outlives its handler only where something may need it [K1]", "[retry_state]") {
  FakeClock clock;
  const RetryPolicy plain{RetryOn<Slow>{}, NoJitter{}, clock};
  ByHand<std::remove_const_t<decltype(plain)>> unneeded{plain, false};
  REQUIRE(unneeded.state.begin().goes_on());
  REQUIRE(unneeded.fail() == Decision{.wait = 1s});
  CHECK(unneeded.state.error() == nullptr);

  ByHand<std::remove_const_t<decltype(plain)>> cancellable{plain};
  REQUIRE(cancellable.state.begin().goes_on());
  REQUIRE(cancellable.fail().goes_on());
  CHECK(cancellable.state.error() != nullptr);

  const auto limited = plain.with(TimeBudget{1h});
  ByHand<std::remove_const_t<decltype(limited)>> bounded{limited, false};
  REQUIRE(bounded.state.begin().goes_on());
  REQUIRE(bounded.fail().goes_on());
  CHECK(bounded.state.error() != nullptr);
}

TEST_CASE("a wait that is cancelled from outside ends the call, and the time slept is measured [K1]",
          "[retry_state]") {
  FakeClock clock;
  Recorder trace;
  const RetryPolicy policy{RetryOn<Slow>{}, NoJitter{}, clock, trace};
  ByHand<std::remove_const_t<decltype(policy)>> one{policy};
  REQUIRE(one.state.begin().goes_on());
  REQUIRE(one.fail() == Decision{.wait = 1s});
  clock.advance(400ms);
  CHECK(one.state.resume(true).stop == StopReason::cancelled);
  CHECK(one.state.slept() == 400ms);
  CHECK(trace.events().back().reason == StopReason::cancelled);
  CHECK(trace.events().back().error_type.find("Slow") != std::string::npos);
}

TEST_CASE("an abandoned call is reported as cancelled, once, and a finished one not again [F1]",
          "[retry_state]") {
  FakeClock clock;
  Recorder trace;
  const RetryPolicy policy{RetryOn<Slow>{}, NoJitter{}, clock, trace};
  {
    ByHand<std::remove_const_t<decltype(policy)>> one{policy};
    REQUIRE(one.state.begin().goes_on());
    one.state.abandoned();
  }
  REQUIRE(trace.events().size() == 2);
  CHECK(trace.events().back().reason == StopReason::cancelled);
  ByHand<std::remove_const_t<decltype(policy)>> other{policy};
  REQUIRE(other.state.begin().goes_on());
  other.state.succeeded();
  const auto told = trace.events().size();
  other.state.abandoned();
  CHECK(trace.events().size() == told);
}
