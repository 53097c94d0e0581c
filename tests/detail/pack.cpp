#include <encore/detail/pack.hpp>

#include <catch2/catch_test_macros.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

using encore::detail::at, encore::detail::joined, encore::detail::Pack;

namespace {

struct Empty {};
static_assert(std::is_empty_v<Pack<>>);
static_assert(sizeof(Pack<Empty, int>) == sizeof(int));
static_assert(Pack<int, int, char>::size == 3);
static_assert(at<1>(Pack<int, int>{{{17}, {18}}}) == 18);

TEST_CASE("a pack stores several values of one type, and each can be changed", "[pack]") {
  Pack<int, int> pair{{{17}, {18}}};
  at<0>(pair) = 16;
  CHECK(at<0>(pair) == 16);
  CHECK(at<1>(pair) == 18);
  const auto copy = pair;
  at<1>(pair) = 0;
  CHECK(at<1>(copy) == 18);
}

TEST_CASE("packs are joined in order, and values that cannot be copied are moved", "[pack]") {
  auto all = joined(Pack<std::unique_ptr<int>>{{{std::make_unique<int>(1)}}}, Pack<>{},
                    Pack<std::string, int>{{{std::string{"two"}}, {3}}}, Pack<char>{{{'4'}}});
  static_assert(std::is_same_v<decltype(all), Pack<std::unique_ptr<int>, std::string, int, char>>);
  CHECK(*at<0>(all) == 1);
  CHECK(at<1>(all) == "two");
  CHECK(at<2>(all) == 3);
  CHECK(at<3>(all) == '4');
  static_assert(std::is_same_v<decltype(joined(Pack<>{}, Pack<>{})), Pack<>>);
}

}  // namespace
