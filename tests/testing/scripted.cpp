#include "by_hand.hpp"
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

TEST_CASE("one call too many names the script's length, the call and the attempt", "[scripted]") {
  Scripted<int> inventory{times(2, throws<TimeoutError>("slow")), returns(17)};
  for (int ordinal = 1; ordinal <= 2; ++ordinal)
    CHECK_THROWS_AS(inventory(AttemptOf{"call-17", ordinal}), TimeoutError);
  inventory(AttemptOf{"call-17", 3});
  CHECK_THROWS_WITH(inventory(AttemptOf{"call-17", 4}),
                    "encore: this script has 3 steps, all played: nothing is left for attempt 4 of call-17");
  CHECK_THROWS_AS(inventory(AttemptOf{"call-17", 5}), ScriptExhausted);
  CHECK(inventory.calls() == 5);
  CHECK(inventory.ordinals() == std::vector{1, 2, 3, 4, 5});

  Scripted<int> never_called{};
  CHECK(never_called.finished());
  CHECK_THROWS_WITH(never_called(AttemptOf{"call-18"}),
                    "encore: this script has 0 steps, all played: nothing is left for attempt 1 of call-18");
}

TEST_CASE("a step that goes on for ever need not be played for the script to be finished", "[scripted]") {
  Scripted<int> script{returns(1), always(throws<TimeoutError>("slow"))};
  CHECK_FALSE(script.finished());
  script(AttemptOf{"call-17"});
  CHECK(script.finished());
  for (int ordinal = 2; ordinal <= 1000; ++ordinal)
    CHECK_THROWS_AS(script(AttemptOf{"call-17", ordinal}), TimeoutError);
  CHECK(script.calls() == 1000);
}

TEST_CASE("several threads share a script, and each step is played once", "[scripted][threads]") {
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
