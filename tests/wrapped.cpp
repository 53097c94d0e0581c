#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/wrapped.hpp>

#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace encore::testing;
using encore::Attempt, encore::RetryOn, encore::RetryPolicy;

namespace {

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};

TEST_CASE("each call of a wrapped callable is a call of its own, under its name [A3, A4]", "[wrapped]") {
  FakeClock clock;
  Recorder trace;
  const RetryPolicy policy{clock, trace, RetryOn<TimeoutError>{}, encore::NoJitter{}};
  int attempts = 0;
  auto lookup = policy.wrap("inventory_lookup", [&attempts](int more) {
    if (++attempts % 3 != 0) throw TimeoutError{"slow"};
    return 17 + more;
  });
  CHECK(lookup(1) == 18);
  CHECK(lookup(2) == 19);
  CHECK(attempts == 6);
  const auto ids = trace.events().call_ids();
  CHECK(ids.size() == 2);
  for (const auto& event : trace.events()) CHECK(event.call_name == "inventory_lookup");

  auto reference = policy.wrap([&attempts]() -> int& { return attempts; });
  CHECK(&reference() == &attempts);
}

TEST_CASE(
    "a wrapped callable outlives the policy and the callable it was made from (fault 32: scylla e0c082616a) "
    "[A5]",
    "[wrapped]") {
  FakeClock clock;
  auto wrapped = [&] {
    const auto text = std::make_unique<std::string>("a text too long for a small buffer, to be sure");
    return RetryPolicy{clock, RetryOn<TimeoutError>{}}.wrap("tool", [text = *text, attempts = 0]() mutable {
      if (++attempts < 3) throw TimeoutError{"slow"};
      return text;
    });
  }();
  CHECK(wrapped() == "a text too long for a small buffer, to be sure");
  CHECK(RetryPolicy{clock, RetryOn<TimeoutError>{}}.run(
            [owned = std::make_unique<int>(17)] { return *owned; }) == 17);
}

TEST_CASE("a wrapped callable can run under another policy, which counts its own attempts [A3, A6]",
          "[wrapped]") {
  FakeClock clock;
  const RetryPolicy twice{clock, RetryOn<TimeoutError>{}, encore::MaxRetries{1}};
  std::vector<int> ordinals;
  const auto fail = [&ordinals](const Attempt& attempt) -> int {
    ordinals.push_back(attempt.ordinal);
    throw TimeoutError{"slow"};
  };
  auto inner = twice.wrap("lookup", fail);
  CHECK_THROWS_AS(twice.run({.id = "outer"}, inner), TimeoutError);
  CHECK(ordinals == std::vector{1, 2, 1, 2});

  ordinals.clear();
  CHECK_THROWS_AS(twice.wrap(inner)(), TimeoutError);
  CHECK(ordinals == std::vector{1, 2, 1, 2});

  const std::function<int()> erased = inner;
  CHECK_THROWS_AS(erased(), TimeoutError);
}

TEST_CASE("a wrapped callable has the callable's parameters, and is const if that is [A6]", "[wrapped]") {
  const RetryPolicy policy{RetryOn<TimeoutError>{}};
  const auto add = policy.wrap([](int left, int right) { return left + right; });
  CHECK(add(8, 9) == 17);
  using Add = decltype(add);
  STATIC_CHECK(std::is_invocable_r_v<int, Add&, int, int>);
  STATIC_CHECK_FALSE(std::is_invocable_v<Add&, int>);
  STATIC_CHECK_FALSE(std::is_invocable_v<Add&, int, std::string>);

  auto count = policy.wrap([made = 0]() mutable { return ++made; });
  CHECK(count() == 1);
  CHECK(count() == 2);
  STATIC_CHECK_FALSE(std::is_invocable_v<const decltype(count)&>);

  auto owner = policy.wrap("owner", [owned = std::make_unique<int>(17)] { return *owned; });
  CHECK(std::move(owner)() == 17);
}

}  // namespace
