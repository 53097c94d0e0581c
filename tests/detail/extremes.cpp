#include <encore/detail/extremes.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <limits>

using encore::shared::larger_of, encore::shared::smaller_of;
using namespace std::chrono_literals;

namespace {

// Equal in order, and yet not the same.
struct Card {
  int rank;
  char suit;
  constexpr bool operator<(const Card& other) const { return rank < other.rank; }
};

}  // namespace

TEST_CASE("the smaller and the larger of two values are found in either order", "[extremes]") {
  STATIC_CHECK(smaller_of(17, 18) == 17);
  STATIC_CHECK(smaller_of(18, 17) == 17);
  STATIC_CHECK(larger_of(17, 18) == 18);
  STATIC_CHECK(larger_of(18, 17) == 18);
  STATIC_CHECK(smaller_of<std::chrono::nanoseconds>(1s, 2ms) == 2ms);
  STATIC_CHECK(larger_of(std::numeric_limits<int>::min(), -1) == -1);
}

TEST_CASE("of two equivalent values the first is taken, as by std::min", "[extremes]") {
  STATIC_CHECK(smaller_of(Card{5, 'c'}, Card{5, 'h'}).suit == 'c');
  STATIC_CHECK(larger_of(Card{5, 'c'}, Card{5, 'h'}).suit == 'c');
}
