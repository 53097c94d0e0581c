#include "../changing_options.hpp"
#include <encore/encore.hpp>
#include <encore/option.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

using namespace encore;
using encore::detail::Storage;
using encore::testing::FakeClock;
using encore_tests::CopyableClock, encore_tests::CountingObserver;

static_assert(encore::detail::would_dangle<FakeClock>);  // it cannot be moved
static_assert(!encore::detail::would_dangle<FakeClock&>);

TEST_CASE("an option that could be copied or shared has to be marked, unless a copy is equivalent [F4]",
          "[option]") {
  using encore::detail::copied_or_shared;
  [[maybe_unused]] const auto lambda = [number = 3](const Event&) { static_cast<void>(number); };
  STATIC_REQUIRE(copied_or_shared<CountingObserver&>);
  STATIC_REQUIRE(copied_or_shared<CopyableClock&>);
  STATIC_REQUIRE(!copied_or_shared<CopyableClock>);
  STATIC_REQUIRE(!copied_or_shared<std::reference_wrapper<CopyableClock>&>);
  STATIC_REQUIRE(!copied_or_shared<decltype((lambda))>);
  STATIC_REQUIRE(!copied_or_shared<SteadyClock&>);
  STATIC_REQUIRE(!copied_or_shared<FakeClock&>);
  STATIC_REQUIRE(!copied_or_shared<ExponentialBackoff&>);
}

TEST_CASE("assigning an option overwrites nothing that is stored behind it [F4]", "[option]") {
  struct Tail {  // nine bytes, whose padding a compiler may give to what follows
    double whole = 1;
    char end = 'x';
  };
  const auto capturing = [tail = Tail{}, number = 3](int value) { return tail.whole > value + number; };
  struct Pair {
    [[no_unique_address]] Storage<std::remove_const_t<decltype(capturing)>> kept;
    [[no_unique_address]] char behind[8] = {'b', 'e', 'h', 'i', 'n', 'd', '!', '\0'};
  } pair{Storage<std::remove_const_t<decltype(capturing)>>{std::in_place, capturing}};
  pair.kept = Storage<std::remove_const_t<decltype(capturing)>>{std::in_place, capturing};
  CHECK(std::string_view{pair.behind} == "behind!");
}
