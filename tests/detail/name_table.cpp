#include <encore/detail/name_table.hpp>

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <barrier>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

struct Tally {
  explicit Tally(int begin) : count{begin} {
    // Others come by meanwhile, and find no value yet.
    for (int i = 0; i < 10; ++i) std::this_thread::yield();
  }
  std::atomic<int> count;
};
using Table = encore::detail::NameTable<Tally, int>;

TEST_CASE("each name in a table has a value of its own, created from the settings", "[name_table]") {
  Table table{4, 100};
  ++table["a"].count;
  table[std::string{"a"}].count += 2;  // the name counts, not where it is kept
  ++table[""].count;
  CHECK(table.at("a").count == 103);
  CHECK(table.at("").count == 101);
  CHECK(&table["a"] == &table.at("a"));
}

TEST_CASE("looking up a name creates no value", "[name_table]") {
  Table table{4, 100};
  CHECK(&table.at("a") == &table.rest());
  int names = 0;
  table.for_each([&](std::string_view, Tally&) { ++names; });
  CHECK(names == 0);
}

TEST_CASE("names beyond the table's maximum share one value, and known names keep theirs", "[name_table]") {
  Table table{3, 0};
  for (const auto* const name : {"a", "b", "c", "d", "e", "a"}) ++table[name].count;
  CHECK(table.at("a").count == 2);
  CHECK(table.rest().count == 2);
  CHECK(&table["d"] == &table.rest());
  std::set<std::string> names;
  const auto& seen = table;
  seen.for_each([&](std::string_view name, const Tally&) { names.emplace(name); });
  CHECK(names == std::set<std::string>{"a", "b", "c"});
}

TEST_CASE("a table for any number of names takes no memory before they are added", "[name_table]") {
  Table table{std::numeric_limits<int>::max(), 0};  // 16 GB, if each had its place
  for (int name = 0; name < 100; ++name) ++table[std::to_string(name)].count;
  CHECK(table.at("99").count == 1);
  CHECK(table.rest().count == 0);
}

TEST_CASE("threads that add names at the same time lose no count and create no name twice",
          "[name_table][threads]") {
  constexpr int threads = 4;
  constexpr int names = 30;  // more than there is room for
  for (int round = 0; round < 100; ++round) {
    Table table{20, 0};
    {
      std::barrier start{threads};
      std::vector<std::jthread> running;
      for (int thread = 0; thread < threads; ++thread)
        running.emplace_back([&, thread] {
          start.arrive_and_wait();
          // Two by two they ask for the same names in the same order.
          for (int i = 0; i < names; ++i) ++table[std::to_string((i + thread / 2 * 11) % names)].count;
        });
    }
    int sum = table.rest().count;
    std::multiset<std::string> seen;
    table.for_each([&](std::string_view name, const Tally& tally) {
      seen.emplace(name);
      sum += tally.count;
    });
    REQUIRE(seen.size() == 20);
    REQUIRE(std::set<std::string>{seen.begin(), seen.end()}.size() == 20);
    REQUIRE(sum == threads * names);
  }
}

}  // namespace
