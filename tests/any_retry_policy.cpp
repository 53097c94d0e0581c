#include <encore/any_retry_policy.hpp>
#include <encore/limits.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

using namespace encore::testing;
using encore::AnyRetryPolicy, encore::Outcome, encore::RetryOn, encore::RetryPolicy;

namespace {

struct TimeoutError : std::runtime_error {
  TimeoutError() : std::runtime_error{"slow"} {}
};
struct Immovable {
  explicit Immovable(int n) : value{n} {}
  Immovable(const Immovable&) = delete;
  int value;
};

const RetryPolicy plain{RetryOn<TimeoutError>{}};

TEST_CASE("an AnyRetryPolicy lets policies of different types live in one map [A3]", "[any_retry_policy]") {
  FakeClock clock;
  Recorder trace;
  std::map<std::string, AnyRetryPolicy<int>> policies;
  policies.emplace("once", plain.with(clock, encore::MaxRetries{0}));
  policies.emplace("twice", plain.with(clock, trace, encore::MaxAttempts{2}));
  policies.emplace("formatted", plain.with(clock, encore::FormatFailure{[](const encore::Failure& failure) {
                                             return -failure.attempts;
                                           }}));
  Scripted<int> tool{always(throws<TimeoutError>())};
  CHECK_THROWS_AS(policies.at("once").run({.id = "1"}, tool), TimeoutError);
  CHECK_THROWS_AS(policies.at("twice").run({.id = "2", .name = "lookup"}, tool), TimeoutError);
  CHECK(policies.at("formatted").run({.id = "3"}, tool) == -3);
  CHECK(tool.ids() == std::vector<std::string>{"1", "2", "2", "3", "3", "3"});
  CHECK(tool.ordinals() == std::vector{1, 1, 2, 1, 2, 3});
  CHECK(trace.of("2").size() == 5);
  CHECK(trace.of("2").front().call_name == "lookup");
}

TEST_CASE("an AnyRetryPolicy of outcomes runs callables that return the value [G2]", "[any_retry_policy]") {
  FakeClock clock;
  const AnyRetryPolicy<Outcome<int>> policy{plain.with(clock, encore::ReturnOutcome{})};
  Scripted<int> fails{always(throws<TimeoutError>())};
  CHECK(policy.run(fails).attempts() == 3);
  Scripted<int> works{throws<TimeoutError>(), returns(17)};
  CHECK(policy.run(works).value() == 17);
}

TEST_CASE("an AnyRetryPolicy passes results of any kind: void, references, move-only, immovable [A6]",
          "[any_retry_policy]") {
  FakeClock clock;
  const auto policy = plain.with(clock);
  int calls = 0;
  const auto may_fail = [&] {
    if (++calls % 3 != 0) throw TimeoutError{};
  };
  AnyRetryPolicy<void>{policy}.run(may_fail);
  AnyRetryPolicy<void>{policy}.run([&] { return may_fail(), 17; });  // a result that nobody wants
  int units = 17;
  CHECK(&AnyRetryPolicy<int&>{policy}.run([&]() -> int& { return may_fail(), units; }) == &units);
  CHECK(&AnyRetryPolicy<const int&>{policy}.run([&]() -> int& { return may_fail(), units; }) == &units);
  CHECK(*AnyRetryPolicy<std::unique_ptr<int>>{policy}.run(
            [&] { return may_fail(), std::make_unique<int>(5); }) == 5);
  CHECK(AnyRetryPolicy<Immovable>{policy}.run([&] { return may_fail(), Immovable{6}; }).value == 6);
  CHECK(calls == 6 * 3);
}

TEST_CASE("an AnyRetryPolicy converts a callable's result, and passes its arguments and the attempt [A5, A6]",
          "[any_retry_policy]") {
  FakeClock clock;
  const AnyRetryPolicy<std::string> policy{plain.with(clock)};
  CHECK(policy.run([] { return "text"; }) == "text");
  std::vector<std::size_t> sizes;
  CHECK(policy.run(
            {.id = "call-17"},
            [&](std::vector<int> values, const encore::Attempt& attempt) {
              sizes.push_back(values.size());
              if (attempt.ordinal < 3) throw TimeoutError{};
              return std::string{attempt.call_id()};
            },
            std::vector<int>(100)) == "call-17");
  CHECK(sizes == std::vector<std::size_t>{100, 100, 100});
}

TEST_CASE("copies of an AnyRetryPolicy share the policy, and outlive the first one [L1]",
          "[any_retry_policy]") {
  const auto witness = std::make_shared<int>(0);
  auto first =
      std::make_unique<AnyRetryPolicy<void>>(plain.with([witness](const encore::Event&) { ++*witness; }));
  CHECK(witness.use_count() == 2);
  const AnyRetryPolicy<void> second{*first};
  CHECK(witness.use_count() == 2);
  first.reset();
  second.run([] {});
  CHECK(*witness == 3);
  AnyRetryPolicy<void> third{plain};
  third = second;
  third.run([] {});
  CHECK(*witness == 6);
}

// Only a policy whose `run` gives this result fits.
static_assert(std::is_constructible_v<AnyRetryPolicy<int>, decltype(plain)>);
static_assert(
    std::is_constructible_v<AnyRetryPolicy<Outcome<int>>, decltype(plain.with(encore::ReturnOutcome{}))>);
static_assert(!std::is_constructible_v<AnyRetryPolicy<Outcome<int>>, decltype(plain)>);
static_assert(!std::is_constructible_v<AnyRetryPolicy<int>, decltype(plain.with(encore::ReturnOutcome{}))>);
static_assert(!std::is_constructible_v<AnyRetryPolicy<int>, int>);

}  // namespace
