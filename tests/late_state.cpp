#include <encore/encore.hpp>
#include <encore/late_state.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <exception>
#include <optional>
#include <stdexcept>
#include <type_traits>

using namespace encore;
using namespace std::chrono_literals;

namespace {

struct Slow : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// As the straight way tells it, of a call without anything of its own.
bool goes_on_after(auto& late, const std::exception& error, std::optional<TimePoint> started) {
  return late.threw(&error, started, 0, "", 0, "", 0, "", 0, nullptr);
}

template <class Policy>
using LateOf = encore::detail::LateState<std::remove_cvref_t<Policy>>;

}  // namespace

TEST_CASE("a late state is nothing before the first failure, and leaves nothing to clean up [P1 P6]",
          "[late_state]") {
  const RetryPolicy plain{RetryOn<Slow>{}};
  STATIC_REQUIRE(std::is_trivially_destructible_v<LateOf<decltype(plain)>>);
  const LateOf<decltype(plain)> late{plain};
  CHECK(!late.made());
}

TEST_CASE("with a time budget a late state keeps the last exception through the wait [D3 G1]",
          "[late_state]") {
  encore::testing::FakeClock clock;
  const RetryPolicy policy{RetryOn<Slow>{}, TimeBudget{10s}, NoJitter{}, clock};
  LateOf<decltype(policy)> late{policy};
  auto goes_on = false;
  try {
    throw Slow{"the last failure"};
  } catch (const std::exception& error) {
    goes_on = goes_on_after(late, error, clock.now());
  }
  CHECK(goes_on);
  CHECK(late.made());
  clock.after(500ms, [&] { clock.set(TimePoint{Duration{20s}}); });  // the wait takes longer than it was to
  CHECK(!late.wait());
  CHECK_THROWS_AS(std::rethrow_exception(late.error()), Slow);
}

TEST_CASE("a late state says no when the exception is not to be retried [B3]", "[late_state]") {
  const RetryPolicy plain{RetryOn<Slow>{}};
  LateOf<decltype(plain)> late{plain};
  try {
    throw std::logic_error{"wrong"};
  } catch (const std::exception& error) {
    CHECK(!goes_on_after(late, error, std::nullopt));
  }
}
