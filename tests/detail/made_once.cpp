#include <encore/detail/made_once.hpp>

#include <catch2/catch_test_macros.hpp>

#include <thread>
#include <vector>

namespace {

using encore::shared::MadeOnce;

TEST_CASE("a value that many threads ask for at once is created once, and seen by all of them [A4, I2]",
          "[made_once][threads]") {
  for (int round = 0; round < 100; ++round) {
    MadeOnce made;
    int value = 0;
    std::vector<int> seen(4);
    {
      std::vector<std::jthread> threads;
      for (auto& own : seen)
        threads.emplace_back([&] {
          made([&] { ++value; });
          own = value;
        });
    }
    CHECK(seen == std::vector{1, 1, 1, 1});
  }
}

TEST_CASE("a value that was reset is created anew when it is next asked for", "[made_once]") {
  MadeOnce made;
  int times = 0;
  const auto ask = [&] { made([&] { ++times; }); };
  ask(), ask();
  CHECK(times == 1);
  made.forget();
  ask(), ask();
  CHECK(times == 2);
}

static_assert(sizeof(MadeOnce) == 1);

}  // namespace
