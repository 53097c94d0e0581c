#include <encore/engine/inner_numbers.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using encore::shared::InnerNumbers;

TEST_CASE("inner calls are numbered by id, and from the start in each attempt [I2]", "[inner_numbers]") {
  InnerNumbers numbers;
  for (int ordinal = 1; ordinal <= 3; ++ordinal) {
    CHECK(numbers.next(ordinal, "a") == 1);
    CHECK(numbers.next(ordinal, "b") == 1);
    CHECK(numbers.next(ordinal, "a") == 2);
    CHECK(numbers.next(ordinal, "") == 1);
  }
}

TEST_CASE("ids beyond the capacity share a counter, and none of them gets a number twice [I2]",
          "[inner_numbers]") {
  InnerNumbers numbers;
  std::vector<std::pair<int, std::uint64_t>> given;
  for (int round = 0; round < 3; ++round)
    for (int id = 0; id < 20; ++id) given.emplace_back(id, numbers.next(1, std::to_string(id)));
  std::sort(given.begin(), given.end());
  CHECK(std::adjacent_find(given.begin(), given.end()) == given.end());
  CHECK(numbers.next(2, "19") == 1);
}

TEST_CASE("threads that number inner calls at once get each number once [I2]", "[inner_numbers][threads]") {
  InnerNumbers numbers;
  std::vector<std::vector<std::uint64_t>> given(4);
  {
    std::vector<std::jthread> threads;
    for (auto& own : given)
      threads.emplace_back([&] {
        for (int i = 0; i < 1'000; ++i) own.push_back(numbers.next(1, "a"));
      });
  }
  std::vector<std::uint64_t> all;
  for (const auto& own : given) all.insert(all.end(), own.begin(), own.end());
  std::sort(all.begin(), all.end());
  CHECK(all.size() == 4'000);
  CHECK(all.front() == 1);
  CHECK(all.back() == 4'000);
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}

}  // namespace
