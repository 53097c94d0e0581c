#include "by_hand.hpp"
#include <encore/backoff.hpp>
#include <encore/jitter.hpp>
#include <encore/limits.hpp>
#include <encore/predicate.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using by_hand::AttemptOf;

namespace {

struct TimeoutError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

static_assert(!std::copy_constructible<Scripted<int>> && !std::move_constructible<Scripted<int>>);

TEST_CASE("a script plays its steps in order and remembers each call's id and ordinal [A4]", "[scripted]") {
  Scripted<int> inventory{throws<TimeoutError>("slow"), throws<TimeoutError>("slow"), returns(17)};
  CHECK_THROWS_AS(inventory(AttemptOf{"call-17", 1}), TimeoutError);
  CHECK_THROWS_AS(inventory(AttemptOf{"call-17", 2}), TimeoutError);
  CHECK_FALSE(inventory.finished());
  CHECK(inventory(AttemptOf{"call-18", 7}) == 17);
  CHECK(inventory.finished());
  CHECK(inventory.calls() == 3);
  CHECK(inventory.ids() == std::vector<std::string>{"call-17", "call-17", "call-18"});
  CHECK(inventory.ordinals() == std::vector{1, 2, 7});
  CHECK(inventory.keys().empty());
}

TEST_CASE("one call too many of a script names the script's length, the call and the attempt", "[scripted]") {
  Scripted<int> inventory{times(2, throws<TimeoutError>("slow")), returns(17)};
  for (int ordinal = 1; ordinal <= 2; ++ordinal)
    CHECK_THROWS_AS(inventory(AttemptOf{"call-17", ordinal}), TimeoutError);
  inventory(AttemptOf{"call-17", 3});
  CHECK_THROWS_WITH(inventory(AttemptOf{"call-17", 4}),
                    "encore: this script has only 3 steps: there is none for attempt 4 of call-17");
  CHECK_THROWS_AS(inventory(AttemptOf{"call-17", 5}), ScriptExhausted);
  CHECK(inventory.calls() == 5);
  CHECK(inventory.ordinals() == std::vector{1, 2, 3, 4, 5});

  Scripted<int> never_called{};
  CHECK(never_called.finished());
  CHECK_THROWS_WITH(never_called(AttemptOf{"call-18"}),
                    "encore: this script has only 0 steps: there is none for attempt 1 of call-18");
}

TEST_CASE("the text about one scripted call too many acts on no terminal, whatever the call's id",
          "[scripted]") {
  CHECK(std::string{ScriptExhausted{1, "a\x1B[2J", 2}.what()} ==
        "encore: this script has only 1 step: there is none for attempt 2 of \"a\\u001b[2J\"");
}

TEST_CASE("a step without an end need not be played for the script to be finished", "[scripted]") {
  Scripted<int> script{returns(1), always(throws<TimeoutError>("slow"))};
  CHECK_FALSE(script.finished());
  script(AttemptOf{"call-17"});
  CHECK(script.finished());
  for (int ordinal = 2; ordinal <= 1000; ++ordinal)
    CHECK_THROWS_AS(script(AttemptOf{"call-17", ordinal}), TimeoutError);
  CHECK(script.calls() == 1000);
}

TEST_CASE("no policy retries an exhausted script [B4]", "[scripted]") {
  FakeClock clock;
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::MaxRetries{5}, encore::NoJitter{},
                                   clock};
  Scripted<int> script{throws<TimeoutError>("slow")};
  CHECK_THROWS_AS(policy.run({.id = "call-17"}, script), ScriptExhausted);
  CHECK(script.calls() == 2);
  CHECK(clock.sleeps() == Durations{1s});
}

TEST_CASE("a policy runs a script, on fake time, with ids and ordinals as in the README [A4, D1]",
          "[scripted]") {
  FakeClock clock;
  const encore::RetryPolicy policy{encore::RetryOn<TimeoutError>{}, encore::MaxRetries{2},
                                   encore::ExponentialBackoff{.initial_delay = 250ms}, encore::NoJitter{},
                                   clock};
  Scripted<int> inventory{throws<TimeoutError>("slow"), throws<TimeoutError>("slow"), returns(17)};
  CHECK(policy.run({.id = "call-17"}, inventory) == 17);
  CHECK(clock.sleeps() == Durations{250ms, 500ms});
  CHECK(inventory.ids() == std::vector<std::string>(3, "call-17"));
  CHECK(inventory.ordinals() == std::vector{1, 2, 3});
  CHECK(inventory.finished());
}

TEST_CASE("a success that comes after the deadline is a success (failsafe #121) [D6]", "[scripted]") {
  FakeClock clock;
  const encore::RetryPolicy policy{encore::RetryOn<TimeoutError>{}, encore::TimeBudget{5s}, clock};
  Scripted<int> slow{clock, returns(17).takes(7s)};
  CHECK(policy.run({.id = "call-17"}, slow) == 17);
  CHECK(clock.now() == encore::TimePoint{7s});
}

TEST_CASE(
    "scripted attempts that take fake time end a policy that waits for nothing (fault 19: kafka #12791) [D8]",
    "[scripted]") {
  FakeClock clock;
  const encore::RetryPolicy policy{encore::RetryOn<TimeoutError>{}, encore::ConstantBackoff{0s},
                                   encore::TimeBudget{1s}, clock};
  Scripted<int> slow{clock, always(throws<TimeoutError>("slow").takes(250ms))};
  CHECK_THROWS_AS(policy.run({.id = "call-17"}, slow), TimeoutError);
  CHECK(slow.ordinals() == std::vector{1, 2, 3, 4});  // they begin at 0, 250, 500 and 750 ms; 1 s is the end
}

TEST_CASE("several threads use one script, and each step is played once", "[scripted][threads]") {
  constexpr int threads = 4;
  constexpr int each = 250;
  std::atomic<int> next = 0;
  Scripted<std::unique_ptr<int>> script{
      returns(std::make_unique<int>(-1)),
      times(threads * each - 2, does([&] { return std::make_unique<int>(next++); })),
      returns(std::make_unique<int>(-2))};
  std::vector<std::vector<int>> got(threads);
  {
    std::vector<std::jthread> running;
    for (int t = 0; t < threads; ++t) {
      running.emplace_back([&, t] {
        for (int i = 1; i <= each; ++i)
          got[static_cast<std::size_t>(t)].push_back(*script(AttemptOf{"call-17", i}));
      });
    }
  }
  std::vector<int> all;
  for (const auto& some : got) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  std::vector<int> expected(threads * each);
  std::iota(expected.begin(), expected.end(), -2);
  CHECK(all == expected);
  CHECK(script.calls() == threads * each);
  CHECK(script.finished());
  CHECK_THROWS_AS(script(AttemptOf{"call-17", each + 1}), ScriptExhausted);
}

}  // namespace
