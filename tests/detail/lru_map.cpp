#include <encore/detail/lru_map.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using encore::detail::LruMap;

TEST_CASE("an LRU map creates a value on first use, and finds it by its key", "[lru_map]") {
  LruMap<int> map;
  CHECK(map.empty());
  CHECK(map.find("a") == nullptr);
  map.touch("a") = 1;
  map.touch("b") = 2;
  REQUIRE(map.find("a") != nullptr);
  CHECK(*map.find("a") == 1);
  CHECK(map.touch("a") == 1);
  CHECK(map.size() == 2);
}

TEST_CASE("an LRU map's oldest value is the least recently used one, and looking is not using", "[lru_map]") {
  LruMap<int> map;
  for (const auto* const key : {"a", "b", "c"}) map.touch(key) = key[0];
  map.touch("a");
  map.find("b");
  CHECK(map.oldest() == 'b');
  CHECK(map.take_oldest() == 'b');
  CHECK(map.take_oldest() == 'c');
  CHECK(map.take_oldest() == 'a');
  CHECK(map.empty());
}

TEST_CASE("an LRU map's value can be removed by its key, and the key reused", "[lru_map]") {
  LruMap<std::string> map;
  map.touch("a") = "first";
  map.touch("b") = "second";
  CHECK(map.take("a") == "first");
  CHECK(map.find("a") == nullptr);
  CHECK(map.touch("a").empty());
  CHECK(map.size() == 2);
  CHECK(map.oldest() == "second");
}

TEST_CASE("an LRU map stores its keys, whatever becomes of the text they were given as", "[lru_map]") {
  LruMap<int> map;
  {
    std::string key(100, 'x');
    map.touch(key) = 17;
    key.assign(100, 'y');
  }
  CHECK(map.find(std::string(100, 'x')) != nullptr);
  const auto moved = std::move(map);
  auto again = moved.size();
  CHECK(again == 1);
}

TEST_CASE("after many random steps an LRU map equals a plain list", "[lru_map]") {
  std::mt19937 random{17};
  LruMap<int> map;
  std::vector<std::pair<std::string, int>> plain;  // oldest first
  for (int step = 0; step < 20'000; ++step) {
    const auto key = std::to_string(random() % 40);
    const auto found =
        std::find_if(plain.begin(), plain.end(), [&](const auto& entry) { return entry.first == key; });
    switch (random() % 4) {
      case 0:
        if (found != plain.end()) {
          REQUIRE(map.take(key) == found->second);
          plain.erase(found);
        }
        break;
      case 1:
        if (!plain.empty()) {
          REQUIRE(map.take_oldest() == plain.front().second);
          plain.erase(plain.begin());
        }
        break;
      default:
        map.touch(key) = step;
        if (found != plain.end()) plain.erase(found);
        plain.emplace_back(key, step);
    }
    REQUIRE(map.size() == plain.size());
  }
}

}  // namespace
