#include "changing_options.hpp"
#include <encore/encore.hpp>
#include <encore/option.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

using namespace encore;
using namespace std::chrono_literals;
using encore::testing::FakeClock;
using encore::testing::Recorder;
using encore_tests::CopyableClock, encore_tests::CountingObserver;

namespace {

/// A user's own backoff: one line makes it an option.
struct Patient {
  using role = encore::role::Backoff;
  constexpr Duration operator()(int retry) const { return std::chrono::minutes{retry + 1}; }
};

}  // namespace

TEST_CASE(
    "a type becomes a policy option by naming its role, and any callable that takes an event is an observer "
    "[F4]",
    "[option]") {
  STATIC_REQUIRE(encore::shared::HasRole<Patient, role::Backoff>);
  STATIC_REQUIRE(!encore::shared::HasRole<Patient, role::Jitter>);
  const auto lambda = [](const Event&) {};
  STATIC_REQUIRE(encore::shared::HasRole<decltype(lambda), role::Observer>);
  STATIC_REQUIRE(encore::shared::HasRole<CountingObserver&, role::Observer>);
  STATIC_REQUIRE(!Option<int>);
  STATIC_REQUIRE(!Option<void (*)(int)>);
  CHECK(RetryPolicy{RetryOnEveryException{}, Patient{}}.backoff()(1) == std::chrono::minutes{2});
}

TEST_CASE("an option that can be copied is copied, one that cannot is referred to, and std::ref shares [F4]",
          "[option]") {
  const auto plain = [](const Event&) {};
  const auto capturing = [number = 3](const Event&) { static_cast<void>(number); };
  using Plain = std::remove_const_t<decltype(plain)>;
  using Capturing = std::remove_const_t<decltype(capturing)>;
  STATIC_REQUIRE(std::same_as<encore::shared::StoredOf<const Plain&>, Plain>);
  STATIC_REQUIRE(std::same_as<encore::shared::StoredOf<const Capturing&>, Capturing>);
  STATIC_REQUIRE(std::same_as<encore::shared::StoredOf<Capturing>, Capturing>);
  STATIC_REQUIRE(std::same_as<encore::shared::StoredOf<ExponentialBackoff&>, ExponentialBackoff>);
  STATIC_REQUIRE(std::same_as<encore::shared::StoredOf<const SteadyClock&>, SteadyClock>);
  STATIC_REQUIRE(std::same_as<encore::shared::StoredOf<FakeClock&>, FakeClock&>);
  STATIC_REQUIRE(std::same_as<encore::shared::StoredOf<Recorder&>, Recorder&>);
  STATIC_REQUIRE(
      std::same_as<encore::shared::StoredOf<std::reference_wrapper<CountingObserver>>, CountingObserver&>);
  STATIC_REQUIRE(std::same_as<encore::shared::StoredOf<const std::reference_wrapper<const Capturing>&>,
                              const Capturing&>);
  STATIC_REQUIRE(
      std::same_as<encore::shared::StoredOf<std::reference_wrapper<CopyableClock>>, CopyableClock&>);
}

TEST_CASE("a named lambda with a capture is copied into the policy, which outlives it [F4]", "[option]") {
  std::vector<std::string> lines;
  const auto policy_that_logs = [&lines](const std::string& prefix) {
    const auto log = [prefix, &lines](const Event& event) {
      lines.push_back(prefix + std::to_string(event.ordinal));
    };
    return RetryPolicy{RetryOnEveryException{}, log, Observe{log}};
  };
  const auto policy = policy_that_logs("a prefix that is long enough to be on the heap ");
  policy.run([] {});
  CHECK(lines == std::vector<std::string>(6, "a prefix that is long enough to be on the heap 1"));
}

TEST_CASE("an observer or clock that is shared by std::ref serves every policy it was given to [F4]",
          "[option]") {
  CountingObserver observer;
  CopyableClock clock;
  const RetryPolicy one{RetryOnEveryException{}, std::ref(observer), ConstantBackoff{.delay = 1s},
                        NoJitter{}};
  const auto two = one.with(MaxRetries{2}, std::ref(clock), Observe{std::ref(observer)});
  one.run([] {});
  CHECK(observer.events == 3);  // started, succeeded, finished
  CHECK_THROWS_AS(two.run([] { throw 17; }), int);
  CHECK(observer.events == 3 + 2 * 7);  // three attempts that start and fail, and the end; told twice
  CHECK(clock.slept == 2s);
}

TEST_CASE("a stateless policy option that is shared by std::ref has its effect [F4, J1, H10]", "[option]") {
  const encore::WhenNested nested{};
  const encore::HandleUnmatched unmatched;
  const RetryPolicy policy{RetryOnEveryException{}, std::ref(nested), std::ref(unmatched)};
  STATIC_CHECK(policy_parts(policy).notices_nesting);
  STATIC_CHECK(policy_parts(policy).handles_unmatched);
}

TEST_CASE("a clock that was moved into a policy is the policy's own [F4]", "[option]") {
  struct Stopped : CopyableClock {
    TimePoint at{};
    TimePoint now() const { return at; }
    WallTime wall() const { return {}; }
    void sleep_for(Duration, const StopView&) const {}
  };
  Stopped clock;
  clock.at = TimePoint{17s};
  const RetryPolicy policy{RetryOnEveryException{}, std::move(clock)};
  CHECK(policy.clock().now() == TimePoint{17s});
  STATIC_CHECK(std::same_as<decltype(policy.clock()), const Stopped&>);
}

TEST_CASE("assigning a policy rebinds its references instead of assigning through them [F4]", "[option]") {
  CountingObserver first;
  CountingObserver second;
  RetryPolicy policy{RetryOnEveryException{}, std::ref(first)};
  policy = RetryPolicy{RetryOnEveryException{}, std::ref(second)};
  policy.run([] {});
  CHECK(first.events == 0);
  CHECK(second.events == 3);
}

TEST_CASE(
    "a policy whose lambdas have captures can be assigned, from a temporary, another one or itself [F4]",
    "[option]") {
  std::vector<std::string> lines;
  const auto policy_of = [&lines](const std::string& prefix, int limit) {
    return RetryPolicy{RetryIfResult{[limit, prefix](int value) { return !prefix.empty() && value < limit; }},
                       ConstantBackoff{.delay = Duration::zero()}, [prefix, &lines](const Event& event) {
                         lines.push_back(prefix + std::to_string(event.ordinal));
                       }};
  };
  auto policy = policy_of("the first prefix, which is long enough to be on the heap ", 1);
  const auto other = policy_of("the other prefix, which is long enough to be on the heap ", 2);
  policy = policy_of("a temporary prefix, which is long enough to be on the heap ", 3);
  policy = other;
  const auto& itself = policy;
  policy = itself;
  CHECK(policy.run([](const Attempt& attempt) { return attempt.ordinal; }) == 2);
  CHECK(lines.size() == 5);
  CHECK(lines.back() == "the other prefix, which is long enough to be on the heap 2");
}
